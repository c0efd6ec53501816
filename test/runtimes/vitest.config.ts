/** What runtimes.test.ts starts inside Node, Bun and Deno. One worker: the machines that run it are small. */
import { fileURLToPath } from 'node:url'
import { defineConfig, type ViteUserConfig } from 'vitest/config'
import { aliases } from '../../scripts/aliases.ts'
import { testFiles } from './_tests.ts'

const config: ViteUserConfig = defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  resolve: { alias: aliases },
  test: {
    include: [...testFiles, 'test/runtimes/_identity.ts'],
    maxWorkers: 1,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})

export default config
