/** The kernel, the five provider types and both strategies pass the same tests under every runtime that is promised (D1). */
import { beforeAll, describe, expect, it } from 'vitest'
import { workerTests } from './_tests.ts'
import { type Report, runtimeOf, runVitest } from './_vitest.ts'
import { runBare, startWorkerd, type Workerd } from './_workerd.ts'

const minutes = 60_000
/** Fewer passed tests than this mean that a file was not found or not run. */
const least = 2000

/** Tests that ask for something workerd does not have. They run all the same and must fail, so that nothing stays here by mistake. */
const notInWorkerd: Record<string, string> = {
  'test/kernel/errors.test.ts: classes row 267: message, name, type, cause.err, stack': 'a bundle: stacks do not name the test file',
  'test/kernel/registration.test.ts: names row 329: two of one name are refused with both places; the first stays':
    'a bundle: stacks do not name the test file',
  'test/kernel/skeleton.test.ts: registration refuses two plugins of one name with both places, and unknown names with the list':
    'a bundle: stacks do not name the test file',
  'test/plugins/email-failures.test.ts: a mail that cannot be sent an SMTP server that accepts and says nothing is given up':
    'the test opens a TCP server',
  'test/plugins/webauthn-settings.test.ts: form the generated script is what its source makes: node scripts/build-browser.mjs':
    'the test reads the repository',
  'test/kernel/overload.test.ts: hashes of passwords of twenty sign-ups at once some are asked to come back, and none is an error of the server':
    'without a pool of threads each hash ends before the next request begins, so none waits',
  'test/plugins/session-kinds.test.ts: getToken, which asks no server shows who acts, and sees no session from `until` on; guests and bound sessions are marked':
    'the test sets the clock of the platform',
}

for (const [isTTY, env] of [
  [true, {}],
  [false, {}],
  [true, { NO_COLOR: '1' }],
  [false, { FORCE_COLOR: '1' }],
  [true, { FORCE_COLOR: '0' }],
])
  notInWorkerd[`test/kernel/logger.test.ts: console colour only on a terminal: ${JSON.stringify({ isTTY })} ${JSON.stringify(env)}`] =
    'the test plays a terminal'

for (const algorithm of ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'])
  notInWorkerd[
    `test/plugins/oidc-signature.deep.test.ts: ${algorithm} the second sign-in asks nothing of crypto.subtle, at_hash included`
  ] = 'workerd verifies signatures over Web Crypto'

const failures = (report: Report): string[] =>
  [...report].filter(([, error]) => error !== undefined).map(([name, error]) => `${name}\n${error?.slice(0, 2000)}`)
const names = (report: Report): string[] => [...report.keys()].sort()

describe('the same tests', () => {
  let first: string[] | undefined
  // The identity test is in vitest's runs alone, and what needs other programs is not in workerd.
  const compare = (report: Report): void => {
    const all = names(report).filter((name) => workerTests.some((file) => name.startsWith(`${file}:`)))
    expect(all.length).toBeGreaterThan(least)
    first ??= all
    expect(all).toEqual(first)
  }

  it.each([
    ['node-20', 'node'],
    ['node-22', 'node'],
    ['node-24', 'node'],
    ['bun', 'bun', '--bun'],
    ['deno', 'deno', 'run', '-A'],
  ])(
    'pass in %s',
    async (folder, name, ...options) => {
      const { binary, version } = runtimeOf(folder, name)
      const report = await runVitest([binary, ...options], `${name} ${version}`)
      expect(failures(report)).toEqual([])
      expect(report.has('test/runtimes/_identity.ts: runs in the expected runtime')).toBe(true)
      compare(report)
    },
    15 * minutes,
  )

  it(
    'pass in workerd',
    async () => {
      let workerd: Workerd | undefined
      const report: Report = new Map()
      try {
        workerd = await startWorkerd(runtimeOf('workerd', 'workerd').binary, workerTests)
        for (const file of workerTests) {
          const { agent, results } = await workerd.runFile(file)
          expect(agent).toBe('Cloudflare-Workers')
          for (const { name, state, error } of results) report.set(`${file}: ${name}`, state === 'pass' ? undefined : (error ?? state))
        }
      } finally {
        await workerd?.close()
      }
      const failed = failures(report).filter((text) => !((text.split('\n')[0] ?? '') in notInWorkerd))
      expect(failed).toEqual([])
      expect(Object.keys(notInWorkerd).filter((name) => report.get(name) === undefined)).toEqual([])
      compare(report)
    },
    15 * minutes,
  )
})

describe('workerd without nodejs_compat', () => {
  let results: Record<string, string> = {}
  beforeAll(async () => {
    results = await runBare(runtimeOf('workerd', 'workerd').binary)
  }, minutes)

  it('has nothing of Node', () => {
    expect(results).toMatchObject({ process: 'undefined', Buffer: 'undefined' })
  })

  it.each(['jwt', 'database'])('signs in by all five types under the %s strategy', (strategy) => {
    const types = ['credentials', 'email', 'oauth', 'oidc', 'webauthn']
    expect(results).toMatchObject(Object.fromEntries(types.map((type) => [`${type} ${strategy}`, 'ok'])))
  })
})
