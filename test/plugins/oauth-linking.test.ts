/** Forced linking: a flow that an attacker began gives its account to no signed-in user (SECURITY, "forced linking", "cookie tossing"). */
import { describe, expect, it } from 'vitest'
import type { AuthConfig, Session, User } from 'authkernel'
import { AccessDenied, type Auth, type Context, type Plugin, type ProviderFlow, type ProviderOf } from 'authkernel/kernel'
import { memoryAdapter, memoryData, type MemoryData } from 'authkernel/plugins/memory'
import { signedIn } from 'authkernel/testing'
import { type Client, locationOf } from '../_client.ts'
import { type Case, instance, useOp } from '../_op/journey.ts'

const op = useOp()

describe.each(['jwt', 'database'] as const)('%s sessions', (strategy) => {
  async function victim(given: Case = {}): Promise<{ client: Client; data: MemoryData; errors: Error[] }> {
    op().reset()
    const data = memoryData()
    const config: AuthConfig = { adapter: memoryAdapter(data), session: { strategy }, ...given.config }
    const { auth, client, errors } = instance(op(), { ...given, config })
    plant(client, await signedIn(auth, { name: 'Victim', email: 'victim@example.com' }))
    return { client, data, errors }
  }

  it('cookies of a flow that a sibling sub-domain planted link nothing', async () => {
    const { client, data, errors } = await victim()
    const attacker = client.clone()
    attacker.cookies.clear()
    const callback = await op().authorize(locationOf(await attacker.signIn('acme')))
    for (const [name, value] of attacker.cookies) if (/state|pkce|nonce/.test(name)) client.cookies.set(name, value)
    const answer = await client.get(callback)
    expect(new URL(locationOf(answer)).searchParams.get('error')).toBe('OAuthAccountNotLinked')
    expect([data.accounts.size, data.users.size, errors.map(({ name }) => name)]).toEqual([0, 1, ['OAuthAccountNotLinked']])
    expect(await client.session()).toMatchObject({ user: { email: 'victim@example.com' } })
  })

  it('nor does a flow that another user began in this browser', async () => {
    const { client, data } = await victim()
    const callback = await op().authorize(locationOf(await client.signIn('acme')))
    plant(client, await signedIn(client.auth as Auth, { name: 'Other', email: 'other@example.com' }))
    expect(new URL(locationOf(await client.get(callback))).searchParams.get('error')).toBe('OAuthAccountNotLinked')
    expect(data.accounts.size).toBe(0)
  })

  it('without checks there is nothing to know it by: no link either', async () => {
    const { client, data } = await victim({ provider: { checks: ['none'] } })
    const callback = await op().authorize(locationOf(await client.signIn('acme')))
    expect(new URL(locationOf(await client.get(callback))).searchParams.get('error')).toBe('OAuthAccountNotLinked')
    expect(data.accounts.size).toBe(0)
  })

  it('one that the same person began does, though the session was extended meanwhile', async () => {
    const { client, data, errors } = await victim()
    const callback = await op().authorize(locationOf(await client.signIn('acme')))
    await client.session()
    expect(new URL(locationOf(await client.get(callback))).searchParams.get('error')).toBeNull()
    expect([data.accounts.size, data.users.size, errors]).toEqual([1, 1, []])
  })
})

