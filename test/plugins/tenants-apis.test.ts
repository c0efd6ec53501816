/** APIs on `auth` without a request: they work for the tenant that is named, and the rows of other tenants are not there. */
import { describe, expect, it } from 'vitest'
import { type Adapter, createAuth } from 'authkernel'
import type { Plugin } from 'authkernel/kernel'
import { accountsPlugin } from 'authkernel/plugins/accounts'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { guestPlugin } from 'authkernel/plugins/guest'
import { hashSessionTokens } from 'authkernel/plugins/hash-session-tokens'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { tenantsPlugin } from 'authkernel/plugins/tenants'
import { baseConfig, Client } from '../_setup.ts'

const namespaces: Record<string, string> = { 'a.example': 'a', 'b.example': 'b', 'app.example': '' }

/** What published adapters have: no records, and no operation beyond those of Auth.js but one that lists. */
function published(adapter: Adapter): Adapter {
  const known = (
    'createUser getUser getUserByEmail getUserByAccount updateUser deleteUser linkAccount unlinkAccount getAccount createSession ' +
    'getSessionAndUser updateSession deleteSession createVerificationToken useVerificationToken listAccountsByUserId ' +
    'listSessionsByUserId deleteSessionsByUserId'
  ).split(' ')
  return Object.fromEntries(known.map((name) => [name, adapter[name as keyof Adapter]])) as Adapter
}

const adapters: Record<string, (adapter: Adapter) => Adapter> = {
  'our adapter': (adapter) => adapter,
  'a published adapter': published,
  'hashed session tokens': (adapter) => hashSessionTokens(adapter),
}

function world(wrap: (adapter: Adapter) => Adapter, strategy: 'jwt' | 'database') {
  const data = memoryData()
  const store = memoryAdapter(data)
  const probe: Plugin<{ urls: string[] }> = {
    name: 'probe',
    setup(kernel) {
      const urls: string[] = []
      kernel.hook('link', ({ ctx }) => urls.push(String(ctx.request?.url)) > 0)
      kernel.hook('settings', ({ request }) => {
        urls.push(request.url)
        return undefined
      })
      return { urls }
    },
  }
  const revocable = strategy === 'jwt' && wrap !== published
  const auth = createAuth(baseConfig({ session: { strategy, ...(revocable && { revocable }) } }))
    .use(adapterPlugin(wrap(store)))
    .use({
      name: 'sso',
      setup: (kernel) => {
        kernel.providerType(
          'sso' as never,
          {
            async finish(ctx: never) {
              const { sub, email } = await (ctx as { body(): Promise<Record<string, string>> }).body()
              return {
                user: { name: sub, ...(email && { email }) },
                account: { provider: 'company', type: 'sso', providerAccountId: sub },
                match: 'account',
              }
            },
          } as never,
        )
        kernel.provider({ id: 'company', name: 'Company', type: 'sso' } as never)
      },
    } as Plugin)
    .use(accountsPlugin())
    .use(probe)
    .use(
      tenantsPlugin({
        settings: (request) => ({ namespace: namespaces[new URL(request.url).hostname] ?? 'nowhere' }),
        tenant: (name) => (Object.values(namespaces).includes(name) ? { namespace: name } : undefined),
      }),
    )
  const signIn = async (host: string, fields: Record<string, string>) => {
    const client = new Client(auth, `http://${host}`)
    await client.post('/callback/company', fields)
    return client
  }
  const userOf = (name: string): string => [...data.users.values()].find((user) => user.name === name)!.id
  return { auth, data, signIn, userOf, at: (host: string) => new Client(auth, `http://${host}`) }
}

