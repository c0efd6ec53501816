/** Rows, section G under the database strategy. */
import { describe, expect, it } from 'vitest'
import { type Adapter, type AuthConfig, createAuth } from 'authkernel'
import type { SessionMessage } from 'authkernel/kernel'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { baseConfig, Client } from '../_setup.ts'

const name = 'authkernel.session-token'
const day = 86_400_000

/** Calls of an adapter by name, in order. */
function traced(adapter: Adapter): { adapter: Adapter; calls: string[] } {
  const calls: string[] = []
  const wrapped: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(adapter)) {
    wrapped[key] =
      typeof value === 'function' ? (...args: unknown[]) => (calls.push(key), (value as (...all: unknown[]) => unknown)(...args)) : value
  }
  return { adapter: wrapped as Adapter, calls }
}

async function signedIn(config: AuthConfig = {}, change: (adapter: Adapter) => Adapter = (adapter) => adapter) {
  const memory = memoryAdapter()
  await memory.createUser({ id: '1', name: 'Ann', email: 'ann@example.com', emailVerified: null })
  const { adapter, calls } = traced(change(memory))
  const providers = [{ id: 'credentials', name: 'Password', type: 'credentials' as const, authorize: () => ({ id: '1', name: 'Ann' }) }]
  const options = baseConfig({ providers, adapter, ...config })
  const auth = createAuth(options)
  const client = new Client(auth)
  const response = await client.post('/callback/credentials')
  calls.length = 0
  return { memory, calls, options, auth, client, clock: options.runtime, response }
}

