/**
 * callbacks and events with the inputs, triggers and order of the protocol and D44, given as options, by `auth.hook` / `auth.on`
 * and by a plugin, all at once. `_world.ts` checks for every single question that all three hands were asked, in order, and alike.
 */
import { describe, expect, it } from 'vitest'
import { createWorld, type World } from './_world.ts'

const ok = 'http://localhost:3000'
const sessionCookie = 'authkernel.session-token'
const uuid = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/) as string
const profileUser = { id: uuid, name: 'Ann', email: 'ann@example.com', image: 'https://img.example/a.png' }
const stored = { ...profileUser, emailVerified: null }
const tokens = {
  access_token: expect.stringMatching(/^at-/) as string,
  refresh_token: expect.stringMatching(/^rt-/) as string,
  id_token: expect.stringMatching(/^eyJ/) as string,
  token_type: 'bearer',
  expires_in: 3600,
  expires_at: expect.any(Number) as number,
  scope: 'openid profile email',
}
const key = { provider: 'oidc', providerAccountId: 'ann-at-op', type: 'oidc' }
const account = { ...tokens, ...key }
const { expires_in: _, ...subset } = account
const claims = expect.objectContaining({ sub: 'ann-at-op', email: 'Ann@Example.com', iss: 'https://op.example' }) as object

/** From the provider back to us, recorded. */
const come = async (world: World, provider = 'oidc', fields = {}) => {
  const back = await world.toProvider(provider, fields)
  return world.during(() => world.client.get(back))
}
const post = async (world: World, path: string, fields: Record<string, string> = {}) => {
  const csrfToken = await world.client.csrfToken()
  return world.during(() => world.client.send(path, { method: 'POST', body: new URLSearchParams({ csrfToken, ...fields }) }))
}
const to = ({ response }: { response: Response }) => response.headers.get('location')

