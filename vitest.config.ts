import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { aliases } from './scripts/aliases.ts'

// The gate tier leaves out what needs other runtimes or many minutes: `.ci/run full` sets this.
const full = process.env.AUTHKERNEL_TIER === 'full'
const away = ['**/node_modules/**', ...(full ? [] : ['**/*.slow.test.ts', 'test/runtimes/**'])]
// Every flow on Auth.js, every example compiled, every fault at every step: minutes of proofs that seldom break.
const deep = ['**/*.deep.test.ts']
const flows = ['test/{flows,bindings,adapters,peers,playground,migration,runtimes}/**/*.test.ts']
// They end servers, cut connections or measure what a loaded machine moves.
const alone = [
  'test/adapters/{audit,audit-kills,cuts,kills,lost-answers,redis-failover,soak,sql-failover,sql-faults,throttle}.test.ts',
  ...(full ? ['test/{flows,bindings,adapters,peers,playground,migration,runtimes}/**/*.slow.test.ts', 'test/runtimes/**/*.test.ts'] : []),
]
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
          alias: { '@node-rs/argon2': fileURLToPath(new URL('test/_quick-argon2.ts', import.meta.url)) },
          include: ['test/**/*.test.ts'],
          exclude: [...away, ...flows, ...packed, ...deep],
          testTimeout: 20_000,
          // The default leaves one core of two idle. A fifth of the time of these tests is waiting.
          maxWorkers: 3,
          // The files share what they import: loading it anew for each takes a third of the time.
          isolate: false,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'deep',
          include: deep,
          exclude: [...away, ...flows, ...packed],
          testTimeout: 20_000,
          maxWorkers: 2,
          isolate: false,
          sequence: { groupOrder: 1 },
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
          sequence: { groupOrder: 1 },
        },
      },
      {
        // Servers, browsers and databases; each test has ports, a browser and a database of its own.
        extends: true,
        test: {
          name: 'flows',
          include: flows,
          exclude: [...away, ...alone],
          globalSetup: ['test/adapters/_bundle.ts'],
          testTimeout: 90_000,
          hookTimeout: 120_000,
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: alone,
          exclude: away,
          globalSetup: ['test/adapters/_bundle.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
          fileParallelism: false,
          sequence: { groupOrder: 3 },
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
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