for (const [name, wrap] of Object.entries(adapters))
  for (const strategy of ['jwt', 'database'] as const)
    describe(`${name}, strategy ${strategy}`, () => {
      // Without records a jwt session cannot be listed.
      const lists = strategy === 'database' || wrap !== published
      const ends = lists

      it.each([{ email: 'ada@example.com' }, {}])(
        'one tenant does not see or change what another has, nor does the default one: %j',
        async (more) => {
          const { auth, data, signIn, userOf } = world(wrap, strategy)
          const ada = await signIn('a.example', { sub: 'ada', ...more })
          const userId = userOf('ada')
          const before = structuredClone(data)
          for (const tenant of ['b', null]) {
            const who = { userId, tenant }
            expect(await auth.accounts.list(who)).toEqual([])
            expect(await auth.accounts.link(who, { provider: 'other', providerAccountId: '1', type: 'oauth' })).toBe(false)
            expect(await auth.accounts.unlink(who, { provider: 'company', providerAccountId: 'ada' }, { last: true })).toBe(false)
            expect(await auth.users.delete(who)).toBe(false)
            if (!lists) continue
            expect(await auth.sessions.list(who)).toEqual([])
            const [own] = await auth.sessions.list({ userId, tenant: 'a' })
            expect(await auth.sessions.revoke(who, own?.id ?? '')).toBe(false)
            if (!ends) continue
            await auth.sessions.revokeOthers(who)
            await auth.sessions.revokeAll(who)
          }
          expect(await ada.session()).toMatchObject({ user: { name: 'ada' } })
          expect([data.users, data.accounts, data.sessions]).toEqual([before.users, before.accounts, before.sessions])
        },
      )

      it.each([{ email: 'ada@example.com' }, {}])('the own tenant does: %j', async (more) => {
        const { auth, data, signIn, userOf } = world(wrap, strategy)
        const [ada, other] = [await signIn('a.example', { sub: 'ada', ...more }), await signIn('a.example', { sub: 'ada', ...more })]
        const who = { userId: userOf('ada'), tenant: 'a' }
        expect(await auth.accounts.list(who)).toEqual([{ provider: 'company', providerAccountId: 'ada', type: 'sso' }])
        if (lists) {
          const request = new Request('http://a.example/', { headers: { cookie: ada.cookieHeader() } })
          const listed = await auth.sessions.list(request)
          expect(listed.map(({ current }) => current).toSorted()).toEqual([false, true])
          expect(await auth.sessions.revoke(who, listed.find(({ current }) => !current)!.id)).toBe(true)
          expect([await ada.session(), await other.session()]).toMatchObject([{ user: { name: 'ada' } }, null])
          await auth.sessions.revokeAll(who)
          expect([await ada.session(), await auth.sessions.list(who)]).toEqual([null, []])
        }
        expect(await auth.accounts.link(who, { provider: 'other', providerAccountId: '1', type: 'oauth' })).toBe(true)
        expect(await auth.users.delete(who)).toBe(true)
        expect([...data.users, ...data.accounts, ...data.sessions]).toEqual([])
      })

      it('users of the default tenant without an address are of no other tenant', async () => {
        const { auth, data, signIn, userOf } = world(wrap, strategy)
        await signIn('app.example', { sub: 'ada' })
        const userId = userOf('ada')
        expect(await auth.users.delete({ userId, tenant: 'a' })).toBe(false)
        expect(data.users.has(userId)).toBe(true)
        expect(await auth.users.delete({ userId, tenant: null })).toBe(true)
      })
    })

it('users of a tenant who were stored without an address before are known by their accounts', async () => {
  const { auth, data, signIn, userOf } = world((adapter) => adapter, 'database')
  const ada = await signIn('a.example', { sub: 'ada' })
  const userId = userOf('ada')
  data.users.set(userId, { ...data.users.get(userId)!, email: null as never })
  for (const tenant of ['b', null]) {
    expect(await auth.sessions.list({ userId, tenant })).toEqual([])
    expect(await auth.users.delete({ userId, tenant })).toBe(false)
  }
  expect(await ada.session()).toMatchObject({ user: { name: 'ada' } })
  expect(await auth.sessions.list({ userId, tenant: 'a' })).toHaveLength(1)
  expect(await auth.users.delete({ userId, tenant: 'a' })).toBe(true)
})

it('a guest of a tenant is of no other tenant, and has no address', async () => {
  const { auth, data, at } = world((adapter) => adapter, 'database')
  auth.use(guestPlugin())
  const guest = at('a.example')
  await guest.post('/guest')
  const [userId = ''] = data.users.keys()
  expect((await guest.session())?.user).toMatchObject({ id: userId })
  expect((await guest.session())?.user?.['email'] ?? null).toBeNull()
  for (const tenant of ['b', null]) expect(await auth.users.delete({ userId, tenant })).toBe(false)
  expect(await auth.users.delete({ userId, tenant: 'a' })).toBe(true)
})

it('no visitor signs in as a user without an address by naming what is stored in its place', async () => {
  const { data, signIn, userOf } = world((adapter) => adapter, 'database')
  await signIn('a.example', { sub: 'ada' })
  const stored = String(data.users.get(userOf('ada'))?.email)
  expect(stored).toMatch(/^~a~/)
  const eve = await signIn('a.example', { sub: 'eve', email: stored.replace('~a~', '') })
  expect((await eve.session())?.user).toMatchObject({ name: 'eve' })
  expect(data.users.size).toBe(2)
})

it('without a tenant, and for an unknown one, a call is refused; no request is made up for it', async () => {
  const { auth, signIn, userOf } = world((adapter) => adapter, 'database')
  await signIn('a.example', { sub: 'ada' })
  const userId = userOf('ada')
  auth.urls.length = 0
  for (const call of [() => auth.accounts.list({ userId }), () => auth.users.delete({ userId }), () => auth.sessions.list({ userId })])
    await expect(call()).rejects.toThrow('The job "accounts" does not say for which tenant it runs')
  await expect(auth.accounts.list({ userId, tenant: 'z' })).rejects.toThrow('Not found.')
  await auth.accounts.link({ userId, tenant: 'a' }, { provider: 'other', providerAccountId: '1', type: 'oauth' })
  expect(auth.urls).toEqual(['undefined'])
})
