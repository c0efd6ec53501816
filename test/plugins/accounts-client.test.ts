/** `accountsPlugin({ routes: true })`: what users do themselves, through the typed client and a browser without a window. */
import { createAuth } from 'authkernel'
import { AuthClientError, createAuthClient } from 'authkernel/client'
import { accountsPlugin } from 'authkernel/plugins/accounts'
import { apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { passwordsPlugin } from 'authkernel/plugins/passwords'
import { mailPlugin } from 'authkernel/plugins/mail'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { twoFactorPlugin } from 'authkernel/plugins/two-factor'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Client as Browser } from '../_client.ts'
import { baseConfig } from '../_setup.ts'
import { everything } from './_every-plugin.ts'

const origin = 'http://localhost:3000'
const additionalFields = {
  nickname: { type: 'string', session: true, editable: true },
  age: { type: 'number', editable: true },
  news: { type: 'boolean', editable: true },
  rating: { type: 'number' },
} as const
let now = 0

function make(strategy: 'jwt' | 'database') {
  const memory = { ...memoryAdapter(), additionalFields }
  const options = baseConfig({
    adapter: memory,
    session: { strategy, ...(strategy === 'jwt' && { revocable: true }) },
    runtime: { now: () => now, fetch: () => Promise.reject(new Error('no network in this test')) },
    providers: [
      { id: 'credentials', name: 'P', type: 'credentials', authorize: ({ id }) => memory.getUser(String(id)) },
      {
        id: 'acme',
        name: 'Acme',
        type: 'oauth',
        clientId: 'c',
        clientSecret: 's',
        authorization: 'https://acme.example/authorize',
        token: 'https://acme.example/token',
        userinfo: 'https://acme.example/me',
      },
    ],
  })
  const auth = createAuth(options)
    .use(accountsPlugin({ routes: true }))
    .use(apiKeysPlugin({ scopes: ['read'], routes: true }))
    .use(mailPlugin({ from: 'Test <t@example.com>', transport: { send: () => {} } }))
    .use(passwordsPlugin({ breached: false, signUp: false }))
    .use(twoFactorPlugin())
  return { auth, memory }
}

async function world(strategy: 'jwt' | 'database' = 'jwt') {
  const { auth, memory } = make(strategy)
  await auth.ready()
  for (const id of ['ann', 'bob']) {
    const user = { id, name: id, email: `${id}@example.com`, emailVerified: new Date(0), rating: 3 }
    await memory.createUser(user)
    for (const provider of ['acme', 'other'])
      await memory.linkAccount({ userId: id, type: 'oauth', provider, providerAccountId: `${provider}-${id}`, access_token: 'a-token' })
  }
  const open = async (id?: string) => {
    const browser = new Browser(auth, { origin })
    const client = createAuthClient<typeof auth>({
      baseURL: origin,
      fetch: (url, { method = 'GET', headers, body }) =>
        browser.request(method, url, { headers: { origin, ...Object.fromEntries(new Headers(headers)) }, ...(body != null && { body }) }),
    })
    if (id !== undefined) await client.signIn('credentials', { id })
    return { client, browser }
  }
  return { auth, memory, open }
}

const refusal = (status: number, error?: string) => expect.objectContaining({ status, ...(error && { error }) }) as AuthClientError

beforeEach(() => {
  now = Date.now()
})
afterEach(() => {
  now = 0
})

