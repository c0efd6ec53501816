/** Rows, section G and H under the jwt strategy. */
import { describe, expect, it } from 'vitest'
import { type AuthConfig, createAuth } from 'authkernel'
import type { JwtMessage, Once } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { CompactEncrypt } from 'jose'
import { deriveKey } from '../kernel/_jose.ts'
import { defaultKeyInfo } from '../../src/keys/crypto.ts'
import { baseConfig, Client, secret } from '../_setup.ts'

const name = 'authkernel.session-token'
const ann = { id: '1', name: 'Ann', email: 'ann@example.com', image: 'https://a/i.png', role: 'admin' }
const providers = [{ id: 'credentials', name: 'Password', type: 'credentials' as const, authorize: () => ann }]
const make = (config: AuthConfig = {}) => {
  const options = baseConfig({ providers, ...config })
  const auth = createAuth(options)
  return { options, auth, client: new Client(auth), clock: options.runtime }
}
const signedIn = async (config: AuthConfig = {}) => {
  const made = make(config)
  await made.client.post('/callback/credentials')
  return made
}
const day = 86_400_000

describe('session of the jwt strategy', () => {
  it('rows 110, 132, 344, 363: name, email, image and expires, nothing else of the token', async () => {
    const { client, clock } = await signedIn({ callbacks: { jwt: ({ token }) => ({ ...token, secretThing: 1 }) } })
    expect(await client.session()).toEqual({
      user: { id: '1', name: 'Ann', email: 'ann@example.com', image: 'https://a/i.png' },
      expires: new Date(clock.now() + 30 * day).toISOString(),
    })
  })

  it('rows 131, 133, 134, 135, 148: inputs of the jwt callback', async () => {
    const seen: JwtMessage[] = []
    const { client } = await signedIn({
      callbacks: {
        jwt: (message) => {
          seen.push(structuredClone(message))
          return { ...message.token, role: message.user ? (message.user as typeof ann).role : message.token['role'] }
        },
        session: ({ session, token }) => ({ ...session, role: token?.['role'] }) as never,
      },
    })
    expect(seen[0]).toEqual({
      token: { name: 'Ann', email: 'ann@example.com', picture: 'https://a/i.png', sub: '1' },
      user: ann,
      account: { provider: 'credentials', providerAccountId: '1', type: 'credentials' },
      isNewUser: false,
      trigger: 'signIn',
    })
    expect(await client.session()).toMatchObject({ role: 'admin' })
    expect(Object.keys(seen[1] ?? {})).toEqual(['token'])
  })

  it('row 111: jwt, session, cookie, event', async () => {
    const order: string[] = []
    const { client } = await signedIn({
      session: { updateAge: 0 },
      callbacks: { jwt: ({ token }) => (order.push('jwt'), token), session: ({ session }) => (order.push('session'), session) },
      events: { session: ({ session, token }) => void order.push(`event ${session.user?.name} ${token?.sub}`) },
    })
    order.length = 0
    const response = await client.get('/session')
    expect(order).toEqual(['jwt', 'session', 'event Ann 1'])
    expect(response.headers.getSetCookie()[0]).toContain(name)
  })

  it('D5: the cookie is renewed only when it is old, changed, or updated', async () => {
    const renewed = async ({ client }: { client: Client }): Promise<boolean> =>
      (await client.get('/session')).headers.getSetCookie().some((line) => line.startsWith(name))
    const plain = await signedIn()
    expect(await renewed(plain)).toBe(false)
    plain.clock.advance(day - 1000)
    expect(await renewed(plain)).toBe(false)
    plain.clock.advance(1000)
    expect(await renewed(plain)).toBe(true)
    expect(await renewed(plain)).toBe(false)
    expect(await renewed(await signedIn({ session: { updateAge: 0 } }))).toBe(true)
    let seen = 0
    // Hosts change the token in place and return it.
    const inPlace = await signedIn({ callbacks: { jwt: ({ token }) => ((token['seen'] = seen++), token) } })
    expect(await renewed(inPlace)).toBe(true)
  })

  it('row 113: null from the jwt callback ends the session', async () => {
    const { client } = await signedIn({ callbacks: { jwt: ({ token, user }) => (user ? token : null) } })
    const response = await client.get('/session')
    expect(await response.json()).toBeNull()
    expect(client.cookies.has(name)).toBe(false)
  })

  it('null from the jwt callback at sign-in clears the cookie, and the flow goes on', async () => {
    const told: unknown[] = []
    const { client } = await signedIn({ callbacks: { jwt: () => null }, events: { signIn: (message) => void told.push(message) } })
    expect(client.cookies.has(name)).toBe(false)
    expect(told).toHaveLength(1)
  })

  it.each(['x', 'a.b.c.d.e', ''.padEnd(5000, 'a'), 'eyJhbGciOiJub25lIn0..'])(
    'row 114: the token %j is logged, deleted and null',
    async (value) => {
      const { client, options } = make()
      client.cookies.set(name, value)
      const response = await client.get('/session')
      expect([response.status, await response.json()]).toEqual([200, null])
      expect(options.logger.errors.map((error) => error.name)).toEqual(['JWTSessionError'])
      expect(client.cookies.has(name)).toBe(false)
    },
  )

  it('D46: the session ends at the moment it expires', async () => {
    const { client, clock } = await signedIn({ session: { maxAge: 60 } })
    clock.advance(59_999)
    expect(await client.session()).not.toBeNull()
    clock.advance(60_000)
    expect(await client.session()).toBeNull()
  })

  it('rows 126, 143, 368: POST /session updates through the callbacks', async () => {
    const seen: unknown[] = []
    const { client } = await signedIn({
      callbacks: {
        jwt: ({ token, trigger, session }) => {
          if (trigger !== 'update') return token
          seen.push(session)
          return { ...token, name: (session as { name: string }).name }
        },
        session: ({ session, newSession, trigger }) => (seen.push([newSession, trigger]), session),
      },
    })
    const csrfToken = await client.csrfToken()
    const response = await client.send('/session', {
      method: 'POST',
      body: JSON.stringify({ csrfToken, data: { name: 'Anna' } }),
      headers: { 'content-type': 'application/json' },
    })
    expect(await response.json()).toMatchObject({ user: { name: 'Anna' } })
    expect(seen).toEqual([{ name: 'Anna' }, [{ name: 'Anna' }, 'update']])
    expect(await client.session()).toMatchObject({ user: { name: 'Anna' } })
  })

  it('row 127: an update without a session is null', async () => {
    const { client } = make()
    const csrfToken = await client.csrfToken()
    const response = await client.send('/session', { method: 'POST', body: new URLSearchParams({ csrfToken }) })
    expect([response.status, await response.json()]).toEqual([200, null])
  })

  it('rows 122, 128, D51: a read without a response stores nothing', async () => {
    const { client, auth, clock } = await signedIn()
    clock.advance(2 * day)
    const request = new Request('http://localhost:3000', { headers: { cookie: client.cookieHeader() } })
    expect(await auth.session(request)).toMatchObject({ expires: new Date(clock.now() + 28 * day).toISOString() })
    const { session, headers } = await auth.read(request)
    expect(session).toMatchObject({ expires: new Date(clock.now() + 30 * day).toISOString() })
    expect(headers.getSetCookie()[0]).toContain(name)
  })

  it('rows 101, 102: custom encode and decode', async () => {
    const calls: object[] = []
    const { client, options } = await signedIn({
      jwt: {
        encode: (params) => (calls.push(params), btoa(JSON.stringify(params.token))),
        decode: ({ token }) => JSON.parse(atob(token ?? '')),
      },
    })
    expect(calls[0]).toMatchObject({ salt: name, secret: options.secret, maxAge: 2_592_000, token: { sub: '1' } })
    expect(await client.session()).toMatchObject({ user: { name: 'Ann' } })
  })

  it('row 99: a rotated secret keeps old sessions', async () => {
    const old = 'old-secret-'.repeat(4)
    const { client } = await signedIn({ secret: old })
    const rotated = new Client(createAuth(baseConfig({ providers, secret: ['new-secret-'.repeat(4), old] })))
    rotated.cookies.set(name, client.cookies.get(name) ?? '')
    expect(await rotated.session()).toMatchObject({ user: { name: 'Ann' } })
  })

  it('a token of an old secret is sealed anew at once, so that dropping the secret signs no user out', async () => {
    const [old, fresh] = ['old-secret-'.repeat(4), 'new-secret-'.repeat(4)]
    const { client } = await signedIn({ secret: old })
    const both = new Client(createAuth(baseConfig({ providers, secret: [fresh, old] })))
    both.cookies.set(name, client.cookies.get(name) ?? '')
    expect(await both.session()).toMatchObject({ user: { name: 'Ann' } })
    const renewed = both.cookies.get(name) ?? ''
    expect((await both.get('/session')).headers.getSetCookie()).toEqual([])
    const dropped = new Client(createAuth(baseConfig({ providers, secret: fresh })))
    dropped.cookies.set(name, renewed)
    expect(await dropped.session()).toMatchObject({ user: { name: 'Ann' } })
  })

  it('times that are no dates end no request: 1e999 in a sealed token is signed out, in one of the host the end is worked out', async () => {
    const { client } = await signedIn()
    const { raw, kid, enc } = await deriveKey(secret, name, defaultKeyInfo, 'A256CBC-HS512')
    for (const claims of ['{"name":"Ann","exp":1e999}', '{"name":"Ann","exp":1e17}', '{"name":"Ann","exp":9e9,"iat":-1e999}']) {
      const sealed = new CompactEncrypt(new TextEncoder().encode(claims)).setProtectedHeader({ alg: 'dir', enc, kid })
      client.cookies.set(name, await sealed.encrypt(raw))
      const response = await client.get('/session')
      expect([claims, response.status, await response.json()]).toEqual([claims, 200, null])
    }
    const own = make({ jwt: { decode: () => ({ name: 'Ann', exp: Infinity }), encode: () => 'own' } })
    own.client.cookies.set(name, 'own')
    expect(await own.client.session()).toMatchObject({ user: { name: 'Ann' }, expires: new Date(own.clock.now() + 30 * day).toISOString() })
  })

  it('D38: an update whose callback throws is an outage (503), logged as SessionTokenError', async () => {
    let fails = false
    const jwt = ({ token }: JwtMessage): JwtMessage['token'] => {
      if (fails) throw new Error('database is away')
      return token
    }
    const { client, options } = await signedIn({ callbacks: { jwt } })
    fails = true
    const response = await client.post('/session', { data: 'x' })
    expect([response.status, await response.json()]).toEqual([503, null])
    expect(options.logger.errors.map((error) => error.name)).toEqual(['SessionTokenError'])
    expect(client.cookies.has(name)).toBe(true)
  })

  it('a check cookie is no session (GHSA-v64w-49xw-qq89)', async () => {
    const { client, auth } = await signedIn()
    auth.hook(
      'request',
      async ({ ctx }) => ctx.setCookie('other', await ctx.seal('authkernel.state', { sub: '1', name: 'Mallory' }, 900)) as undefined,
    )
    await client.get('/session')
    client.cookies.set(name, client.cookies.get('other') ?? '')
    expect(await client.session()).toBeNull()
  })
})

