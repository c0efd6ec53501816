/** Several accounts in one browser: adding, switching, signing out, and what one must not see of another. */
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import { AccessDenied } from 'authkernel/kernel'
import { accountsPlugin } from 'authkernel/plugins/accounts'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { deviceSessionsPlugin } from 'authkernel/plugins/device-sessions'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { type MultiSessionOptions, multiSessionPlugin } from 'authkernel/plugins/multi-session'
import { baseConfig, Client } from '../_setup.ts'
import { Device } from './_dbsc.ts'

async function world(strategy: 'jwt' | 'database', options: MultiSessionOptions = {}) {
  const base = baseConfig({
    session: { strategy, ...(strategy === 'jwt' && { revocable: true }) },
    providers: [
      { id: 'credentials', name: 'Password', type: 'credentials', authorize: ({ user }) => ({ id: String(user), name: String(user) }) },
    ],
  })
  const store = memoryAdapter(memoryData())
  const auth = createAuth(base)
    .use(adapterPlugin(store))
    .use(accountsPlugin())
    .use(deviceSessionsPlugin({ bind: 'optional' }))
    .use(multiSessionPlugin(options))
  const told: string[] = []
  auth.on('accountSwitched', ({ user, from }) => void told.push(`${from?.id} to ${user.id}`))
  await auth.ready()
  for (const id of ['ada', 'bob', 'cy', 'dan', 'eve', 'fay'])
    await store.createUser({ id, email: `${id}@example.com`, name: id, emailVerified: new Date(0) })
  const browser = () => new Client(auth)
  const signIn = (client: Client, user: string) => client.post('/callback/credentials', { user })
  /** Signs in to several, one after the other. */
  const signedIn = async (...users: string[]) => {
    const client = browser()
    for (const [at, user] of users.entries()) {
      if (at > 0) await client.post('/switch', { action: 'add' })
      await signIn(client, user)
    }
    return client
  }
  const asks = (client: Client) => new Request('http://localhost:3000/', { headers: { cookie: client.cookieHeader() } })
  const name = async (client: Client) => (await client.session())?.user?.['name'] ?? null
  const accounts = async (client: Client) => (await auth.multiSession.list(asks(client))).map((one) => one.name)
  const idOf = async (client: Client, user: string) => {
    const found = await auth.multiSession.list(asks(client))
    return found.find((one) => one.name === user)?.id ?? 'none'
  }
  const copy = (client: Client) => {
    const other = browser()
    for (const [key, value] of client.cookies) other.cookies.set(key, value)
    return other
  }
  return { auth, store, told, browser, signIn, signedIn, asks, name, accounts, idOf, copy, runtime: base.runtime }
}

