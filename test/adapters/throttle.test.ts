/** Who is right gets in: many at once behind one address, in front of stores that are cut, and while strangers guess. */
import { type Adapter, type AuthConfig, createAuth, CredentialsSignin } from 'authkernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import type { Limit } from 'authkernel/kernel'
import { describe, expect, it } from 'vitest'
import { baseConfig, Client, recordingLogger } from '../_setup.ts'
import { openToCut } from './_cut.ts'
import { reachable } from './_servers.ts'

const there = { postgres: await reachable('postgres'), mysql: await reachable('mysql'), redis: await reachable('redis') }
const signedIn = 'http://localhost:3000'

interface Options extends AuthConfig {
  store?: Required<Adapter>
  limit?: Limit
  /** Runs inside of `authorize`. */
  work?: () => unknown
}

/** A host at which the password is "right". */
function createHost({ store, limit, work, ...config }: Options = {}) {
  const logger = recordingLogger()
  const authorize = async ({ username, password }: Record<string, unknown>) => {
    await work?.()
    return password === 'right' ? { id: String(username), name: String(username) } : null
  }
  const fields = { username: { label: 'Name' }, password: { label: 'Password', type: 'password' } }
  const auth = createAuth({
    ...baseConfig(),
    session: { strategy: 'jwt' },
    logger,
    ...(store && { runtime: undefined }),
    providers: [{ id: 'credentials', name: 'Password', type: 'credentials', credentials: fields, authorize }],
    ...config,
  })
  if (store) auth.use(adapterPlugin(store))
  if (limit) auth.use({ name: 'own-limit', setup: (kernel) => kernel.provide('limit', limit) })
  const client = (clientAddress = '192.0.2.1') => new Client({ handler: (request) => auth.handler(request, { clientAddress }) })
  const attempt = async (username: string, password: string, browser = client()): Promise<string> => {
    const response = await browser.post('/callback/credentials', { username, password })
    return response.status === 302 ? response.headers.get('location')! : String(response.status)
  }
  return { auth, logger, client, attempt }
}
const tally = (answers: readonly string[]) => answers.filter((answer) => answer === signedIn).length
const times = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at))

describe.each(['memory', 'postgres', 'mysql', 'redis'] as const)('throttle on %s', (kind) => {
  it.skipIf(kind !== 'memory' && !there[kind])(
    'thirty who are right get in at once, of one name too, and of thirty guesses ten are checked',
    async () => {
      const cuttable = kind === 'memory' ? undefined : await openToCut(kind)
      const options = cuttable ? { store: cuttable.adapter } : {}
      let checked = 0
      const work = () => new Promise((resolve) => setTimeout(resolve, 5)).then(() => checked++)
      const host = createHost({ ...options, work })
      expect(tally(await Promise.all(times(30, (at) => host.attempt(`user${at}`, 'right'))))).toBe(30)
      expect(tally(await Promise.all(times(30, () => host.attempt('ann', 'right'))))).toBe(30)
      checked = 0
      const guesses = await Promise.all(times(30, () => host.attempt('eve', 'wrong')))
      expect([checked, guesses.filter((answer) => answer === '429').length]).toEqual([10, 20])
      // The budget is that of the name in this network: neither others nor the name elsewhere are refused.
      expect(await host.attempt('ann', 'right')).toBe(signedIn)
      expect(await host.attempt('eve', 'right', host.client('192.0.2.2'))).toBe(signedIn)
      expect(await host.attempt('eve', 'right')).toBe('429')
      // Nine wrong ones leave one place, which all who are right take in turn.
      for (let at = 0; at < 9; at++) await host.attempt('bob', 'wrong')
      expect(tally(await Promise.all(times(8, () => host.attempt('bob', 'right'))))).toBe(8)
      await cuttable?.close()
    },
  )

  // Memory has no connections.
  if (kind === 'memory') return
  it.skipIf(!there[kind])('no user with the right answer is refused while the connections are cut', async () => {
    const { adapter, cut, close } = await openToCut(kind)
    // The host looks the password up in the same store.
    const host = createHost({ store: adapter, work: () => adapter.getUserByEmail('ann@example.com') })
    const answers: string[] = []
    const people = times(6, async () => {
      const until = Date.now() + 2_500
      while (Date.now() < until) answers.push(await host.attempt('ann', 'right'))
    })
    let [broken, over] = [0, false]
    void Promise.all(people).finally(() => (over = true))
    while (!over) {
      broken += await cut()
      await new Promise((resolve) => setTimeout(resolve, 150))
    }
    await Promise.all(people)
    expect(broken).toBeGreaterThan(0)
    expect(answers.filter((answer) => answer === '429')).toEqual([])
    expect(tally(answers)).toBeGreaterThan(0)
    expect(await host.attempt('ann', 'right')).toBe(signedIn)
    await close()
  })
})