describe('oauth and oidc', () => {
  it('rows 131, 136, 145, 147, 151, 163, 165: 9.1, a new user under the database strategy', async () => {
    const world = createWorld('database')
    const { response, seen } = await come(world, 'oidc', { callbackUrl: '/inbox' })
    expect(seen).toEqual([
      'cb.redirect',
      'ad.getUserByAccount',
      'cb.signIn',
      'ad.getUserByEmail',
      'ad.createUser',
      'ad.linkAccount',
      'ev.createUser',
      'ev.linkAccount',
      'ad.createSession',
      'ev.signIn',
    ])
    expect(response.headers.get('location')).toBe(`${ok}/inbox`)
    expect(world.messages('cb.redirect')).toEqual([{ url: `${ok}/inbox`, baseUrl: ok }])
    expect(world.messages('ad.getUserByAccount')).toEqual([{ provider: 'oidc', providerAccountId: 'ann-at-op' }])
    expect(world.messages('cb.signIn')).toEqual([{ user: profileUser, account, profile: claims }])
    expect(world.messages('ad.createUser')).toEqual([stored])
    const { id } = (world.messages('ad.createUser') as [{ id: string }])[0]
    expect(world.messages('ad.linkAccount')).toEqual([{ ...subset, userId: id }])
    expect(world.messages('ev.createUser')).toEqual([{ user: { ...stored, id } }])
    expect(world.messages('ev.linkAccount')).toEqual([{ user: { ...stored, id }, account: subset, profile: profileUser }])
    expect(world.messages('ad.createSession')).toEqual([
      {
        sessionToken: uuid,
        userId: id,
        expires: new Date(world.options.runtime.now() + 2_592_000_000),
        createdAt: new Date(world.options.runtime.now()),
      },
    ])
    expect(world.messages('ev.signIn')).toEqual([{ user: { ...stored, id }, account, profile: claims, isNewUser: true }])
  })

  it('D32: with a transaction the two writes are one call, and the events stay', async () => {
    const world = createWorld('database', 'whole')
    const { seen } = await come(world)
    expect(seen.slice(3)).toEqual([
      'ad.getUserByEmail',
      'ad.createUserWithAccount',
      'ev.createUser',
      'ev.linkAccount',
      'ad.createSession',
      'ev.signIn',
    ])
    expect(world.messages('ad.createUserWithAccount')).toEqual([[stored, subset]])
  })

  it('rows 131, 133: 9.2, the same under the jwt strategy', async () => {
    const world = createWorld('jwt')
    const { seen } = await come(world)
    expect(seen).toEqual([
      'cb.redirect',
      'ad.getUserByAccount',
      'cb.signIn',
      'ad.getUserByEmail',
      'ad.createUser',
      'ad.linkAccount',
      'ev.createUser',
      'ev.linkAccount',
      'cb.jwt',
      'ev.signIn',
    ])
    expect(world.messages('cb.jwt')).toEqual([
      {
        token: { name: 'Ann', email: 'ann@example.com', picture: 'https://img.example/a.png', sub: uuid },
        user: stored,
        account,
        profile: claims,
        isNewUser: true,
        trigger: 'signUp',
      },
    ])
  })

  it.each(['oidc', 'oauth'])('row 131: 9.2 without an adapter, %s', async (provider) => {
    const world = createWorld('jwt', 'none')
    const { seen } = await come(world, provider)
    expect(seen).toEqual(['cb.redirect', 'cb.signIn', 'cb.jwt', 'ev.signIn'])
    const full = { ...account, provider, type: provider }
    const profile = provider === 'oidc' ? claims : world.op.person
    expect(world.messages('cb.signIn')).toEqual([{ user: profileUser, account: full, profile }])
    expect(world.messages('cb.jwt')).toEqual([
      {
        token: { name: 'Ann', email: 'ann@example.com', picture: 'https://img.example/a.png', sub: uuid },
        user: profileUser,
        account: full,
        profile,
        isNewUser: undefined,
        trigger: 'signIn',
      },
    ])
    const [event] = world.messages('ev.signIn') as [object]
    expect(event).toEqual({ user: profileUser, account: full, profile, isNewUser: undefined })
    expect(event).toHaveProperty('isNewUser')
  })

  it('rows 140, 133: 9.3, returning: the stored user is asked about, once read', async () => {
    for (const strategy of ['database', 'jwt'] as const) {
      const world = createWorld(strategy)
      await come(world)
      world.client.cookies.delete(sessionCookie)
      world.op.person = { ...world.op.person, name: 'Ann at the provider' }
      const { seen } = await come(world)
      expect(seen).toEqual([
        'cb.redirect',
        'ad.getUserByAccount',
        'cb.signIn',
        strategy === 'jwt' ? 'cb.jwt' : 'ad.createSession',
        'ev.signIn',
      ])
      expect(world.messages('cb.signIn')).toMatchObject([{ user: { name: 'Ann', emailVerified: null } }])
      expect(world.messages('ev.signIn')).toMatchObject([{ user: { name: 'Ann' }, isNewUser: false }])
      if (strategy === 'jwt') expect(world.messages('cb.jwt')).toMatchObject([{ trigger: 'signIn', isNewUser: false }])
    }
  })

  it('row 202: 9.4, linking while signed in keeps the session', async () => {
    const world = createWorld('database')
    await come(world)
    const token = world.client.cookies.get(sessionCookie)
    world.op.person = { ...world.op.person, sub: 'ann-elsewhere' }
    const linking = await come(world, 'oauth')
    expect(linking.seen).toEqual([
      'cb.redirect',
      'ad.getUserByAccount',
      'cb.signIn',
      'ad.getSessionAndUser',
      // With a provider of passkeys only: was the address typed?
      'ad.listAuthenticatorsByUserId',
      'ad.linkAccount',
      'ev.linkAccount',
      'ev.signIn',
    ])
    expect(world.client.cookies.get(sessionCookie)).toBe(token)
    expect(linking.response.headers.getSetCookie().some((line) => line.startsWith(`${sessionCookie}=`))).toBe(true)
    expect(world.messages('ev.signIn')).toMatchObject([{ user: { name: 'Ann' }, account: { provider: 'oauth' }, isNewUser: false }])
    // Coming again with it is a sign-in: a new token, and the former session ends in the same request.
    const again = await come(world, 'oauth')
    expect(again.seen).toEqual([
      'cb.redirect',
      'ad.getUserByAccount',
      'cb.signIn',
      'ad.getSessionAndUser',
      'ad.createSession',
      'ad.deleteSession',
      'ev.signIn',
    ])
    expect(world.client.cookies.get(sessionCookie)).not.toBe(token)
  })

  it('row 202: 9.4 under the jwt strategy decodes, reads the user and asks jwt again', async () => {
    const world = createWorld('jwt')
    await come(world)
    world.op.person = { ...world.op.person, sub: 'ann-elsewhere' }
    const { seen } = await come(world, 'oauth')
    expect(seen).toEqual([
      'cb.redirect',
      'ad.getUserByAccount',
      'cb.signIn',
      'ad.getUser',
      'ad.listAuthenticatorsByUserId',
      'ad.linkAccount',
      'ev.linkAccount',
      'cb.jwt',
      'ev.signIn',
    ])
    expect(world.messages('cb.jwt')).toMatchObject([{ trigger: 'signIn', account: { provider: 'oauth' } }])
  })

  it('row 201: 9.4, the account of another user', async () => {
    const world = createWorld('database')
    await come(world)
    await world.client.post('/signout')
    world.op.person = { sub: 'bob', name: 'Bob', email: 'bob@example.com' }
    await come(world)
    world.op.person = { sub: 'ann-at-op', name: 'Ann', email: 'ann@example.com' }
    const { response, seen } = await come(world)
    expect(seen).toEqual(['cb.redirect', 'ad.getUserByAccount', 'cb.signIn', 'ad.getSessionAndUser', 'ev.signInFailed'])
    expect(response.headers.get('location')).toBe(`${ok}/auth/signin?error=OAuthAccountNotLinked`)
    expect(world.messages('ev.signInFailed')).toMatchObject([{ provider: 'oidc', error: 'OAuthAccountNotLinked', user: { name: 'Ann' } }])
    expect(await world.client.session()).toMatchObject({ user: { name: 'Bob' } })
  })

  it('row 200: 9.5, the same address and no user signed in', async () => {
    const world = createWorld('database')
    await come(world)
    world.client.cookies.delete(sessionCookie)
    const { response, seen } = await come(world, 'oauth')
    // The address is taken: the account is looked for once more, because the user may be half a second old (D32).
    expect([...new Set(seen)]).toEqual(['cb.redirect', 'ad.getUserByAccount', 'cb.signIn', 'ad.getUserByEmail', 'ev.signInFailed'])
    expect(response.headers.get('location')).toBe(`${ok}/auth/signin?error=OAuthAccountNotLinked`)
    expect(world.client.cookies.has(sessionCookie)).toBe(false)
  })

  it('rows 155, 200: 9.6, allowDangerousEmailAccountLinking tells no createUser', async () => {
    const world = createWorld('database')
    await come(world)
    world.client.cookies.delete(sessionCookie)
    world.op.person = { ...world.op.person, sub: 'elsewhere' }
    const { seen } = await come(world, 'trusting')
    expect(seen.filter((name) => !name.startsWith('ad.get'))).toEqual([
      'cb.redirect',
      'cb.signIn',
      // Are there passkeys that another person registered for this address before it was proven? (GHSA-g38m-r43w-p2q7)
      'ad.listAuthenticatorsByUserId',
      'ad.listAccountsByUserId',
      'ad.linkAccount',
      'ev.linkAccount',
      'ad.createSession',
      'ev.signIn',
    ])
    expect(world.messages('ev.signIn')).toMatchObject([{ isNewUser: false }])
  })
})