describe('D37: absoluteMaxAge', () => {
  it('caps a session however often it is renewed, whatever the callback returns', async () => {
    const { client, clock } = await signedIn({
      session: { maxAge: 3600, updateAge: 0, absoluteMaxAge: 7200 },
      callbacks: { jwt: ({ token }) => ({ sub: token.sub ?? '' }) },
    })
    const end = new Date(clock.now() + 7_200_000).toISOString()
    for (let i = 0; i < 3; i++) {
      clock.advance(1_799_000)
      expect(await client.session()).not.toBeNull()
    }
    clock.advance(1_799_000)
    expect(await client.session()).toMatchObject({ expires: end })
    clock.advance(10_000)
    expect(await client.session()).toBeNull()
  })
})

describe('D58: revocable', () => {
  const shared = (): Once => {
    const used = new Set<string>()
    return { shared: true, take: (key) => !used.has(key) && (used.add(key), true), taken: (key) => used.has(key) }
  }

  it('is refused without a shared once', async () => {
    await expect(make({ session: { revocable: true } }).auth.ready()).rejects.toThrow('needs a service "once" that all processes share')
  })

  it('refuses a copied token after the sign-out, renewed or not', async () => {
    const options = baseConfig({ providers, session: { strategy: 'jwt', revocable: true, updateAge: 0 } })
    const auth = createAuth(options).use(adapterPlugin(memoryAdapter(), { once: shared() }))
    const client = new Client(auth)
    await client.post('/callback/credentials')
    const first = client.cookies.get(name) ?? ''
    options.runtime.advance(5000)
    await client.session()
    expect(client.cookies.get(name)).not.toBe(first)
    await client.post('/signout')
    for (const stolen of [first]) {
      client.cookies.set(name, stolen)
      expect(await client.session()).toBeNull()
    }
  })
})

