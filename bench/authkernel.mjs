/** The sources of this repository as one bundle, so that a run needs no build and measures what is in the working tree. */
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const { build } = createRequire(join(root, 'package.json'))('esbuild')

const entry = `
export { createAuth } from 'authkernel'
export { encode } from 'authkernel/jwt'
export { createSealer } from './src/keys/sealer.ts'
export { createShared } from './src/runtime/shared.ts'
export { defaultKeyInfo } from './src/keys/jwe.ts'
export { resolveRuntime } from './src/runtime/runtime.ts'
`

export async function load() {
  const folder = mkdtempSync(join(tmpdir(), 'authkernel-bench-'))
  try {
    const outfile = join(folder, 'authkernel.mjs')
    await build({
      stdin: { contents: entry, resolveDir: root, loader: 'ts' },
      absWorkingDir: root,
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      logLevel: 'error',
      // Imported on demand by plugins that no measurement uses.
      external: ['nodemailer', '@simplewebauthn/server', 'kysely', 'unstorage', '@libsql/client'],
    })
    return await import(pathToFileURL(outfile).href)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
