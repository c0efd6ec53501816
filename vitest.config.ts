import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { aliases } from './scripts/aliases.ts'

// The gate tier leaves out what needs other runtimes or many minutes: `.ci/run full` sets this.
const full = process.env.AUTHKERNEL_TIER === 'full'
const away = ['**/node_modules/**', ...(full ? [] : ['**/*.slow.test.ts', 'test/runtimes/**'])]
// Two minutes of proofs that seldom break: every flow on Auth.js, every example compiled, every fault at every step.
const thorough = [
  'test/differential/**',
  'test/docs*.test.ts',
  'test/regexps.test.ts',
  'test/rows/{faults,plugin-faults,order-matrix}.test.ts',
  'test/kernel/{fuzz,properties}.test.ts',
  'test/providers/{presets,signin,authjs}.test.ts',
  'test/cli.test.ts',
  'test/init.test.ts',
  'test/plugins/{sql,unstorage,webauthn*,oidc-hostile*,order-local,passwords,codes,two-factor*,jwt}.test.ts',
]
const flows = ['test/{flows,bindings,adapters,peers,playground,migration,runtimes}/**/*.test.ts']
const packed = ['test/package/**/*.test.ts']

export default defineConfig({
  resolve: { alias: aliases },
  test: {
    coverage: { provider: 'v8', include: ['src/**', 'plugins/**', 'bindings/**'], reporter: ['text-summary', 'json-summary'] },
    // The last line of a run says what was left out, and why.
    reporters: ['default', './scripts/skips.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...away, ...flows, ...packed],
          testTimeout: 20_000,
          // The default leaves one core of two idle.
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      ...(process.argv.some((argument) => /^(?:--project=)?fast$/.test(argument))
        ? [
            {
              extends: true as const,
              // For daily work; its files are all in `unit`.
              test: {
                name: 'fast',
                include: ['test/**/*.test.ts'],
                exclude: [...away, ...flows, ...packed, ...thorough],
                testTimeout: 20_000,
              },
            },
          ]
        : []),
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