describe('email', () => {
  const ask = (world: World, email = 'Ann@Example.com') => post(world, '/signin/mail', { email, callbackUrl: '/inbox' })
  const click = (world: World) => world.during(() => world.client.get(world.mails.at(-1)?.url ?? ''))

  it('rows 136, 212, 220: 9.7, asking for a link', async () => {
    const world = createWorld('database')
    const asked = await ask(world)
    expect(asked.seen).toEqual(['cb.redirect', 'ad.getUserByEmail', 'cb.signIn', 'ad.createVerificationToken'])
    expect(to(asked)).toBe(`${ok}/auth/verify-request?provider=mail&type=email`)
    expect(world.messages('cb.signIn')).toEqual([
      {
        user: { id: uuid, email: 'ann@example.com', emailVerified: null },
        account: { provider: 'mail', providerAccountId: 'ann@example.com', type: 'email', userId: uuid },
        email: { verificationRequest: true },
      },
    ])
    const [token] = world.messages('ad.createVerificationToken') as [{ token: string }]
    expect(token).toEqual({
      identifier: 'ann@example.com',
      token: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      expires: new Date(world.options.runtime.now() + 600_000),
    })
    expect(token.token).not.toBe(world.mails[0]?.token)
  })

  it.each(['database', 'jwt'] as const)('rows 136, 152: 9.8, a new user under the %s strategy', async (strategy) => {
    const world = createWorld(strategy)
    await ask(world)
    const clicked = await click(world)
    expect(clicked.seen).toEqual([
      'cb.redirect',
      'ad.useVerificationToken',
      'ad.getUserByEmail',
      'cb.signIn',
      'ad.createUser',
      'ev.createUser',
      strategy === 'jwt' ? 'cb.jwt' : 'ad.createSession',
      'ev.signIn',
    ])
    expect(to(clicked)).toBe(`${ok}/inbox`)
    const user = { id: uuid, email: 'ann@example.com', emailVerified: new Date(world.options.runtime.now()) }
    const emailAccount = { provider: 'mail', providerAccountId: 'ann@example.com', type: 'email', userId: uuid }
    expect(world.messages('cb.signIn')).toEqual([{ user: { ...user, emailVerified: null }, account: emailAccount }])
    expect(world.messages('ev.createUser')).toEqual([{ user }])
    expect(world.messages('ev.signIn')).toEqual([{ user, account: emailAccount, isNewUser: true }])
    if (strategy === 'jwt')
      expect(world.messages('cb.jwt')).toEqual([
        { token: { email: 'ann@example.com', sub: uuid }, user, account: emailAccount, isNewUser: true, trigger: 'signUp' },
      ])
  })

  it('rows 153, 223: 9.8, a known user: verified at the first click, untouched at the second', async () => {
    const world = createWorld('database')
    await come(world)
    world.client.cookies.delete(sessionCookie)
    await ask(world)
    const first = await click(world)
    expect(first.seen).toEqual([
      'cb.redirect',
      'ad.useVerificationToken',
      'ad.getUserByEmail',
      'cb.signIn',
      // As in 9.6, with a provider of passkeys only.
      'ad.listAuthenticatorsByUserId',
      'ad.listAccountsByUserId',
      'ad.updateUser',
      'ev.updateUser',
      'ad.createSession',
      'ev.signIn',
    ])
    expect(world.messages('ad.updateUser')).toEqual([{ id: uuid, emailVerified: new Date(world.options.runtime.now()) }])
    expect(world.messages('ev.updateUser')).toMatchObject([{ user: { name: 'Ann', emailVerified: new Date(world.options.runtime.now()) } }])
    world.client.cookies.delete(sessionCookie)
    await ask(world)
    expect((await click(world)).seen).toEqual([
      'cb.redirect',
      'ad.useVerificationToken',
      'ad.getUserByEmail',
      'cb.signIn',
      'ad.createSession',
      'ev.signIn',
    ])
  })

  it('row 224: 9.8, the database session of another user ends', async () => {
    const world = createWorld('database')
    world.op.person = { sub: 'bob', name: 'Bob', email: 'bob@example.com' }
    await come(world)
    const former = world.client.cookies.get(sessionCookie)
    await ask(world)
    const { seen } = await click(world)
    expect(seen).toEqual([
      'cb.redirect',
      'ad.useVerificationToken',
      'ad.getUserByEmail',
      'cb.signIn',
      'ad.getSessionAndUser',
      'ad.createUser',
      'ev.createUser',
      'ad.createSession',
      'ad.deleteSession',
      'ev.signIn',
    ])
    expect(world.messages('ad.deleteSession')).toEqual([former])
  })

  it('row 222: a link that was used tells signInFailed and asks no guard', async () => {
    const world = createWorld('database')
    await ask(world)
    await click(world)
    const again = await click(world)
    expect(again.seen).toEqual(['cb.redirect', 'ad.useVerificationToken', 'ev.signInFailed'])
    expect(to(again)).toBe(`${ok}/auth/error?error=Verification`)
  })
})