describe.each(['jwt', 'database'] as const)('accounts of a browser, %s', (strategy) => {
  it('are added and switched, each time with a new token', async () => {
    const { auth, signedIn, asks, name, accounts, idOf, told } = await world(strategy)
    const client = await signedIn('ada', 'bob')
    expect([await name(client), await accounts(client)]).toEqual(['bob', ['bob', 'ada']])
    const asBob = asks(client)
    const answer = await client.post('/switch', {
      action: 'switch',
      id: await idOf(client, 'ada'),
      callbackUrl: 'http://localhost:3000/app',
    })
    expect([answer.status, answer.headers.get('location')]).toEqual([302, 'http://localhost:3000/app'])
    expect([await name(client), await accounts(client)]).toEqual(['ada', ['ada', 'bob']])
    // What was copied while bob was used is worth nothing.
    expect(await auth.session(asBob)).toBeNull()
    const asAda = asks(client)
    await client.post('/switch', { action: 'switch', id: await idOf(client, 'bob') })
    expect([await name(client), await auth.session(asAda)]).toEqual(['bob', null])
    expect(told).toEqual(['bob to ada', 'ada to bob'])
    expect(await auth.sessions.list({ userId: 'ada' })).toHaveLength(1)
  })

  it('neither the token for forms nor a target of one is there for the other', async () => {
    const { signedIn, idOf, name, auth, signIn, browser } = await world(strategy)
    const client = await signedIn('ada', 'bob')
    await client.get('/signin?callbackUrl=http://localhost:3000/of-bob')
    const csrfToken = await client.csrfToken()
    const of = (end: string) => [...client.cookies].find(([key]) => key.endsWith(end))?.[1]
    const before = [of('csrf-token'), of('callback-url')]
    expect(before.every(Boolean)).toBe(true)
    await client.post('/switch', { action: 'switch', id: await idOf(client, 'ada') })
    expect([of('csrf-token'), of('callback-url')]).toEqual([undefined, undefined])
    const body = new URLSearchParams({ csrfToken, action: 'all' })
    expect((await client.send('/switch', { method: 'POST', body })).headers.get('location')).toContain('MissingCSRF')
    expect(await name(client)).toBe('ada')
    // And a browser to which no account was added has one session, as before.
    const plain = browser()
    await signIn(plain, 'ada')
    await signIn(plain, 'bob')
    expect(
      (await auth.multiSession.list(new Request('http://localhost:3000/', { headers: { cookie: plain.cookieHeader() } }))).length,
    ).toBe(1)
  })

  it('lead where this switch says, and never where the former account was going', async () => {
    const { signedIn, idOf, auth, asks } = await world(strategy)
    const client = await signedIn('ada', 'bob')
    await client.get('/signin?callbackUrl=http://localhost:3000/of-bob')
    const form = /action="[^"]*\/switch"[\s\S]*?<\/form>/.exec(await (await client.get('/switch')).text())?.[0] ?? ''
    expect([form.includes('action'), form.includes('of-bob')]).toEqual([true, false])
    const answer = await client.post('/switch', { action: 'switch', id: await idOf(client, 'ada') })
    expect(answer.headers.get('location')).toMatch(/^http:\/\/localhost:3000\/?$/)
    await client.get('/signin?callbackUrl=http://localhost:3000/of-ada')
    const { csrfToken } = (await (await client.get('/csrf')).json()) as { csrfToken: string }
    const scripted = await client.send('/multi-session/switch', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-auth-return-redirect': '1' },
      body: JSON.stringify({ id: (await auth.multiSession.list(asks(client)))[1]?.id, csrfToken }),
    })
    expect(await scripted.text()).not.toContain('of-ada')
  })

  it.each(['ada', 'bob'])('that are refused for %s leave both sessions as they were, and a later switch works', async (whom) => {
    const { auth, signedIn, idOf, name, accounts } = await world(strategy)
    let refusing = false
    auth.use({
      name: 'refusal',
      setup(kernel) {
        kernel.decorate('session', (inner) => ({
          issue(ctx, login, ...more) {
            if (refusing && login.user.id === whom) throw new AccessDenied('Not now.')
            return inner.issue(ctx, login, ...more)
          },
        }))
      },
    })
    const client = await signedIn('ada', 'bob')
    const id = await idOf(client, 'ada')
    refusing = true
    for (let times = 0; times < 2; times++) {
      const answer = await client.post('/switch', { action: 'switch', id })
      expect(answer.headers.get('location')).toContain('error=AccessDenied')
      expect([await name(client), await accounts(client)]).toEqual(['bob', ['bob', 'ada']])
    }
    refusing = false
    await client.post('/switch', { action: 'switch', id })
    expect([await name(client), await accounts(client)]).toEqual(['ada', ['ada', 'bob']])
  })

  it('are signed out one by one or all at once', async () => {
    const { auth, signedIn, accounts, idOf, name } = await world(strategy)
    const client = await signedIn('ada', 'bob', 'cy')
    await client.post('/switch', { action: 'signOut', id: await idOf(client, 'ada') })
    expect([await accounts(client), (await auth.sessions.list({ userId: 'ada' })).length]).toEqual([['cy', 'bob'], 0])
    // An ordinary sign-out ends the current one; the others can be used.
    await client.post('/signout')
    expect([await name(client), await accounts(client)]).toEqual([null, ['bob']])
    expect(await (await client.get('/signin')).text()).toContain('Back to your accounts')
    await client.post('/switch', { action: 'switch', id: await idOf(client, 'bob') })
    expect(await name(client)).toBe('bob')
    await client.post('/switch', { action: 'all' })
    expect([await name(client), await accounts(client)]).toEqual([null, []])
    for (const userId of ['bob', 'cy']) expect(await auth.sessions.list({ userId })).toEqual([])
  })

  it('are at most five, and one of each person', async () => {
    const { signedIn, signIn, accounts, name, auth } = await world(strategy)
    const client = await signedIn('ada', 'bob', 'cy', 'dan', 'eve')
    expect(await accounts(client)).toEqual(['eve', 'dan', 'cy', 'bob', 'ada'])
    expect((await client.post('/switch', { action: 'add' })).headers.get('location')).toContain('error=TooManyAccounts')
    expect(await name(client)).toBe('eve')
    await client.post('/switch', { action: 'signOut', id: 'none' })
    const other = await signedIn('ada', 'bob')
    await other.post('/switch', { action: 'add' })
    await signIn(other, 'ada')
    expect(await accounts(other)).toEqual(['ada', 'bob'])
    expect((await auth.sessions.list({ userId: 'ada' })).length).toBe(2)
  })

  it('that have ended are not switched to, nor those of another browser', async () => {
    const { auth, signedIn, idOf, name, accounts, asks } = await world(strategy)
    const [client, other] = [await signedIn('ada', 'bob'), await signedIn('cy', 'dan')]
    const [ada, cy] = [await idOf(client, 'ada'), await idOf(other, 'cy')]
    const gone = async (id: string) => (await client.post('/switch', { action: 'switch', id })).headers.get('location')
    for (const id of [cy, 'none', '', '__proto__']) expect(await gone(id)).toContain('error=AccountGone')
    await expect(auth.multiSession.switch(asks(client), cy)).rejects.toMatchObject({ type: 'AccountGone' })
    await expect(auth.multiSession.switch(asks(client), ada, { returnTo: '//evil.example' })).rejects.toMatchObject({ status: 400 })
    await auth.sessions.revokeAll({ userId: 'ada' })
    expect(await accounts(client)).toEqual(['bob'])
    expect(await gone(ada)).toContain('error=AccountGone')
    expect([await name(client), await name(other), await accounts(other)]).toEqual(['bob', 'dan', ['dan', 'cy']])
  })

  it('switched twice at the same moment make one session', async () => {
    const { auth, signedIn, idOf, asks } = await world(strategy)
    const client = await signedIn('ada', 'bob')
    const [id, request] = [await idOf(client, 'ada'), asks(client)]
    const ends = await Promise.allSettled([...Array(4)].map(() => auth.multiSession.switch(request, id)))
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await auth.sessions.list({ userId: 'ada' })).toHaveLength(1)
    const forms = await client.send('/switch', { method: 'POST', body: new URLSearchParams({ action: 'all' }) })
    expect(forms.headers.get('location')).toContain('MissingCSRF')
  })

  it('stay bound to their device while another one is used', async () => {
    const { signIn, browser, idOf, name, runtime } = await world(strategy)
    const client = browser()
    const [ada, bob] = [new Device(client), new Device(client)]
    expect((await ada.register(await signIn(client, 'ada')))?.status).toBe(200)
    await client.post('/switch', { action: 'add' })
    expect((await bob.register(await signIn(client, 'bob')))?.status).toBe(200)
    await client.post('/switch', { action: 'switch', id: await idOf(client, 'ada') })
    expect(await name(client)).toBe('ada')
    runtime.advance(300_000)
    expect(await name(client)).toBeNull()
    expect([(await ada.refresh()).status, (await bob.refresh()).status]).toEqual([200, 200])
    expect(await name(client)).toBe('ada')
    await client.post('/switch', { action: 'switch', id: await idOf(client, 'bob') })
    expect(await name(client)).toBe('bob')
  })
})

