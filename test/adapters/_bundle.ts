/** The worker of `_workers.ts` as one file that Node runs, made once for all test files: to transpile it in each process takes longer than the tests. */
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { TestProject } from 'vitest/node'
import { aliases } from '../../scripts/aliases.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Path of the bundled worker. */
    workerBundle: string
  }
}

const root = fileURLToPath(new URL('../../', import.meta.url))

export default async function setup(project: TestProject): Promise<() => void> {
  // Below the packages that it imports.
  const outfile = `${root}node_modules/.cache/authkernel/worker-${process.pid}-${project.name}.mjs`
  await build({
    entryPoints: [`${root}test/adapters/_worker.ts`],
    bundle: true,
    format: 'esm',
    platform: 'node',
    tsconfig: `${root}tsconfig.json`,
    plugins: [
      {
        name: 'own names',
        setup(build) {
          build.onResolve({ filter: /^authkernel(\/|$)/ }, ({ path }) => ({ path: sourceOf(path) }))
        },
      },
    ],
    // They have parts that are no JavaScript.
    external: ['@libsql/*', 'libsql', '@node-rs/*', 'better-sqlite3', 'pg-native', 'vitest'],
    // Packages in CommonJS ask for the modules of Node by `require`.
    banner: { js: `import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);` },
    outfile,
    logLevel: 'error',
  })
  project.provide('workerBundle', outfile)
  return () => rmSync(outfile, { force: true })
}

function sourceOf(name: string): string {
  const { find, replacement } = aliases.find((alias) => alias.find.test(name))!
  return name.replace(find, replacement)
}
