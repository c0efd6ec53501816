/** Forced linking: a flow that somebody else began gives its account to nobody who is signed in (SECURITY, "forced linking", "cookie tossing"). */
import { describe, expect, it } from 'vitest'
import type { AuthConfig, Session, User } from 'authkernel'
import type { Auth, Context, Plugin, ProviderFlow, ProviderOf } from 'authkernel/kernel'
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

it('a type that leaves the page and does not say who began the flow signs nobody in', async () => {
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