it('its page lists them, its client methods answer where to go, and mistakes name the option', async () => {
  const { signedIn } = await world('database')
  const client = await signedIn('ada', 'bob')
  const page = await (await client.get('/switch')).text()
  for (const text of ['Accounts in this browser', 'ada@example.com', 'Use this account', 'used now', 'Sign out of all'])
    expect(page).toContain(text)
  expect(await (await client.get('/switch', { 'accept-language': 'de' })).text()).toContain('Konten in diesem Browser')
  const found = (await (await client.get('/multi-session/list')).json()) as { id: string | null; name: string }[]
  const call = async (method: string, input: object) => {
    const body = JSON.stringify({ ...input, csrfToken: await client.csrfToken() })
    return client.send(`/multi-session/${method}`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', 'x-auth-return-redirect': '1' },
    })
  }
  expect((await call('switch', { id: 7 })).status).toBe(400)
  expect((await call('switch', { id: 'none' })).status).toBe(404)
  expect(await (await call('switch', { id: found[1]!.id })).json()).toEqual({ url: expect.stringContaining('http://localhost:3000') })
  expect((await client.session())?.user?.['name']).toBe('ada')
  expect(await (await call('sign-out', { which: 'all' })).json()).toBe(true)
  expect(await client.session()).toBeNull()
  for (const max of [0, 5, 1.5]) expect(() => multiSessionPlugin({ max })).toThrow('`max`')
})
