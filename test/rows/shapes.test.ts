/** Rows 338, 339, 345 to 350, 357, 359, 360, 379: data shapes, as types that the compiler checks and as values that pass through a sign-in. */
import { describe, expect, expectTypeOf, it } from 'vitest'
import {
  type Account,
  createAuth,
  type JWT,
  type Profile,
  type ProviderType,
  type RedirectableProviderType,
  type Session,
  type TokenSet,
  type User,
} from 'authkernel'
import { decode, encode, getToken } from 'authkernel/jwt'
import { baseConfig, Client, secret } from '../_setup.ts'
import { createWorld } from './_world.ts'

const ok = 'http://localhost:3000'

// Row 339: what a host adds to the shapes.
declare module 'authkernel' {
  interface Session {
    tenant?: string
  }
  interface JWT {
    tenant?: string
  }
  interface User {
    tenantOf?: string
  }
}

describe('shapes', () => {
  it('row 345: User: four optional fields, three of them nullable', () => {
    expectTypeOf<Pick<User, 'id' | 'name' | 'email' | 'image'>>().toEqualTypeOf<{
      id?: string
      name?: string | null
      email?: string | null
      image?: string | null
    }>()
    expectTypeOf<object>().toExtend<User>()
  })

  it('row 344: Session: expires is a text and required, user is not', () => {
    expectTypeOf<Session['expires']>().toEqualTypeOf<string>()
    expectTypeOf<{ expires: string }>().toExtend<Session>()
    expectTypeOf<object>().not.toExtend<Session>()
  })

  it('rows 346, 347, 338: Profile: named claims nullable, any other unknown', () => {
    const named = {
      address: { country: null, formatted: 'x', locality: null, postal_code: null, region: null, street_address: null },
      birthdate: null,
      email: null,
      email_verified: null,
      family_name: null,
      gender: null,
      given_name: null,
      id: null,
      locale: null,
      middle_name: null,
      name: null,
      nickname: null,
      phone_number: null,
      picture: { any: 'thing' },
      preferred_username: null,
      profile: null,
      sub: null,
      updated_at: null,
      website: null,
      zoneinfo: null,
    } satisfies Profile
    expect(Object.keys(named)).toHaveLength(20)
    expectTypeOf<Profile['updated_at']>().toEqualTypeOf<string | number | Date | null | undefined>()
    expectTypeOf<Profile['of_their_own']>().toEqualTypeOf<unknown>()
    const nothing: Profile = {}
    expect(nothing).toEqual({})
  })

  it('rows 348, 349: Account: three fields required, those of the token answer read-only', () => {
    expectTypeOf<{ provider: string; providerAccountId: string; type: 'oidc' }>().toExtend<Account>()
    expectTypeOf<{ provider: string; type: 'oidc' }>().not.toExtend<Account>()
    expectTypeOf<Account['userId']>().toEqualTypeOf<string | undefined>()
    const account: Account = { provider: 'a', providerAccountId: '1', type: 'oauth', access_token: 'x', expires_in: 1 }
    type Writable<T> = { -readonly [K in keyof T]: T[K] }
    type Named = Pick<TokenSet, 'access_token' | 'authorization_details' | 'expires_in' | 'id_token' | 'refresh_token' | 'scope'>
    expectTypeOf<Named>().not.toEqualTypeOf<Writable<Named>>()
    expectTypeOf<Pick<TokenSet, 'expires_at'>>().toEqualTypeOf<{ expires_at?: number }>()
    expectTypeOf<Account['token_type']>().toEqualTypeOf<Lowercase<string> | undefined>()
    expect(account.expires_in).toBe(1)
  })

  it('row 357: JWT: seven optional fields, keys of the host beside them', () => {
    const nothing: JWT = {}
    expect(nothing).toEqual({})
    const token = { sub: '1', name: null, email: null, picture: null, iat: 1, exp: 2, jti: 'x', roles: ['admin'] } satisfies JWT
    expect(token.roles).toEqual(['admin'])
  })

  it('rows 359, 360: provider types, and those that may be asked not to redirect', () => {
    expectTypeOf<'oauth' | 'oidc' | 'email' | 'credentials' | 'webauthn'>().toExtend<ProviderType>()
    expectTypeOf<RedirectableProviderType>().toEqualTypeOf<'email' | 'credentials'>()
    expect(
      createAuth(baseConfig({ experimental: { enableWebAuthn: true } }))
        .inspect()
        .providerTypes.toSorted(),
    ).toEqual(['credentials', 'email', 'oauth', 'oidc', 'webauthn'])
  })
})