describe.each(['jwt', 'database'] as const)('an answer by form_post, %s sessions', (strategy) => {
  /** A browser: a cross-site POST brings cookies with SameSite=None alone. */
  function browser(client: Client): { post(callback: string): Promise<Response>; lax: Set<string> } {
    const lax = new Set(client.cookies.keys())
    return {
      lax,
      async post(callback) {
        const { searchParams } = new URL(callback)
        const kept = new Map(client.cookies)
        for (const name of lax) client.cookies.delete(name)
        const answer = await client.post('/callback/acme', Object.fromEntries(searchParams), {
          origin: op().issuer,
          'sec-fetch-site': 'cross-site',
        })
        for (const name of lax) if (!client.cookies.has(name)) client.cookies.set(name, kept.get(name)!)
        return answer
      },
    }
  }
  function start() {
    op().reset()
    const data = memoryData()
    let ahead = 0
    const config: AuthConfig = { adapter: memoryAdapter(data), session: { strategy }, runtime: { now: () => Date.now() + ahead } }
    const advance = (seconds: number) => void (ahead += seconds * 1000)
    const made = instance(op(), { provider: { authorization: { params: { response_mode: 'form_post' } } }, config })
    return { ...made, data, advance }
  }
  async function begun() {
    const made = start()
    plant(made.client, await signedIn(made.auth, { name: 'Victim', email: 'victim@example.com' }))
    const { post } = browser(made.client)
    const callback = await op().authorize(locationOf(await made.client.signIn('acme')))
    return { ...made, post, callback }
  }

  it('links to the user who began it: it comes once more as a GET of the site, with the cookies that a cross-site POST lacks', async () => {
    const { client, data, errors, post, callback } = await begun()
    const again = locationOf(await post(callback))
    expect(again).toMatch(/\/callback\/acme\?answer=[\w.-]+$/)
    expect([again.includes(new URL(callback).searchParams.get('code')!), data.accounts.size, data.users.size]).toEqual([false, 0, 1])
    expect(new URL(locationOf(await client.get(again))).searchParams.get('error')).toBeNull()
    expect([data.accounts.size, data.users.size, errors]).toEqual([1, 1, []])
    expect(await client.session()).toMatchObject({ user: { email: 'victim@example.com' } })
  })

  it('counts once, and for two minutes', async () => {
    const { client, data, post, callback } = await begun()
    const again = locationOf(await post(callback))
    await client.get(again)
    const copy = await client.get(again)
    expect(locationOf(copy)).toContain('error')
    expect([data.accounts.size, data.users.size]).toEqual([1, 1])
    const late = await begun()
    const sealed = locationOf(await late.post(late.callback))
    late.advance(121)
    expect(locationOf(await late.client.get(sealed))).toContain('error')
    expect([late.data.accounts.size, late.data.users.size]).toEqual([0, 1])
    expect(locationOf(await late.client.get('/callback/acme?answer=forged'))).toContain('error')
  })

  it.each(['nobody', 'another user'])('%s is signed in when it comes back: no account, no second user, no sign-in', async (who) => {
    const { auth, client, data, post, callback } = await begun()
    const again = locationOf(await post(callback))
    for (const name of client.cookies.keys()) if (name.includes('session-token')) client.cookies.delete(name)
    if (who === 'another user') plant(client, await signedIn(auth, { name: 'Other', email: 'other@example.com' }))
    const users = data.users.size
    const answer = await client.get(again)
    expect(new URL(locationOf(answer)).searchParams.get('error')).toBe('OAuthAccountNotLinked')
    expect([data.accounts.size, data.users.size]).toEqual([0, users])
    expect((await client.session())?.user?.email ?? null).toBe(who === 'nobody' ? null : 'other@example.com')
  })

  it('of a person who was not signed in it is used at once, without another redirect', async () => {
    const { client, data } = start()
    const { post } = browser(client)
    const callback = await op().authorize(locationOf(await client.signIn('acme')))
    expect(locationOf(await post(callback))).not.toContain('answer=')
    expect([data.accounts.size, data.users.size]).toEqual([1, 1])
  })
})