describe('a sign-out while a session is read', () => {
  /** Signs out while the `session` callback of a read is under way: what the read answers, and its cookies. */
  const race = async (revocable: boolean, adapter = memoryAdapter()) => {
    let [reached, go] = [() => {}, () => {}]
    const reading = new Promise<void>((resolve) => (reached = resolve))
    const gate = new Promise<void>((resolve) => (go = resolve))
    let waits = false
    const options = baseConfig({ providers, session: { strategy: 'jwt', updateAge: 0, ...(revocable && { revocable }) } })
    const auth = createAuth(options).use(adapterPlugin(adapter))
    auth.hook('session', async ({ session }) => {
      if (waits) {
        waits = false
        reached()
        await gate
      }
      return session
    })
    const client = new Client(auth)
    await client.post('/callback/credentials')
    options.runtime.advance(5000)
    const cookie = client.cookieHeader()
    waits = true
    const late = auth.handler(new Request('http://localhost:3000/auth/session', { headers: { cookie } }))
    await reading
    await client.post('/signout')
    go()
    const answer = await late
    const [sealed = ''] = answer.headers.getSetCookie().filter((text) => text.startsWith(`${name}=`))
    const value = sealed.slice(name.length + 1, sealed.indexOf(';'))
    client.cookies.set(name, value)
    return { body: await answer.json(), value, after: await client.session() }
  }
  const used = new Set<string>()
  const once: Once = { shared: true, take: (key) => !used.has(key) && (used.add(key), true), taken: (key) => used.has(key) }

  it.each([
    ['records', memoryAdapter()],
    ['a shared once alone', { ...memoryAdapter(), once, records: undefined } as unknown as ReturnType<typeof memoryAdapter>],
  ])('revocable with %s: the read renews nothing', async (_by, adapter) => {
    expect(await race(true, adapter)).toEqual({ body: null, value: '', after: null })
  })

  // docs/security.md says so: nothing on the server knows that the session has ended.
  it('without `revocable` the late answer carries a session, as a copied cookie would', async () => {
    const { value, after } = await race(false)
    expect([value !== '', after]).toEqual([true, expect.objectContaining({ user: expect.anything() as unknown })])
  })
})