describe('credentials', () => {
  const right = { username: 'pat', password: 'right' }
  const user = { id: 'u-pat', name: 'Pat', email: 'pat@example.com', role: 'admin' }
  const own = { provider: 'password', providerAccountId: 'u-pat', type: 'credentials' }

  it.each(['none', 'split'] as const)(
    'rows 136, 148, 237, 241: authorize, signIn, jwt, signIn event, and no adapter call (%s store)',
    async (store) => {
      const world = createWorld('jwt', store)
      const { seen } = await post(world, '/callback/password', right)
      expect(seen).toEqual(['cb.redirect', 'authorize', 'cb.signIn', 'cb.jwt', 'ev.signIn'])
      const body = { csrfToken: expect.any(String) as string, ...right }
      expect(world.messages('authorize')).toEqual([body])
      expect(world.messages('cb.signIn')).toEqual([{ user, account: own, credentials: body }])
      expect(world.messages('cb.jwt')).toEqual([
        { token: { name: 'Pat', email: 'pat@example.com', sub: 'u-pat' }, user, account: own, isNewUser: false, trigger: 'signIn' },
      ])
      expect(world.messages('ev.signIn')).toEqual([{ user, account: own }])
      expect((world.messages('ev.signIn') as [object])[0]).not.toHaveProperty('isNewUser')
    },
  )

  it('rows 238, 239, 241, D14, D52: under the database strategy the user is read and a session made', async () => {
    const world = createWorld('database')
    world.data.users.set('u-pat', { id: 'u-pat', name: 'Pat', email: 'pat@example.com', emailVerified: null })
    const { seen } = await post(world, '/callback/password', right)
    expect(seen).toEqual(['cb.redirect', 'authorize', 'cb.signIn', 'ad.getUser', 'ad.createSession', 'ev.signIn'])
    expect(world.messages('ev.signIn')).toEqual([{ user, account: own }])
  })

  it('rows 157, 233: wrong ones tell signInFailed alone', async () => {
    const world = createWorld('jwt', 'none')
    const { seen } = await post(world, '/callback/password', { username: 'pat', password: 'wrong' })
    expect(seen).toEqual(['cb.redirect', 'authorize', 'ev.signInFailed'])
    expect(world.messages('ev.signInFailed')).toEqual([{ provider: 'password', error: 'CredentialsSignin', tried: 'pat' }])
  })
})

