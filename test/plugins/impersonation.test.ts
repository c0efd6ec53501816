/** Administrators who act as users: how it begins and ends, and what stays out of reach. */
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import type { User } from 'authkernel/kernel'
import { accountsPlugin } from 'authkernel/plugins/accounts'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { adminPlugin } from 'authkernel/plugins/admin'
import { apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { impersonationPlugin } from 'authkernel/plugins/impersonation'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { stepUpPlugin } from 'authkernel/plugins/step-up'
import { baseConfig, Client } from '../_setup.ts'

const reason = 'ticket 4711'
const minute = 60_000

async function world(strategy: 'jwt' | 'database') {
  const base = baseConfig({
    session: { strategy, ...(strategy === 'jwt' && { revocable: true }) },
    providers: [
      { id: 'credentials', name: 'Password', type: 'credentials', authorize: ({ user }) => ({ id: String(user), name: String(user) }) },
    ],
  })
  const store = memoryAdapter(memoryData())
  const ranks: Record<string, number> = { root: 2, boss: 2, ada: 0 }
  const rank = ({ id = '' }: User): number => ranks[id] ?? 0
  const auth = createAuth(base)
    .use(adapterPlugin(store))
    .use(accountsPlugin())
    .use(apiKeysPlugin())
    .use(stepUpPlugin())
    .use(adminPlugin({ can: () => true }))
    .use(impersonationPlugin({ can: ({ admin, user }) => rank(admin) > rank(user) }))
  const told: string[] = []
  auth.on('*', ({ event, message }) => {
    if (event.startsWith('impersonation')) told.push(`${event} ${(message as unknown as { reason: string }).reason}`)
  })
  await auth.ready()
  for (const id of ['root', 'boss', 'ada']) await store.createUser({ id, email: `${id}@example.com`, name: id, emailVerified: new Date(0) })
  const browser = async (user: string) => {
    const client = new Client(auth)
    await client.post('/callback/credentials', { user })
    return client
  }
  const asks = (client: Client, path = '/') => new Request(`http://localhost:3000${path}`, { headers: { cookie: client.cookieHeader() } })
  /** Keeps the cookies of an answer that an API gave. */
  const keep = async (client: Client, response: Response) => {
    const carrier = new Client({ handler: () => Promise.resolve(response) })
    for (const [name, value] of client.cookies) carrier.cookies.set(name, value)
    await carrier.get('/')
    client.cookies.clear()
    for (const [name, value] of carrier.cookies) client.cookies.set(name, value)
    return response
  }
  const act = async (client: Client, userId = 'ada') =>
    keep(client, await auth.impersonation.start(asks(client), { userId, reason, returnTo: '/home' }))
  const who = async (client: Client) => {
    const session = await client.session()
    return session && [session.user?.['name'], (session as { actor?: { id: string } }).actor?.id]
  }
  return { auth, store, ranks, told, browser, asks, keep, act, who, runtime: base.runtime }
}
const type = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (error: { type?: string; status?: number }) => error.type ?? error.status,
  )