it('a strategy without `subject` is known by its user', async () => {
  op().reset()
  const data = memoryData()
  const { auth, client } = instance(op(), { config: { adapter: memoryAdapter(data) } })
  for (const name of ['ada', 'bob'])
    await memoryAdapter(data).createUser!({ id: name, name, email: `${name}@example.com`, emailVerified: null })
  const user = async (ctx: Context): Promise<User | null> => (await ctx.store?.getUser(ctx.cookie('who') ?? '')) ?? null
  auth.use({
    name: 'plain-cookie',
    setup(kernel) {
      const read = async (ctx: Context): Promise<Session | null> => ({ user: (await user(ctx)) ?? {}, expires: '2099-01-01T00:00:00.000Z' })
      kernel.provide('session', { user, read, update: read, issue: () => null, end: () => null })
    },
  })
  const started = async (who: string): Promise<string> => {
    client.cookies.set('who', who)
    return op().authorize(locationOf(await client.signIn('acme')))
  }
  const byBob = await started('bob')
  client.cookies.set('who', 'ada')
  expect(new URL(locationOf(await client.get(byBob))).searchParams.get('error')).toBe('OAuthAccountNotLinked')
  await client.get(await started('ada'))
  expect([...data.accounts.values()].map(({ userId }) => userId)).toEqual(['ada'])
})

it('a type that leaves the page and does not say who began the flow signs no user in', async () => {
  const data = memoryData()
  const flow = (startedBy?: null): ProviderFlow<ProviderOf<'oauth'>> => ({
    start: (ctx) => ctx.redirect('/elsewhere'),
    finish: () =>
      Promise.resolve({
        user: { name: 'Eve' },
        account: { provider: 'away', providerAccountId: 'eve', type: 'away' as 'oauth' },
        match: 'account',
        ...(startedBy !== undefined && { startedBy }),
      }),
  })
  const { client, errors, auth } = instance(op(), { config: { adapter: memoryAdapter(data) } })
  const away = (startedBy?: null): Plugin => ({
    name: 'away',
    setup(kernel) {
      kernel.providerType('away' as 'oauth', flow(startedBy))
      kernel.provider({ id: 'away', name: 'Away', type: 'away' } as never)
    },
  })
  ;(auth as Auth).use(away())
  expect(locationOf(await client.get('/callback/away'))).toContain('error=Configuration')
  expect([data.users.size, errors.at(-1)?.message]).toEqual([0, expect.stringContaining('returned no `startedBy`')])
  ;(auth as Auth).remove('away')
  ;(auth as Auth).use(away(null))
  expect(new URL(locationOf(await client.get('/callback/away'))).searchParams.get('error')).toBeNull()
})

function plant(client: Client, cookies: string): void {
  for (const cookie of cookies.split('; ')) {
    const at = cookie.indexOf('=')
    client.cookies.set(cookie.slice(0, at), cookie.slice(at + 1))
  }
}

describe('a login that is refused after its account was linked', () => {
  const refusal = (when: { refuses: boolean }): Plugin => ({
    name: 'refusal',
    setup: (kernel) =>
      void kernel.hook('login', () => {
        if (when.refuses) throw new AccessDenied('Not today.')
      }),
  })

  it('unlinks it: by the address of a user, and for the user who is signed in', async () => {
    op().reset()
    const data = memoryData()
    const adapter = memoryAdapter(data)
    const when = { refuses: true }
    const config: AuthConfig = { adapter, session: { strategy: 'database' } }
    const { auth, client } = instance(op(), { config, provider: { allowDangerousEmailAccountLinking: true, trustEmail: true } })
    ;(auth as Auth).use(refusal(when))
    const user = await adapter.createUser!({ id: 'u', email: 'alice@example.com', name: 'A', emailVerified: new Date(0) } as never)
    const told: string[] = []
    ;(auth as Auth).on('unlinkAccount', ({ userId }) => void told.push(userId))
    const enter = async (): Promise<string | null> =>
      new URL(locationOf(await client.get(await op().authorize(locationOf(await client.signIn('acme')))))).searchParams.get('error')
    expect([await enter(), data.accounts.size, await client.session(), told]).toEqual(['AccessDenied', 0, null, [user.id]])
    plant(client, await signedIn(auth as Auth, { id: user.id, name: 'A', email: 'alice@example.com' }))
    expect([await enter(), data.accounts.size]).toEqual(['AccessDenied', 0])
    when.refuses = false
    expect([await enter(), data.accounts.size]).toEqual([null, 1])
    // An account from before stays.
    when.refuses = true
    expect([await enter(), data.accounts.size]).toEqual(['AccessDenied', 1])
  })
})