describe.each(['jwt', 'database'] as const)('client.sessions and client.profile with %s sessions', (strategy) => {
  it('list, end one, end the others', async () => {
    const { open } = await world(strategy)
    const [{ client }, second, third] = [await open('ann'), await open('ann'), await open('ann')]
    const bob = await open('bob')
    const list = await client.sessions.list()
    expect(list).toHaveLength(3)
    expect(list.filter(({ current }) => current)).toHaveLength(1)
    const other = (await second.client.sessions.list()).find(({ current }) => current)!
    expect(await bob.client.sessions.revoke({ id: other.id })).toBe(false)
    expect(await second.client.getSession()).toMatchObject({ user: { name: 'ann' } })
    await client.sessions.revoke({ id: other.id })
    expect(await second.client.getSession()).toBeNull()
    expect(await client.sessions.revokeOthers()).toBe(true)
    expect(await third.client.getSession()).toBeNull()
    expect(await client.getSession()).toMatchObject({ user: { name: 'ann' } })
    expect(await bob.client.getSession()).toMatchObject({ user: { name: 'bob' } })
  })

  it('change name, picture and editable fields, which the session shows at once', async () => {
    const { open, memory } = await world(strategy)
    const { client } = await open('ann')
    expect(await client.profile.get()).toEqual({
      id: 'ann',
      name: 'ann',
      email: 'ann@example.com',
      emailVerified: true,
      image: null,
      nickname: null,
      age: null,
      news: null,
      editable: ['name', 'image', 'nickname', 'age', 'news'],
    })
    const change = { name: ' Ann Lee ', image: 'https://img.example/a.png', nickname: 'Annie', age: 30, news: true }
    expect(await client.profile.update(change)).toMatchObject({ ...change, name: 'Ann Lee' })
    expect(await memory.getUser('ann')).toMatchObject({ ...change, name: 'Ann Lee', email: 'ann@example.com', rating: 3 })
    expect(await client.getSession()).toMatchObject({ user: { name: 'Ann Lee', image: change.image, nickname: 'Annie' } })
    expect(await client.profile.update({ image: null, nickname: null })).toMatchObject({ name: 'Ann Lee', image: null, nickname: null })
    expect((await client.getSession())?.user?.image ?? null).toBeNull()
  })
})