describe.each(['jwt', 'database'] as const)('acting as a user, %s', (strategy) => {
  it('begins with a reason and ends with the own session, all tokens new', async () => {
    const { auth, browser, asks, keep, act, who, told, runtime } = await world(strategy)
    const root = await browser('root')
    const first = asks(root)
    const begun = await act(root)
    expect([begun.status, begun.headers.get('location')]).toEqual([302, 'http://localhost:3000/home'])
    const until = new Date(runtime.now() + 30 * minute).toISOString()
    expect(await root.session()).toMatchObject({
      user: { name: 'ada' },
      expires: until,
      actor: { id: 'root', name: 'root', reason, until },
    })
    const during = asks(root)
    expect(await auth.session(first)).toBeNull()
    const ended = await keep(root, await auth.impersonation.stop(asks(root), { returnTo: '/admin' }))
    expect(ended.headers.get('location')).toBe('http://localhost:3000/admin')
    expect(await who(root)).toEqual(['root', undefined])
    expect([await auth.session(first), await auth.session(during)]).toEqual([null, null])
    expect(told).toEqual([`impersonationStarted ${reason}`, `impersonationEnded ${reason}`])
    expect(await type(auth.impersonation.stop(asks(root)))).toBe('AccessDenied')
    expect(await who(root)).toEqual(['root', undefined])
  })

  it('lasts 30 minutes, however it is used, and the own session can be restored after them', async () => {
    const { auth, browser, asks, act, who, runtime } = await world(strategy)
    const root = await browser('root')
    await act(root)
    for (let i = 0; i < 29; i++) {
      runtime.advance(minute)
      expect(await who(root)).toEqual(['ada', 'root'])
    }
    const copy = asks(root)
    runtime.advance(minute)
    expect(await auth.session(copy)).toBeNull()
    expect(await auth.sessions.list(copy)).toEqual([])
    expect((await root.post('/impersonation/stop')).status).toBe(302)
    expect(await who(root)).toEqual(['root', undefined])
  })

  it('reaches nothing of the user: accounts, keys, sessions, deletion, step-up, updates, another impersonation', async () => {
    const { auth, store, browser, asks, act, who } = await world(strategy)
    await store.linkAccount({ userId: 'ada', provider: 'acme', providerAccountId: '1', type: 'oidc' })
    const root = await browser('root')
    await act(root)
    const as = asks(root)
    expect(await auth.accounts.list(as)).toEqual([])
    expect(await auth.accounts.unlink(as, { provider: 'acme', providerAccountId: '1' }, { last: true })).toBe(false)
    expect(await auth.sessions.revokeAll(as)).toBe(false)
    expect(await auth.users.delete(as)).toBe(false)
    expect(await type(auth.apiKeys.create(as, { name: 'k' }))).toBe('AccessDenied')
    expect(await type(auth.admin.list(as))).toBe('AccessDenied')
    expect(await type(auth.impersonation.start(as, { userId: 'boss', reason }))).toBe('AccessDenied')
    expect(await auth.stepUp.holds(as)).toBe(false)
    await root.send('/session', {
      method: 'POST',
      body: JSON.stringify({ csrfToken: await root.csrfToken(), data: { user: { email: 'x' } } }),
      headers: { 'content-type': 'application/json' },
    })
    expect(await who(root)).toEqual(['ada', 'root'])
    expect((await store.getUser('ada'))?.email).toBe('ada@example.com')
  })

  it('a sign-in meanwhile is a new one, and the other sessions end', async () => {
    const { auth, browser, asks, act, who, told } = await world(strategy)
    const root = await browser('root')
    await act(root)
    const during = asks(root)
    await root.post('/callback/credentials', { user: 'boss' })
    expect(await who(root)).toEqual(['boss', undefined])
    expect(await auth.session(during)).toBeNull()
    expect(await auth.sessions.list({ userId: 'root' })).toEqual([])
    expect(told.at(-1)).toBe(`impersonationEnded ${reason}`)
  })

  it('signing out signs the administrator out too', async () => {
    const { auth, browser, act, who } = await world(strategy)
    const root = await browser('root')
    await act(root)
    await root.post('/signout')
    expect(await who(root)).toBeNull()
    expect(await auth.sessions.list({ userId: 'root' })).toEqual([])
  })

  it.each(['sessions ended', 'banned', 'demoted', 'deleted'])('an administrator who is %s acts no longer', async (how) => {
    const { auth, browser, asks, keep, act, who, ranks } = await world(strategy)
    const root = await browser('root')
    await act(root)
    expect(await who(root)).toEqual(['ada', 'root'])
    if (how === 'sessions ended') await auth.sessions.revokeAll({ userId: 'root' })
    if (how === 'banned') await auth.admin.ban({ userId: 'boss' }, 'root', { reason })
    if (how === 'demoted') ranks['root'] = 0
    if (how === 'deleted') await auth.users.delete({ userId: 'root' })
    const copy = asks(root)
    expect(await auth.session(copy)).toBeNull()
    await keep(root, await auth.impersonation.stop(copy))
    expect(await who(root)).toEqual(how === 'demoted' ? ['root', undefined] : null)
  })

  it('of two ends at the same moment one restores the session', async () => {
    const { auth, browser, asks, act } = await world(strategy)
    const root = await browser('root')
    await act(root)
    const copy = asks(root)
    await Promise.allSettled([auth.impersonation.stop(copy), auth.impersonation.stop(copy)])
    expect(await auth.sessions.list({ userId: 'root' })).toHaveLength(1)
    expect((await auth.sessions.list({ userId: 'ada' })).length).toBe(0)
  })

  it('is refused without a right, a reason, a fresh proof, a person', async () => {
    const { auth, browser, asks, told, runtime, who } = await world(strategy)
    const [root, ada] = [await browser('root'), await browser('ada')]
    const { key } = await auth.apiKeys.create({ userId: 'root' }, { name: 'k' })
    const start = (request: Request, order: object) => type(auth.impersonation.start(request, { userId: 'ada', reason, ...order }))
    expect(await start(asks(root), { userId: 'boss' })).toBe('AccessDenied')
    expect(told).toEqual([`impersonationDenied ${reason}`])
    expect(await start(asks(ada), { userId: 'boss' })).toBe('AccessDenied')
    expect(await start(new Request('http://localhost:3000/'), {})).toBe('AccessDenied')
    expect(await start(new Request('http://localhost:3000/', { headers: { 'x-api-key': key } }), {})).toBe('AccessDenied')
    expect(await start(asks(root), { userId: 'root' })).toBe(400)
    expect(await start(asks(root), { userId: 'gone' })).toBe(404)
    for (const bad of ['', ' ', 7, undefined, 'x'.repeat(501)]) expect(await start(asks(root), { reason: bad })).toBe(400)
    for (const bad of ['https://evil.example', '//evil.example', '/\\evil.example', 7])
      expect(await start(asks(root), { returnTo: bad })).toBe(400)
    runtime.advance(301_000)
    expect(await start(asks(root), {})).toBe('AccessDenied')
    expect(await who(root)).toEqual(['root', undefined])
  })
})

