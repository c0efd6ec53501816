/** The client for apps of `authkernel/client`, against bearerPlugin and deviceFlowPlugin: no cookies, any storage. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createAuth } from 'authkernel'
import { type AppClientOptions, createAppClient } from 'authkernel/client'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { type BearerOptions, bearerPlugin } from 'authkernel/plugins/bearer'
import { deviceFlowPlugin } from 'authkernel/plugins/device-flow'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { baseConfig, Client } from '../_setup.ts'
import { origin, ticketOf, visit } from './_app.ts'

const redirectUri = 'http://127.0.0.1:50123/cb'
const apps = [{ id: 'desktop', name: 'Acme Desktop', redirectUris: [redirectUri], scopes: ['read', 'write'] }]

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }))
afterEach(() => vi.useRealTimers())

async function world(options: Partial<AppClientOptions> = {}, bearer: Partial<BearerOptions> = {}) {
  const base = baseConfig({
    providers: [{ id: 'credentials', name: 'P', type: 'credentials', authorize: ({ user }) => ({ id: String(user), name: String(user) }) }],
    runtime: { now: () => Date.now() },
  })
  const store = memoryAdapter()
  const auth = createAuth(base)
    .use(adapterPlugin(store))
    .use(bearerPlugin({ apps, ...bearer }))
    .use(deviceFlowPlugin({ apps: ['desktop'] }))
  await auth.ready()
  await store.createUser!({ id: 'ada', email: 'ada@example.com', name: 'Ada', emailVerified: null })
  const browser = new Client(auth)
  await browser.post('/callback/credentials', { user: 'ada' })
  const kept = new Map<string, string>()
  const sent: { url: string; headers: Headers; credentials: string }[] = []
  let fail: ((url: string) => boolean) | undefined
  const storage = {
    get: async (key: string) => kept.get(key),
    set: async (key: string, value: string) => void kept.set(key, value),
    remove: async (key: string) => void kept.delete(key),
  }
  const fetch = (async (url: string, init: RequestInit) => {
    sent.push({ url, headers: new Headers(init.headers), credentials: String(init.credentials) })
    const answer = await auth.handler(new Request(url, init))
    // Reached the server; the answer is lost.
    if (fail?.(url)) throw new TypeError('fetch failed')
    return answer
  }) as typeof globalThis.fetch
  const make = (more: Partial<AppClientOptions> = {}) =>
    createAppClient({ server: origin, clientId: 'desktop', redirectUri, storage, fetch, ...options, ...more })
  const client = make()
  const signIn = async () => client.finish(await visit(browser, await client.signIn()))
  const failing = (which: typeof fail) => void (fail = which)
  return { auth, client, make, browser, kept, sent, signIn, failing, store }
}

const refreshes = (sent: { url: string }[]) => sent.filter(({ url }) => url.endsWith('/oauth/token')).length

describe('createAppClient', () => {
  it('signs in, reads the session, and sends the token to the server alone', async () => {
    const { client, signIn, sent, kept } = await world()
    expect([await client.accessToken(), await client.getSession()]).toEqual([null, null])
    await signIn()
    expect(await client.getSession()).toMatchObject({ user: { name: 'Ada' }, bearer: { clientId: 'desktop', scopes: ['read', 'write'] } })
    expect((await client.fetch('/auth/session')).status).toBe(200)
    await expect(client.fetch('https://evil.example/')).rejects.toThrow(/gets no token/)
    expect(sent.every(({ credentials, headers }) => credentials === 'omit' && !headers.has('cookie'))).toBe(true)
    expect([...kept.keys()]).toEqual([`authkernel ${origin} desktop tokens`])
  })

  it('refreshes half a minute before the end, once for all that ask at the same moment', async () => {
    const { client, signIn, sent } = await world()
    await signIn()
    const first = await client.accessToken()
    vi.advanceTimersByTime(569_000)
    expect([await client.accessToken(), refreshes(sent)]).toEqual([first, 1])
    vi.advanceTimersByTime(1_000)
    const all = await Promise.all([client.accessToken(), client.accessToken(), client.getSession()])
    expect([all[0] === all[1], all[0] === first, all[2]?.user?.name, refreshes(sent)]).toEqual([true, false, 'Ada', 2])
  })

  it('survives an answer that was lost, and another process with the same storage', async () => {
    const { client, make, signIn, failing } = await world()
    await signIn()
    vi.advanceTimersByTime(580_000)
    failing((url) => url.endsWith('/oauth/token'))
    await expect(client.accessToken()).rejects.toThrow('fetch failed')
    failing(undefined)
    expect((await client.getSession())?.user?.name).toBe('Ada')
    vi.advanceTimersByTime(580_000)
    const [one, two] = [make(), make()]
    const sessions = await Promise.all([one.getSession(), two.getSession()])
    expect(sessions.map((session) => session?.user?.name)).toEqual(['Ada', 'Ada'])
    vi.advanceTimersByTime(580_000)
    expect((await one.getSession())?.user?.name).toBe('Ada')
  })

  it('forgets the tokens when the server has ended the session, and signs out', async () => {
    const { auth, client, signIn, kept, failing } = await world()
    await signIn()
    const [session] = await auth.bearer.list({ userId: 'ada' })
    await auth.bearer.revoke({ userId: 'ada' }, session!.id)
    vi.advanceTimersByTime(580_000)
    expect([await client.accessToken(), kept.size]).toEqual([null, 0])
    await signIn()
    await client.signOut()
    expect([await client.accessToken(), await auth.bearer.list({ userId: 'ada' })]).toEqual([null, []])
    await signIn()
    failing(() => true)
    await expect(client.signOut()).rejects.toThrow('fetch failed')
    expect(kept.size).toBe(0)
  })

  it('takes no answer that it did not ask for, and tells a refusal', async () => {
    const { client, browser, kept } = await world()
    const location = await visit(browser, await client.signIn())
    for (const [name, value] of [
      ['state', 'x'],
      ['iss', 'https://evil.example'],
    ]) {
      const wrong = new URL(location)
      wrong.searchParams.set(name!, value!)
      await expect(client.finish(wrong.href)).rejects.toMatchObject({ name: 'AuthClientError', error: 'invalid_request' })
    }
    await client.finish(location)
    await expect(client.finish(location)).rejects.toMatchObject({ error: 'invalid_request' })
    expect(kept.size).toBe(1)
    const denied = await visit(browser, await client.signIn(), 'deny')
    await expect(client.finish(denied)).rejects.toMatchObject({ error: 'access_denied' })
    await expect(
      createAppClient({ server: origin, clientId: 'x', storage: { get: () => null, set() {}, remove() {} } }).signIn(),
    ).rejects.toThrow(/redirectUri/)
  })

  it('signs a device in with a code', async () => {
    const { client, browser } = await world({ redirectUri: undefined, scope: 'read' })
    const device = await client.startDevice()
    expect(device).toMatchObject({ verificationUri: `${origin}/auth/device`, expiresIn: 600 })
    const done = device.done()
    await vi.advanceTimersByTimeAsync(5_000)
    const ticket = ticketOf(await (await browser.post('/device', { user_code: device.userCode })).text())
    await browser.post('/device/decide', { ticket, decision: 'allow' })
    await vi.advanceTimersByTimeAsync(5_000)
    await done
    expect((await client.getSession())?.bearer?.scopes).toEqual(['read'])
    const other = await client.startDevice()
    const refused = other.done().catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(610_000)
    expect(await refused).toMatchObject({ error: 'expired_token' })
    const stop = new AbortController()
    const stopped = (await client.startDevice()).done(stop.signal).catch((error: unknown) => error)
    stop.abort(new Error('enough'))
    expect(await stopped).toEqual(new Error('enough'))
  })

  it.each([{ nonces: false }, { nonces: true }])('binds its tokens to a key that cannot be read, with server nonces %o', async (dpop) => {
    let pair: CryptoKeyPair | undefined
    const keys = { get: () => pair, set: (made: CryptoKeyPair) => void (pair = made) }
    const { auth, client, make, signIn, sent } = await world({ dpop: keys }, { dpop })
    await signIn()
    expect(pair!.privateKey.extractable).toBe(false)
    const session = await client.getSession()
    expect(session).toMatchObject({ user: { name: 'Ada' }, bearer: { jkt: expect.stringMatching(/^[\w-]{43}$/) as string } })
    vi.advanceTimersByTime(580_000)
    expect((await client.getSession())?.user?.name).toBe('Ada')
    const proved = sent.filter(({ url }) => /\/oauth\/token$|\/oauth\/session$/.test(url))
    expect(proved.every(({ headers }) => headers.get('dpop')?.split('.').length === 3)).toBe(true)
    expect(sent.filter(({ headers }) => headers.get('authorization')?.startsWith('Bearer'))).toEqual([])

    // Another process of the app has the key by its storage; a copy of the tokens alone is worth nothing.
    expect((await make().getSession())?.user?.name).toBe('Ada')
    const headers = await client.headers('/auth/session')
    expect(Object.keys(headers)).toEqual(['authorization', 'dpop'])
    expect((await auth.session(new Request(`${origin}/auth/session`, { headers })))?.user?.name).toBe('Ada')
    const token = (await client.accessToken())!
    expect(await auth.session(new Request(origin, { headers: { authorization: `Bearer ${token}` } }))).toBeNull()
    const thief = make({ dpop: true })
    expect((await thief.fetch('/auth/session').then((answer) => answer.json())) as unknown).toBeNull()
    await expect(client.headers('https://evil.example/')).rejects.toThrow(/gets no token/)
  })

  it('takes no bearer tokens from a server that does not bind them', async () => {
    const { client, browser } = await world({
      dpop: true,
      fetch: (async (url: string) =>
        Response.json(
          String(url).endsWith('/token') ? { access_token: 'a', refresh_token: 'r', token_type: 'Bearer', expires_in: 600 } : {},
        )) as typeof fetch,
    })
    const location = await visit(browser, await client.signIn())
    await expect(client.finish(location)).rejects.toThrow(/bound the tokens to no key/)
  })
})