describe('tokens from before `revocable` was switched on', () => {
  it('are valid until their sign-out, and signed out after it: the copy, the renewed one, and one without any id', async () => {
    const used = new Set<string>()
    const once: Once = { shared: true, take: (key) => !used.has(key) && (used.add(key), true), taken: (key) => used.has(key) }
    const before = await signedIn()
    const [copy, other] = [before.client.cookies.get(name) ?? '', (await signedIn()).client.cookies.get(name) ?? '']
    const options = baseConfig({ providers, session: { strategy: 'jwt', revocable: true, updateAge: 0 } })
    const client = new Client(createAuth(options).use(adapterPlugin(memoryAdapter(), { once })))
    client.cookies.set(name, copy)
    expect(await client.session()).not.toBeNull()
    const renewed = client.cookies.get(name) ?? ''
    expect(renewed).not.toBe(copy)
    await client.post('/signout')
    for (const token of [copy, renewed]) {
      client.cookies.set(name, token)
      expect(await client.session()).toBeNull()
    }
    client.cookies.set(name, other)
    expect(await client.session()).not.toBeNull()

    const jwt: AuthConfig['jwt'] = {
      encode: ({ token }) => btoa(JSON.stringify({ name: token?.name })),
      decode: ({ token }) => JSON.parse(atob(token ?? '')),
    }
    const own = new Client(
      createAuth({ ...options, jwt, session: { strategy: 'jwt', revocable: true } }).use(adapterPlugin(memoryAdapter(), { once })),
    )
    const set = (who: string): unknown => own.cookies.set(name, btoa(JSON.stringify({ name: who })))
    set('Ann')
    expect(await own.session()).not.toBeNull()
    await own.post('/signout')
    set('Ann')
    expect(await own.session()).toBeNull()
    set('Bob')
    expect(await own.session()).not.toBeNull()
  })
})

describe('sign-out', () => {
  it('rows 149, 261, 263: the event gets the token', async () => {
    const told: unknown[] = []
    const { client } = await signedIn({ events: { signOut: (message) => void told.push(message) } })
    const response = await client.post('/signout', { callbackUrl: '/bye' })
    expect(response.headers.get('location')).toBe('http://localhost:3000/bye')
    expect(told).toEqual([{ token: expect.objectContaining({ sub: '1', name: 'Ann' }) as object }])
    expect(client.cookies.has(name)).toBe(false)
  })

  it('row 262: without a session it only redirects', async () => {
    const told: unknown[] = []
    const { client } = make({ events: { signOut: (message) => void told.push(message) } })
    expect((await client.post('/signout')).headers.get('location')).toBe('http://localhost:3000')
    expect(told).toEqual([])
  })

  it('row 265: a plugin may send on to the provider', async () => {
    const { client, auth } = await signedIn()
    auth.hook('signOut', () => 'https://op.example/end_session')
    expect((await client.post('/signout')).headers.get('location')).toBe('https://op.example/end_session')
  })

  it('row 150: a failing event handler breaks nothing', async () => {
    const { client, options } = await signedIn({
      events: {
        signIn: () => {
          throw new Error('listener')
        },
      },
    })
    expect(await client.session()).not.toBeNull()
    expect(options.logger.errors.map(({ name }) => name)).toEqual(['EventError'])
  })
})