it('mistakes in the configuration name plugin and option', async () => {
  expect(() => impersonationPlugin({} as never)).toThrow('Plugin "impersonation": the option `can` is missing')
  expect(() => impersonationPlugin({ can: () => true, proofAge: 0 })).toThrow('`proofAge`')
  const auth = createAuth(baseConfig({ session: { strategy: 'jwt' } }))
    .use(adapterPlugin(memoryAdapter()))
    .use(impersonationPlugin({ can: () => true }))
  await expect(auth.ready()).rejects.toThrow(/impersonation/)
})

it('a banner says who acts, on the pages on the way and on its own, with the button that ends it', async () => {
  const { browser, act, who } = await world('database')
  const root = await browser('root')
  expect((await root.get('/impersonation')).headers.get('location')).toContain('/signin')
  expect(await (await root.get('/signin')).text()).not.toContain('acts as')
  await act(root)
  for (const path of ['/signin', '/signout', '/error']) expect(await (await root.get(path)).text()).toContain('root acts as ada.')
  const page = await (await root.get('/impersonation')).text()
  for (const text of ['You act as another user', 'Reason: ticket 4711', 'It ends at', 'Stop and return to my account'])
    expect(page).toContain(text)
  expect(await (await root.get('/impersonation', { 'accept-language': 'de' })).text()).toContain('Sie handeln als jemand anderes')
  const [, action] = /<form[^>]* action="([^"]*impersonation\/stop)"/.exec(page) ?? []
  await root.post(action!.replace('http://localhost:3000/auth', ''))
  expect(await who(root)).toEqual(['root', undefined])
})
