/** What runtimes.test.ts starts inside Node, Bun and Deno. One worker: the machines that run it are small. */
import { defineConfig } from 'vitest/config'
import { aliases } from '../../scripts/aliases.ts'
import { testFiles } from './_tests.ts'

export default defineConfig({
  root: new URL('../..', import.meta.url).pathname,
  resolve: { alias: aliases },
  test: {
    include: [...testFiles, 'test/runtimes/_identity.ts'],
    exclude: ['**/node_modules/**', '**/*.slow.test.ts'],
    maxWorkers: 1,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
