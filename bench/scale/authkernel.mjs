/** The SQL adapter of this repository as one file, so that a run needs no build and measures what is in the working tree. */
import { mkdirSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const { build } = createRequire(`${root}package.json`)('esbuild')

export async function load() {
  // Beside the packages of this folder: kysely is theirs.
  const folder = fileURLToPath(new URL('../node_modules/.cache/', import.meta.url))
  const outfile = `${folder}authkernel-sql-${process.pid}.mjs`
  mkdirSync(folder, { recursive: true })
  try {
    await build({
      stdin: { contents: `export { sqlAdapter } from 'authkernel/plugins/sql'`, resolveDir: root, loader: 'ts' },
      absWorkingDir: root,
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      logLevel: 'error',
      external: ['kysely', '@libsql/client'],
    })
    return await import(pathToFileURL(outfile).href)
  } finally {
    rmSync(outfile, { force: true })
  }
}