describe('client.profile.update', () => {
  it.each([
    [{ rating: 5 }, 'rating'],
    [{ email: 'eve@example.com' }, 'email'],
    [{ emailVerified: null }, 'emailVerified'],
    [{ id: 'bob' }, 'id'],
    [{ constructor: 'x' }, 'constructor'],
    [{ name: '' }, 'name'],
    [{ name: '   ' }, 'name'],
    [{ name: 5 }, 'name'],
    [{ name: 'x'.repeat(201) }, 'name'],
    [{ name: 'a\nb' }, 'name'],
    [{ image: 'javascript:alert(1)' }, 'image'],
    [{ image: 'data:image/png;base64,AA' }, 'image'],
    [{ image: '/me.png' }, 'image'],
    [{ image: `https://img.example/${'x'.repeat(2048)}` }, 'image'],
    [{ nickname: 'x'.repeat(256) }, 'nickname'],
    [{ nickname: {} }, 'nickname'],
    [{ age: '30' }, 'age'],
    [{ news: 'yes' }, 'news'],
  ])('refuses %j beside the field, and changes nothing', async (wrong, field) => {
    const { open, memory } = await world()
    const { client } = await open('ann')
    const before = await memory.getUser('ann')
    await expect(client.profile.update({ nickname: 'Annie', ...(wrong as object) })).rejects.toMatchObject({
      status: 400,
      error: 'InvalidInput',
      issues: [{ path: [field], message: expect.stringContaining(`"${field}"`) }],
    })
    expect(await memory.getUser('ann')).toEqual(before)
  })

  it('is auth.profile on the server, for a request and for a user by id', async () => {
    const { auth, open } = await world()
    const { browser } = await open('ann')
    const request = new Request(`${origin}/`, {
      headers: { cookie: [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    })
    expect(await auth.profile.update(request, { age: 31 })).toMatchObject({ age: 31 })
    expect(await auth.profile.get({ userId: 'ann' })).toMatchObject({ age: 31 })
    await expect(auth.profile.update({ userId: 'ann' }, { rating: 1 })).rejects.toThrow(
      /profile\.update: "rating" is not editable\. Editable: name, image, nickname/,
    )
    expect(await auth.profile.get(new Request(`${origin}/`))).toBeNull()
    expect(await auth.profile.update({ userId: 'gone' }, { age: 1 })).toBeNull()
  })
})

describe('client.accounts', () => {
  it('lists without tokens, begins to link, and unlinks all but the last one', async () => {
    const { open, memory } = await world()
    const { client } = await open('ann')
    expect(await client.accounts.list()).toEqual([
      { provider: 'acme', providerAccountId: 'acme-ann', type: 'oauth' },
      { provider: 'other', providerAccountId: 'other-ann', type: 'oauth' },
    ])
    const { url } = await client.accounts.link({ provider: 'acme', redirectTo: '/account' })
    expect(url).toMatch(/^https:\/\/acme\.example\/authorize\?.*client_id=c/)
    expect(await client.accounts.unlink({ provider: 'acme', providerAccountId: 'acme-bob' })).toBe(false)
    expect(await client.accounts.unlink({ provider: 'acme', providerAccountId: 'acme-ann' })).toBe(true)
    await expect(client.accounts.unlink({ provider: 'other', providerAccountId: 'other-ann' })).rejects.toEqual(refusal(409, 'LastAccount'))
    expect(await client.accounts.list()).toHaveLength(1)
    expect(await memory.listAccountsByUserId!('bob')).toHaveLength(2)
  })

  it('refuses a provider that is unknown, an account that is none, and a foreign target', async () => {
    const { open } = await world()
    const { client } = await open('ann')
    for (const wrong of [
      { provider: '' },
      { provider: 5 },
      { provider: 'acme', redirectTo: 'https://evil.example/' },
      { provider: 'acme', redirectTo: '//evil.example' },
    ])
      await expect(client.accounts.link(wrong as { provider: string })).rejects.toEqual(refusal(400, 'InvalidInput'))
    await expect(client.accounts.link({ provider: 'nope' })).rejects.toSatisfy(
      ({ status }: AuthClientError) => status >= 400 && status < 500,
    )
    await expect(client.accounts.unlink({ provider: 'acme' } as never)).rejects.toEqual(refusal(400, 'InvalidInput'))
  })
})

describe('client.user', () => {
  it('exports everything that names the user, and no secret', async () => {
    const { auth, open } = await world()
    const { client } = await open('ann')
    const bob = await open('bob')
    const { key } = await client.apiKeys.create({ name: 'mine', scopes: ['read'] })
    await bob.client.apiKeys.create({ name: 'of-bob' })
    const data = await client.user.export()
    expect(data).toMatchObject({
      exportedAt: new Date(now).toISOString(),
      user: { id: 'ann', email: 'ann@example.com', emailVerified: new Date(0).toISOString(), rating: 3, nickname: null },
      accounts: [{ provider: 'acme' }, { provider: 'other' }],
      records: { apiKey: [{ name: 'mine', userId: 'ann', scopes: ['read'] }] },
    })
    const text = JSON.stringify(data)
    for (const secret of ['a-token', String(key), 'of-bob', 'bob']) expect(text).not.toContain(secret)
    expect(Object.keys(data.records['apiKey']![0]!)).not.toContain('hash')
    expect(await auth.users.export({ userId: 'ann' })).toMatchObject({ user: { id: 'ann' } })
    expect(await auth.users.export({ userId: 'gone' })).toBeNull()
  })

  it('deletes the user with all data, and ends the session', async () => {
    const { open, memory } = await world()
    const { client, browser } = await open('ann')
    expect(await client.user.delete()).toBe(true)
    expect(await memory.getUser('ann')).toBeNull()
    expect(await memory.getUser('bob')).not.toBeNull()
    expect(await client.getSession()).toBeNull()
    expect([...browser.cookies.keys()].filter((name) => name.includes('session-token'))).toEqual([])
  })

  it('a plugin may refuse the deletion: the user and the session stay', async () => {
    const { auth, open, memory } = await world()
    auth.hook('deleteUser', () => false)
    const { client } = await open('ann')
    await expect(client.user.delete()).rejects.toBeInstanceOf(AuthClientError)
    expect(await memory.getUser('ann')).not.toBeNull()
    expect(await client.getSession()).not.toBeNull()
  })
})

describe('who may', () => {
  const acts = {
    'sessions.list': (client) => client.sessions.list(),
    'sessions.revoke': (client) => client.sessions.revoke({ id: 'x' }),
    'sessions.revokeOthers': (client) => client.sessions.revokeOthers(),
    'accounts.list': (client) => client.accounts.list(),
    'accounts.link': (client) => client.accounts.link({ provider: 'acme' }),
    'accounts.unlink': (client) => client.accounts.unlink({ provider: 'acme', providerAccountId: 'acme-ann' }),
    'profile.get': (client) => client.profile.get(),
    'profile.update': (client) => client.profile.update({ name: 'x' }),
    'user.prove': (client) => client.user.prove({}),
    'user.export': (client) => client.user.export(),
    'user.delete': (client) => client.user.delete(),
  } satisfies Record<string, (client: Awaited<ReturnType<Awaited<ReturnType<typeof world>>['open']>>['client']) => Promise<unknown>>

  it.each(Object.entries(acts))('%s: no visitor, and no API key', async (_name, act) => {
    const { open, memory } = await world()
    await expect(act((await open()).client)).rejects.toEqual(refusal(401))
    const { key } = await (await open('ann')).client.apiKeys.create({ name: 'mine' })
    const { client, browser } = await open()
    browser.headers = { authorization: `Bearer ${key}` }
    await expect(act(client)).rejects.toEqual(refusal(403, 'AccessDenied'))
    expect(await memory.getUser('ann')).toMatchObject({ name: 'ann' })
    expect(await memory.listAccountsByUserId!('ann')).toHaveLength(2)
  })

  it.each(['accounts.unlink', 'user.export', 'user.delete'] as const)(
    '%s: no session whose proof is old; prove() leads to a fresh one',
    async (name) => {
      const { open, memory } = await world()
      const { client } = await open('ann')
      expect(await client.user.prove({ redirectTo: '/account' })).toEqual({ url: null })
      now += 301_000
      await expect(acts[name](client)).rejects.toEqual(refusal(403, 'StepUpRequired'))
      expect(await memory.listAccountsByUserId!('ann')).toHaveLength(2)
      const { url } = await client.user.prove({ redirectTo: '/account' })
      expect(url).toContain(encodeURIComponent(`${origin}/account`))
      await client.signIn('credentials', { id: 'ann' })
      await acts[name](client)
    },
  )

  it('nothing changes without the token against requests of other sites', async () => {
    const { open } = await world()
    const { browser } = await open('ann')
    const body = JSON.stringify({ name: 'Eve' })
    const response = await browser.request('POST', '/profile/update', { body, headers: { 'content-type': 'application/json' } })
    expect(response.status).toBe(403)
  })

  it('there are no routes without `routes`', async () => {
    const memory = memoryAdapter()
    const auth = createAuth(baseConfig({ adapter: memory })).use(accountsPlugin())
    expect((await new Browser(auth, { origin }).get('/profile/get')).status).toBe(400)
    expect(() => accountsPlugin({ routes: 'yes' as never })).toThrow(/`routes` must be true or false/)
  })
})

describe('an export', () => {
  it('leaves out every field of every plugin that is a hash or opens something', async () => {
    const { auth, kernel } = everything()
    await auth.ready()
    const { compiled } = (await kernel.contextOf({ job: 'test' })) as unknown as {
      compiled: { records: Map<string, { spec: { owner?: unknown; fields: Record<string, { sealed?: true; secret?: true }> } }> }
    }
    const owned = [...compiled.records].filter(([, { spec }]) => spec.owner !== undefined)
    expect(owned.length).toBeGreaterThan(15)
    const open = owned.flatMap(([record, { spec }]) =>
      Object.entries(spec.fields)
        .filter(
          ([field, { sealed, secret }]) =>
            /hash|digest|token|secret|salt|cookie|challenge$|code|^key$|^value$|^former$|^offer$|handle/i.test(field) && !sealed && !secret,
        )
        .map(([field]) => `${record}.${field}`),
    )
    // A public key of the browser.
    expect(open).toEqual(['deviceSession.key'])
  })
})
