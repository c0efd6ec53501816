/** Rows, section M. */
import { describe, expect, it } from 'vitest'
import { type AuthConfig, createAuth, CredentialsSignin, type User } from 'authkernel'
import { baseConfig, Client } from '../_setup.ts'

type Authorize = (credentials: Record<string, unknown>, request: Request) => User | null | Promise<User | null>
const make = (authorize: Authorize, config: AuthConfig = {}) => {
  const fields = { username: { label: 'Name' }, password: { label: 'Password', type: 'password' } }
  const options = baseConfig({
    providers: [{ id: 'credentials', name: 'Password', type: 'credentials', credentials: fields, authorize }],
    ...config,
  })
  const auth = createAuth(options)
  return { options, auth, client: new Client(auth) }
}
const ann = { id: '7', name: 'Ann' }

describe('credentials', () => {
  it('rows 230, 237: authorize gets the whole body and a JSON request', async () => {
    let seen: unknown
    const signIn: unknown[] = []
    const { client } = make(async (credentials, request) => ((seen = [credentials, await request.json(), request.method]), ann), {
      callbacks: { signIn: (message) => (signIn.push(message), true) },
    })
    const csrfToken = await client.csrfToken()
    const body = { csrfToken, username: 'ann', password: ' p\u0000äss ', callbackUrl: '/x' }
    await client.send('/callback/credentials', {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    })
    expect(seen).toEqual([body, body, 'POST'])
    expect(signIn).toEqual([
      { user: ann, account: { provider: 'credentials', providerAccountId: '7', type: 'credentials' }, credentials: body },
    ])
  })

  it('rows 231, 232: the id becomes a text, or is made', async () => {
    const ids: unknown[] = []
    const events = { signIn: ({ account }: { account: { providerAccountId: string } | null }) => void ids.push(account?.providerAccountId) }
    await make(() => ({ id: 5 as never }), { events: events as never }).client.post('/callback/credentials')
    await make(() => ({ name: 'no id' }), { events: events as never }).client.post('/callback/credentials')
    expect(ids).toEqual(['5', expect.stringMatching(/^[0-9a-f-]{36}$/)])
  })

  it.each([null, false, undefined])('row 233: %j is CredentialsSignin', async (nobody) => {
    const { client } = make(() => nobody as never)
    const response = await client.post('/callback/credentials', { username: 'a', password: 'b' })
    expect(response.headers.get('location')).toBe('http://localhost:3000/auth/signin?error=CredentialsSignin&code=credentials')
    expect(response.headers.getSetCookie().join()).not.toContain('session-token')
  })

  it("rows 234, 275: a code of one's own, encoded", async () => {
    class Locked extends CredentialsSignin {
      override code = 'locked & out'
    }
    const { client } = make(() => {
      throw new Locked('five tries')
    })
    expect((await client.post('/callback/credentials')).headers.get('location')).toContain('error=CredentialsSignin&code=locked+%26+out')
  })

  it('row 235: dispatch throws to the caller', async () => {
    const { auth, client } = make(() => null)
    const csrfToken = await client.csrfToken()
    const request = new Request('http://localhost:3000/auth/callback/credentials', {
      method: 'POST',
      body: new URLSearchParams({ csrfToken }),
      headers: { cookie: client.cookieHeader() },
    })
    await expect(auth.dispatch(request)).rejects.toMatchObject({ type: 'CredentialsSignin', code: 'credentials' })
  })

  it('rows 236, 276: any other error is Configuration, with cause and provider in the log', async () => {
    const { client, options } = make(() => {
      throw new Error('db password is hunter2')
    })
    const response = await client.post('/callback/credentials')
    expect(response.headers.get('location')).toBe('http://localhost:3000/auth/error?error=Configuration')
    expect(options.logger.errors).toHaveLength(1)
    expect(options.logger.errors[0]).toMatchObject({
      name: 'CallbackRouteError',
      cause: { err: { message: 'db password is hunter2' }, provider: 'credentials' },
    })
  })

  it('row 137: a refusing signIn callback', async () => {
    const { client } = make(() => ann, { callbacks: { signIn: () => false } })
    expect((await client.post('/callback/credentials')).headers.get('location')).toBe('http://localhost:3000/auth/error?error=AccessDenied')
  })

  it('row 148: the event gets the user as authorize returned it, and no isNewUser', async () => {
    const told: object[] = []
    const { client } = make(() => ({ ...ann, role: 'admin' }) as never, { events: { signIn: (message) => void told.push(message) } })
    await client.post('/callback/credentials')
    expect(told).toEqual([
      { user: { ...ann, role: 'admin' }, account: { provider: 'credentials', providerAccountId: '7', type: 'credentials' } },
    ])
    expect(told[0]).not.toHaveProperty('isNewUser')
  })

  it('row 157, D25: signInFailed tells provider and error', async () => {
    const told: object[] = []
    const { client } = make(() => null, { events: { signInFailed: (message) => void told.push(message) } })
    await client.post('/callback/credentials')
    expect(told).toEqual([{ provider: 'credentials', error: expect.objectContaining({ type: 'CredentialsSignin' }) as object }])
  })

  it('prototype pollution does not get through the body', async () => {
    const { client } = make((credentials) => ({ ...ann, ...credentials }) as never)
    const csrfToken = await client.csrfToken()
    const body = `{"csrfToken":"${csrfToken}","__proto__":{"polluted":1},"a":{"__proto__":{"polluted":1}}}`
    await client.send('/callback/credentials', { method: 'POST', body, headers: { 'content-type': 'application/json' } })
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})

describe('D54: throttle', () => {
  const wrong = (client: Client, username: string) => client.post('/callback/credentials', { username, password: 'x' })

  it('the eleventh wrong try of one identifier is 429, in any spelling, and ends with the window', async () => {
    const { client, options } = make(() => null)
    for (let i = 0; i < 10; i++) expect((await wrong(client, i % 2 ? 'Ann' : ' ann ')).status).toBe(302)
    const limited = await wrong(client, 'ANN')
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '600'])
    expect((await wrong(client, 'bob')).status).toBe(302)
    options.runtime.advance(600_000)
    expect((await wrong(client, 'ann')).status).toBe(302)
  })

  it('guesses in parallel count too', async () => {
    let asked = 0
    const { client } = make(async () => (asked++, null))
    const csrfToken = await client.csrfToken()
    const body = () => new URLSearchParams({ csrfToken, username: 'ann', password: 'x' })
    await Promise.all(Array.from({ length: 30 }, () => client.send('/callback/credentials', { method: 'POST', body: body() })))
    expect(asked).toBe(10)
  })

  it('right credentials do not count', async () => {
    const { client } = make(() => ann)
    for (let i = 0; i < 15; i++) expect((await wrong(client, 'ann')).headers.get('location')).toBe('http://localhost:3000')
  })

  it('a network has a hundred times the budget of a name in it; false switches all off', async () => {
    const from = async (auth: ReturnType<typeof make>['auth'], i: number, clientAddress: string): Promise<number> => {
      const client = new Client({ handler: (request) => auth.handler(request, { clientAddress }) })
      return (await wrong(client, `user${i}`)).status
    }
    const { auth } = make(() => null, { throttle: { credentials: { max: 1 } } })
    for (let i = 0; i < 100; i++) expect(await from(auth, i, `2001:db8:0:1::${i}`)).toBe(302)
    expect(await from(auth, 101, '2001:0DB8::0001:ffff:0:0:1')).toBe(429)
    expect(await from(auth, 102, '2001:db8:0:2::1')).toBe(302)
    const off = make(() => null, { throttle: false })
    for (let i = 0; i < 12; i++) expect(await from(off.auth, 1, '10.0.0.1')).toBe(302)
  })
})