describe('throttle', () => {
  it('an authorize that throws is an outage and counts for nothing; a CredentialsSignin counts', async () => {
    let thrown: Error = new Error('database down')
    const host = createHost({ work: () => Promise.reject(thrown) })
    for (let at = 0; at < 15; at++) expect(await host.attempt('ann', 'right')).toContain('error=Configuration')
    thrown = new CredentialsSignin('no')
    for (let at = 0; at < 10; at++) expect(await host.attempt('ann', 'right')).toContain('error=CredentialsSignin')
    expect(await host.attempt('ann', 'right')).toBe('429')
  })

  it('an authorize that never answers gives its place back when the request ends', async () => {
    let hang = true
    const host = createHost({
      work: () => hang && new Promise(() => {}),
      deadlines: { request: 60 },
      throttle: { credentials: { max: 2 } },
    })
    for (const answer of await Promise.all(times(4, () => host.attempt('ann', 'right')))) expect(answer).toContain('error=Configuration')
    hang = false
    expect(await host.attempt('ann', 'right')).toBe(signedIn)
    expect(await host.attempt('ann', 'wrong')).toContain('error=CredentialsSignin')
    expect(await host.attempt('ann', 'right')).toBe(signedIn)
  })

  it('a refusal by one bucket gives back what the others have counted', async () => {
    const taken = new Map<string, number>()
    const limit: Limit = {
      take(key, rule) {
        if (key.includes('network')) return { allowed: false, retryAfter: 60 }
        const count = (taken.get(key) ?? 0) + 1
        if (count > rule.max) return { allowed: false, retryAfter: 60 }
        taken.set(key, count)
        return { allowed: true, retryAfter: 0 }
      },
      refund: (key) => void taken.set(key, taken.get(key)! - 1),
    }
    const host = createHost({ limit })
    for (let at = 0; at < 15; at++) expect(await host.attempt('ann', 'right')).toBe('429')
    expect([...taken]).toHaveLength(2)
    expect([...taken.values()]).toEqual([0, 0])
  })

  it('guesses from everywhere do not keep out the device on which the owner has signed in; it has attempts of its own', async () => {
    const host = createHost({ throttle: { credentials: { max: 2 } } })
    const owner = host.client('198.51.100.7')
    expect(await host.attempt('Ann', 'right', owner)).toBe(signedIn)
    for (let at = 0; at < 20; at++) await host.attempt('ann', 'wrong', host.client(`192.0.2.${at}`))
    expect(await host.attempt('ann', 'right', host.client('203.0.113.1'))).toBe('429')
    expect(await host.attempt('ann', 'right', owner)).toBe(signedIn)
    // Known for one name alone, and not for ever guessing.
    for (let at = 0; at < 20; at++) await host.attempt('bob', 'wrong', host.client(`192.0.2.${at}`))
    expect(await host.attempt('bob', 'right', owner)).toBe('429')
    for (let at = 0; at < 2; at++) expect(await host.attempt('ann', 'wrong', owner)).toContain('CredentialsSignin')
    expect(await host.attempt('ann', 'right', owner)).toBe('429')
  })

  it('a device is unknown at another tenant, and when its sign-in was refused', async () => {
    const host = createHost({ callbacks: { signIn: () => false } })
    const browser = host.client()
    expect(await host.attempt('ann', 'right', browser)).toContain('AccessDenied')
    expect([...browser.cookies.keys()].join()).not.toContain('known-device')
    const tenants = createHost({ throttle: { credentials: { max: 1 } } })
    let namespace = 'one'
    tenants.auth.hook('settings', () => ({ namespace, cookiePrefix: namespace }))
    const owner = tenants.client()
    expect(await tenants.attempt('ann', 'right', owner)).toBe(signedIn)
    namespace = 'two'
    // The browser brings the other tenant's cookie under this one's name.
    owner.cookies.set('two.known-device', owner.cookies.get('one.known-device')!)
    for (let at = 0; at < 10; at++) await tenants.attempt('ann', 'wrong', tenants.client(`192.0.2.${at}`))
    expect(await tenants.attempt('ann', 'right', owner)).toBe('429')
    namespace = 'one'
    expect(await tenants.attempt('ann', 'right', owner)).toBe(signedIn)
  })

  it('a limit that fails counts in the process, with one error in the log, and never lets guess without end', async () => {
    let down = false
    const counts = new Map<string, number>()
    const limit: Limit = {
      async take(key, { max }) {
        if (down) throw new Error('limit is down')
        const count = (counts.get(key) ?? 0) + 1
        if (count <= max) counts.set(key, count)
        return { allowed: count <= max, retryAfter: count <= max ? 0 : 60 }
      },
      async refund(key) {
        if (down) throw new Error('limit is down')
        counts.set(key, counts.get(key)! - 1)
      },
    }
    const host = createHost({ limit, work: () => void (down = true) })
    // Taken while it works, given back while it does not.
    expect(await host.attempt('ann', 'right')).toBe(signedIn)
    expect(host.logger.errors.map(({ message }) => message)).toEqual([expect.stringContaining('limit is down')])
    for (let at = 0; at < 10; at++) expect(await host.attempt('ann', 'wrong')).toContain('CredentialsSignin')
    expect(await host.attempt('ann', 'wrong')).toBe('429')
    expect(host.logger.errors.filter(({ message }) => message.includes('limit is down'))).toHaveLength(1)
    down = false
    await expect.poll(() => [...counts.values()], { timeout: 5_000 }).toEqual([0, 0, 0])
  })
})