describe('session of the database strategy', () => {
  it('rows 29, 33, 115, 239, 374: a random token only, in an HttpOnly cookie', async () => {
    const { client, response, memory } = await signedIn()
    const token = client.cookies.get(name) ?? ''
    expect(token).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(await memory.getSessionAndUser(token)).toMatchObject({ session: { userId: '1' }, user: { email: 'ann@example.com' } })
    expect(response.headers.getSetCookie().find((line) => line.startsWith(name))).toContain('HttpOnly')
  })

  it('row 33: generateSessionToken', async () => {
    const { client } = await signedIn({ session: { generateSessionToken: () => 'my-token' } })
    expect(client.cookies.get(name)).toBe('my-token')
  })

  it('row 30: the jwt strategy can be forced', async () => {
    const { client } = await signedIn({ session: { strategy: 'jwt' } })
    expect(client.cookies.get(name)).toMatch(/^eyJ/)
  })

  it('rows 123, 124, D6: the callback gets the reduced session, the row of the session without its token, and the whole user', async () => {
    const seen: object[] = []
    const { client, clock } = await signedIn({ callbacks: { session: (message) => (seen.push(message), message.session) } })
    const body = await client.session()
    const user = { id: '1', name: 'Ann', email: 'ann@example.com', emailVerified: null }
    const expires = new Date(clock.now() + 30 * day).toISOString()
    const shown = { id: '1', name: 'Ann', email: 'ann@example.com' }
    expect(seen).toEqual([{ session: { user: shown, userId: '1', expires }, user }])
    expect(body).toEqual({ user: shown, userId: '1', expires })
  })

  it.each([
    ['nothing', () => undefined],
    ['nothing, later', async () => undefined],
    ['the example of the docs', ({ session, user }: SessionMessage) => ({ ...session, user: { ...session.user, id: user?.id } })],
  ])('a session hook that answers %s hands no column of the user out', async (how, hook) => {
    const { client, auth, memory, clock } = await signedIn()
    await memory.updateUser({ id: '1', passwordHash: 'argon2' } as never)
    const seen: unknown[] = []
    auth.hook('session', ({ user }) => void seen.push(user))
    auth.hook('session', hook as never)
    const expires = new Date(clock.now() + 30 * day).toISOString()
    const plain = { user: { id: '1', name: 'Ann', email: 'ann@example.com' }, expires }
    const example = { ...plain, userId: '1' }
    expect(await client.session()).toEqual(how.startsWith('nothing') ? plain : example)
    expect(seen).toMatchObject([{ passwordHash: 'argon2' }])
  })

  it('columns of the session row reach the callback and the event, the token neither; what a handler adds without an answer stays', async () => {
    const { client, auth, memory } = await signedIn()
    await memory.updateSession({ sessionToken: client.cookies.get(name) ?? '', activeOrg: 'acme', impersonatedBy: null } as never)
    const told: object[] = []
    auth.on('session', ({ session }) => told.push(session))
    const takeBack = auth.hook('session', ({ session }) => void Object.assign(session, { theme: 'dark' }))
    expect(await client.session()).toMatchObject({ theme: 'dark' })
    expect(told[0]).not.toHaveProperty('activeOrg')
    takeBack()
    auth.hook('session', ({ session }) => session)
    expect(await client.session()).toMatchObject({ activeOrg: 'acme', impersonatedBy: null, userId: '1' })
    expect(told[1]).toMatchObject({ activeOrg: 'acme', user: { name: 'Ann' } })
    expect(JSON.stringify(told)).not.toContain('sessionToken')
  })

  it('row 110: the default shows id, name, email and image', async () => {
    const { client } = await signedIn()
    // The store knows no image, and what is not known is not there.
    expect((await client.session())?.user).toEqual({ id: '1', name: 'Ann', email: 'ann@example.com' })
  })

  it('rows 116, D46: an expired session is deleted at its very moment', async () => {
    const { client, clock, memory, calls } = await signedIn({ session: { maxAge: 60 } })
    const token = client.cookies.get(name) ?? ''
    clock.advance(59_999)
    expect(await client.session()).not.toBeNull()
    calls.length = 0
    clock.advance(1)
    expect(await client.session()).toBeNull()
    expect(calls).toEqual(['getSessionAndUser', 'deleteSession'])
    expect(await memory.getSessionAndUser(token)).toBeNull()
    expect(client.cookies.has(name)).toBe(false)
  })

  it('rows 117, 118, 125, 167: extended at most once per updateAge', async () => {
    const { client, clock, calls } = await signedIn()
    clock.advance(day - 1)
    await client.session()
    expect(calls).toEqual(['getSessionAndUser'])
    clock.advance(1)
    calls.length = 0
    const response = await client.get('/session')
    expect(calls).toEqual(['getSessionAndUser', 'updateSession'])
    const end = new Date(clock.now() + 30 * day)
    expect(await response.json()).toMatchObject({ expires: end.toISOString() })
    expect(response.headers.getSetCookie()[0]).toContain(`Expires=${end.toUTCString()}`)
  })

  it('a session that is ended just before it is extended is answered as signed out, and its cookie goes', async () => {
    const state = { ends: false }
    const { client, memory } = await signedIn({ session: { updateAge: 0 } }, (adapter) => ({
      ...adapter,
      async updateSession(change) {
        if (state.ends) await adapter.deleteSession!(change.sessionToken)
        return adapter.updateSession!(change)
      },
    }))
    const token = client.cookies.get(name)!
    expect(await client.session()).not.toBeNull()
    state.ends = true
    expect(await client.session()).toBeNull()
    expect([client.cookies.has(name), await memory.getSessionAndUser(token)]).toEqual([false, null])
  })

  it('an adapter that answers nothing to an extension extends all the same', async () => {
    const { client } = await signedIn({ session: { updateAge: 0 } }, (adapter) => ({
      ...adapter,
      updateSession: async (change) => void (await adapter.updateSession!(change)),
    }))
    expect(await client.session()).not.toBeNull()
    expect(client.cookies.has(name)).toBe(true)
  })

  it('row 119: updateAge 0 extends on every access', async () => {
    const { client, calls } = await signedIn({ session: { updateAge: 0 } })
    await client.session()
    await client.session()
    expect(calls).toEqual(['getSessionAndUser', 'updateSession', 'getSessionAndUser', 'updateSession'])
  })

  it('row 120: an unknown token is deleted and null', async () => {
    const { client } = await signedIn()
    client.cookies.set(name, 'nobody')
    expect(await client.session()).toBeNull()
    expect(client.cookies.has(name)).toBe(false)
  })

  it('rows 121, D38: a failing store is not a sign-out', async () => {
    const failing = (adapter: Adapter): Adapter => ({
      ...adapter,
      getSessionAndUser: () => Promise.reject(new Error('ECONNREFUSED db.internal')),
    })
    const { client, auth, options } = await signedIn({}, failing)
    const response = await client.get('/session')
    expect([response.status, await response.json()]).toEqual([503, null])
    expect(client.cookies.has(name)).toBe(true)
    expect(options.logger.errors.map((error) => error.name)).toEqual(['SessionTokenError'])
    const request = new Request('http://localhost:3000', { headers: { cookie: client.cookieHeader() } })
    await expect(auth.session(request)).rejects.toMatchObject({ name: 'SessionTokenError' })
    const lenient = await signedIn({ sessionOnError: 'null' }, failing)
    expect(await lenient.client.session()).toBeNull()
    expect(lenient.client.cookies.has(name)).toBe(true)
    expect(lenient.options.logger.errors.map((error) => error.name)).toEqual(['SessionTokenError'])
  })

  it('D51: auth.session extends nothing', async () => {
    const { client, auth, clock, calls } = await signedIn()
    clock.advance(2 * day)
    await auth.session(new Request('http://localhost:3000', { headers: { cookie: client.cookieHeader() } }))
    expect(calls).toEqual(['getSessionAndUser'])
  })

  it('D45: a sign-in gives a fresh token and ends the former session', async () => {
    const { client, memory } = await signedIn()
    const former = client.cookies.get(name) ?? ''
    await client.post('/callback/credentials')
    expect(client.cookies.get(name)).not.toBe(former)
    expect(await memory.getSessionAndUser(former)).toBeNull()
  })

  it('a planted token does not become a session (fixation)', async () => {
    const { auth, memory } = await signedIn()
    const victim = new Client(auth)
    victim.cookies.set(name, 'planted')
    await victim.post('/callback/credentials')
    expect(victim.cookies.get(name)).not.toBe('planted')
    expect(await memory.getSessionAndUser('planted')).toBeNull()
  })

  it('rows 149, 168, 263: sign-out deletes the row and tells what was deleted', async () => {
    const told: { session?: object | null }[] = []
    const { client, memory } = await signedIn({ events: { signOut: (message) => void told.push(message as never) } })
    const token = client.cookies.get(name) ?? ''
    await client.post('/signout')
    expect(await memory.getSessionAndUser(token)).toBeNull()
    expect(told[0]?.session).toMatchObject({ sessionToken: token, userId: '1' })
  })

  it('rows 264, D38: a sign-out that could not delete says so; the cookie goes', async () => {
    const { client, options } = await signedIn({}, (adapter) => ({ ...adapter, deleteSession: () => Promise.reject(new Error('down')) }))
    const response = await client.post('/signout')
    expect(response.headers.get('location')).toBe('http://localhost:3000/auth/error?error=Configuration')
    expect(client.cookies.has(name)).toBe(false)
    expect(options.logger.errors.map((error) => error.name)).toEqual(['SignOutError'])
  })

  it('D37: absoluteMaxAge caps, and is refused for adapters that keep no createdAt', async () => {
    const { client, clock } = await signedIn({ session: { maxAge: 3600, updateAge: 0, absoluteMaxAge: 5000 } })
    clock.advance(3_000_000)
    expect(await client.session()).not.toBeNull()
    clock.advance(2_000_000)
    expect(await client.session()).toBeNull()
    const { keepsCreatedAt: _, ...plain } = memoryAdapter()
    const refused = createAuth(baseConfig({ adapter: plain, session: { absoluteMaxAge: 5000 } }))
    await expect(refused.ready()).rejects.toThrow('keeps `createdAt`')
  })

  it('D52: credentials of a user that is not stored are refused with the reason', async () => {
    const { client, options, memory } = await signedIn()
    await memory.deleteUser('1')
    expect((await client.post('/callback/credentials')).headers.get('location')).toContain('/error?error=Configuration')
    expect(options.logger.errors[0]?.message).toContain('returned a user that is not stored')
  })

  it('rows 159, 160: what the strategy needs is demanded at compile', async () => {
    const { updateSession: _, ...lacking } = memoryAdapter()
    await expect(createAuth(baseConfig({ adapter: lacking })).ready()).rejects.toThrow('operations that the adapter lacks: updateSession')
  })
})