describe('shapes on their way through a sign-in', () => {
  it('rows 338, 346: null and unknown claims reach the callbacks untouched', async () => {
    const world = createWorld('jwt', 'none')
    const person = {
      sub: 'ann-at-op',
      name: null,
      email: null,
      address: { country: 'CH', locality: null },
      updated_at: '2026-01-01',
      'https://op.example/roles': ['a', { deep: null }],
      email_verified: null,
    }
    world.op.person = person
    const { response } = await world.during(async () => world.client.get(await world.toProvider('oidc')))
    expect(response.headers.get('location')).toBe(ok)
    expect(world.messages('cb.signIn')).toMatchObject([{ profile: person }])
    // A null is no name, so none is passed on.
    expect(await world.client.session()).toEqual({ user: { id: expect.any(String) }, expires: expect.any(String) })
  })

  it('row 339: what the host adds to Session and JWT is typed and travels', async () => {
    const providers = [{ id: 'c', name: 'C', type: 'credentials' as const, authorize: () => ({ id: '1', name: 'Ann', tenantOf: 'acme' }) }]
    const auth = createAuth(
      baseConfig({
        providers,
        callbacks: {
          jwt({ token, user }) {
            if (user?.tenantOf) token.tenant = user.tenantOf
            return token
          },
          session({ session, token }) {
            if (token?.tenant) session.tenant = token.tenant
            return session
          },
        },
      }),
    )
    const client = new Client(auth)
    await client.post('/callback/c')
    const session = await auth.session(new Request(ok, { headers: { cookie: client.cookieHeader() } }))
    expectTypeOf(session?.tenant).toEqualTypeOf<string | undefined>()
    expect(session?.tenant).toBe('acme')
  })

  it.each([
    ['oidc', 'ann-at-op'],
    ['oauth', 'ann-at-op'],
    ['mail', 'ann@example.com'],
    ['password', 'u-pat'],
  ])('row 350: providerAccountId of %s is %s', async (provider, expected) => {
    const world = createWorld('jwt', 'whole')
    const ids: unknown[] = []
    world.auth.on('signIn', ({ account }) => void ids.push(account?.providerAccountId))
    if (provider === 'mail') {
      await world.client.post('/signin/mail', { email: 'Ann@Example.com' })
      await world.client.get(world.mails[0]?.url ?? '')
    } else if (provider === 'password') await world.client.post('/callback/password', { password: 'right' })
    else await world.client.get(await world.toProvider(provider))
    expect(ids).toEqual([expected])
  })
})

describe('row 379: encode, decode and getToken still work by hand', () => {
  it('on a cookie that the library wrote, and the library on one that they wrote', async () => {
    const name = 'authkernel.session-token'
    const options = baseConfig({
      providers: [{ id: 'c', name: 'C', type: 'credentials', authorize: () => ({ id: '1', name: 'Ann' }) }],
    })
    options.runtime.now = Date.now
    const client = new Client(createAuth(options))
    await client.post('/callback/c')
    const token = client.cookies.get(name) ?? ''
    expect(await decode({ token, secret, salt: name })).toMatchObject({ sub: '1', name: 'Ann' })
    expect(await getToken({ req: { headers: { cookie: client.cookieHeader() } }, secret })).toMatchObject({ sub: '1' })
    client.cookies.set(name, await encode({ token: { sub: '2', name: 'Bob' }, secret, salt: name }))
    expect(await client.session()).toMatchObject({ user: { name: 'Bob' } })
  })
})