describe('sessions', () => {
  it('rows 111, 122, 123, 134, 146, 156: 9.12, a read under the jwt strategy', async () => {
    const world = createWorld('jwt', 'none')
    await come(world)
    const { response, seen } = await world.during(() => world.client.get('/session'))
    expect(seen).toEqual(['cb.jwt', 'cb.session', 'ev.session'])
    const token = { name: 'Ann', email: 'ann@example.com', picture: 'https://img.example/a.png', sub: uuid }
    const full = { ...token, iat: expect.any(Number) as number, exp: expect.any(Number) as number, jti: uuid }
    expect(world.messages('cb.jwt')).toEqual([{ token: full }])
    expect((world.messages('cb.jwt') as [object])[0]).not.toHaveProperty('trigger')
    const session = {
      user: { id: uuid, name: 'Ann', email: 'ann@example.com', image: 'https://img.example/a.png' },
      expires: new Date(world.options.runtime.now() + 2_592_000_000).toISOString(),
    }
    expect(world.messages('cb.session')).toEqual([{ session, token: full }])
    expect(world.messages('ev.session')).toEqual([{ session, token: full }])
    expect(await response.json()).toEqual(session)
    const request = new Request(ok, { headers: { cookie: world.client.cookieHeader() } })
    const lookup = await world.during(async () => Response.json(await world.auth.session(request)))
    expect(lookup.seen).toEqual(seen)
  })

  it('rows 123, 126: 9.13, an update under the jwt strategy', async () => {
    const world = createWorld('jwt', 'none')
    await come(world)
    const csrfToken = await world.client.csrfToken()
    const body = JSON.stringify({ csrfToken, data: { theme: 'dark' } })
    const { seen } = await world.during(() =>
      world.client.send('/session', { method: 'POST', body, headers: { 'content-type': 'application/json' } }),
    )
    expect(seen).toEqual(['cb.jwt', 'cb.session', 'ev.session'])
    expect(world.messages('cb.jwt')).toMatchObject([{ trigger: 'update', session: { theme: 'dark' } }])
    // Row 123: the session callback hears of it too.
    expect(world.messages('cb.session')).toMatchObject([{ trigger: 'update', newSession: { theme: 'dark' } }])
  })

  it('rows 119, 123, 146, 156: 9.14, a read and an update under the database strategy', async () => {
    const world = createWorld('database')
    await come(world)
    const { seen } = await world.during(() => world.client.get('/session'))
    expect(seen).toEqual(['ad.getSessionAndUser', 'ad.updateSession', 'cb.session', 'ev.session'])
    const expires = new Date(world.options.runtime.now() + 2_592_000_000).toISOString()
    const { name, email, image } = stored
    expect(world.messages('cb.session')).toEqual([
      { session: { user: { id: uuid, name, email, image }, userId: uuid, expires }, user: stored },
    ])
    const [event] = world.messages('ev.session') as [object]
    expect(event).not.toHaveProperty('token')
    expect(JSON.stringify(world.log.filter(({ what }) => what.includes('session')))).not.toContain(
      world.client.cookies.get(sessionCookie) ?? 'no cookie',
    )
    const update = await post(world, '/session', { data: 'dark' })
    expect(update.seen).toEqual(['ad.getSessionAndUser', 'ad.updateSession', 'cb.session', 'ev.session'])
    expect(world.messages('cb.session')).toMatchObject([{ trigger: 'update', newSession: 'dark' }])
  })

  it('row 116: 9.14, an expired session is deleted and no event is emitted', async () => {
    const world = createWorld('database')
    await come(world)
    world.options.runtime.advance(2_592_000_000)
    const { seen } = await world.during(() => world.client.get('/session'))
    expect(seen).toEqual(['ad.getSessionAndUser', 'ad.deleteSession'])
  })

  it('rows 142, 149: 9.15, sign-out', async () => {
    const jwt = createWorld('jwt', 'none')
    await come(jwt)
    expect((await post(jwt, '/signout', { callbackUrl: '/bye' })).seen).toEqual(['cb.redirect', 'ev.signOut'])
    expect(jwt.messages('ev.signOut')).toMatchObject([{ token: { sub: uuid, name: 'Ann' } }])
    const database = createWorld('database')
    await come(database)
    const token = database.client.cookies.get(sessionCookie)
    expect((await post(database, '/signout', { callbackUrl: '/bye' })).seen).toEqual(['cb.redirect', 'ad.deleteSession', 'ev.signOut'])
    expect(database.messages('ev.signOut')).toMatchObject([{ session: { sessionToken: token, userId: uuid } }])
    expect((await post(database, '/signout', { callbackUrl: '/bye' })).seen).toEqual(['cb.redirect'])
  })
})
