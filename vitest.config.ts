import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { aliases } from './scripts/aliases.ts'

// The gate tier leaves out what needs other runtimes or many minutes: `.ci/run full` sets this.
const full = process.env.AUTHKERNEL_TIER === 'full'
const away = ['**/node_modules/**', ...(full ? [] : ['**/*.slow.test.ts', 'test/runtimes/**'])]
const flows = ['test/{flows,bindings,adapters,peers,playground,migration,runtimes}/**/*.test.ts']
const packed = ['test/package/**/*.test.ts']

export default defineConfig({
  resolve: { alias: aliases },
  test: {
    coverage: { provider: 'v8', include: ['src/**', 'plugins/**', 'bindings/**'], reporter: ['text-summary', 'json-summary'] },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...away, ...flows, ...packed],
          testTimeout: 20_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'types',
          include: [],
          typecheck: {
            enabled: true,
            only: true,
            include: ['test/types/**/*.test-d.ts'],
            tsconfig: 'test/types/tsconfig.json',
            checker: fileURLToPath(new URL('node_modules/typescript-7/bin/tsc', import.meta.url)),
          },
          sequence: { groupOrder: 0 },
        },
      },
      {
        // Servers, browsers and databases: one file at a time, so that two slow cores do not time each other out.
        extends: true,
        test: {
          name: 'flows',
          include: flows,
          exclude: away,
          testTimeout: 60_000,
          hookTimeout: 120_000,
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'package',
          include: packed,
          globalSetup: ['test/package/_setup.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
