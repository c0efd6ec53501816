/**
 * What a stranger builds with `docs/hooks.md` and `docs/writing-a-plugin.md` alone: a second factor over every way to sign in, step-up, API keys,
 * single logout, and a provider type of their own. Nothing of the kernel's insides is imported.
 */
import { describe, expect, it } from 'vitest'
import type { Auth, Session } from 'authkernel'
import {
  type Account,
  CredentialsSignin,
  equal,
  json,
  type Login,
  type Plugin,
  type Provider,
  type ProviderFlow,
  type ProviderOf,
} from 'authkernel/kernel'
import { Authenticator, type CreationOptions, type RequestOptions } from '../plugins/_authenticator.ts'
import { createWorld, type Strategy, type World } from '../rows/_world.ts'
import { Client } from '../_setup.ts'

declare module 'authkernel/kernel' {
  interface ProviderTypes {
    badge2: { id: string; name: string; type: 'badge2'; people: Record<string, { id: string; name: string; email: string }> }
  }
  interface Hooks {
    badgeOpen: { verb: 'guard'; in: { badge: string }; out: boolean | string }
  }
}

const ok = 'http://localhost:3000'
const sessionCookie = 'authkernel.session-token'
const right = '123456'

/** The plugin of `docs/hooks.md`, with people who never enrolled and a limit on guesses. */
const secondFactor = (enrolled: (login: Login) => boolean = () => true): Plugin => ({
  name: 'second-factor',
  setup(kernel) {
    kernel.hook('login', async ({ login, ctx }) => {
      if (!enrolled(login)) return undefined
      const sealed = await ctx.seal('second-factor', { login }, 300)
      // Tokens of a provider may outgrow one cookie.
      ctx.setChunkedCookie('second-factor', sealed, { httpOnly: true, path: '/', sameSite: 'lax' })
      return ctx.redirect('/code')
    })
    kernel.route({
      method: 'POST',
      path: '/second-factor',
      async handler(ctx) {
        const parked = await ctx.open('second-factor', ctx.chunkedCookie('second-factor') ?? '')
        const login = parked?.['login'] as Login | undefined
        if (!login) return ctx.redirect('/code?gone=1')
        const { allowed } = await ctx.limit.take(`second-factor ${login.user.id}`, { max: 5, seconds: 300 })
        const { code } = await ctx.body()
        if (!allowed || typeof code !== 'string' || !equal(code, right)) return ctx.redirect('/code?wrong=1')
        if (!(await ctx.once.take(`second-factor ${String(parked?.jti)}`, 300))) return ctx.redirect('/code?wrong=1')
        ctx.deleteCookie('second-factor', { path: '/' })
        return ctx.resume(login, { passed: ['second-factor'] })
      },
    })
  },
})

const badgeFlow: ProviderFlow<ProviderOf<'badge2'>> = {
  callback: { GET: false, POST: 'token' },
  requires: ['limit'],
  async finish(ctx, provider) {
    const { badge } = await ctx.body()
    if (typeof badge !== 'string' || (await ctx.ask('badgeOpen', { badge })) !== true) throw new CredentialsSignin('closed')
    const user = Object.hasOwn(provider.people, badge) ? provider.people[badge] : undefined
    if (!user) throw new CredentialsSignin('unknown badge')
    return { user, account: { type: 'badge2', provider: provider.id, providerAccountId: badge }, match: 'account' }
  },
}
const badgePlugin: Plugin<{ badges: { open: boolean } }> = {
  name: 'badge2',
  setup(kernel) {
    const api = { open: true }
    kernel.declareHook('badgeOpen', 'guard')
    kernel.hook('badgeOpen', () => api.open)
    kernel.providerType('badge2', badgeFlow)
    const people = { 'b-7': { id: 'u-kim', name: 'Kim', email: 'kim@example.com' } }
    kernel.provider({ id: 'door', name: 'EntryPoint', type: 'badge2', people } as Provider)
    return { badges: api }
  },
}

const to = async (response: Promise<Response>) => (await response).headers.get('location')
const register = async (client: Client, key: Authenticator) => {
  const { options } = (await (await client.get('/webauthn-options/passkey?action=register&email=ann@example.com')).json()) as {
    options: CreationOptions
  }
  return client.post('/callback/passkey', { action: 'register', data: key.create(options), callbackUrl: '/inbox' })
}
/** Every way to sign in, from the first request to the answer that ends its own part. */
const ways: Record<string, (world: World, client: Client) => Promise<Response>> = {
  oidc: async (world, client) => client.get(await world.toProvider('oidc', { callbackUrl: '/inbox' }, client)),
  oauth: async (world, client) => client.get(await world.toProvider('oauth', { callbackUrl: '/inbox' }, client)),
  email: async (world, client) => {
    await client.post('/signin/mail', { email: 'ann@example.com', callbackUrl: '/inbox' })
    return client.get(world.mails.at(-1)?.url ?? '')
  },
  credentials: async (_world, client) => client.post('/callback/password', { password: 'right', callbackUrl: '/inbox' }),
  passkey: async (_world, client) => register(client, new Authenticator(ok)),
  "a stranger's type": async (_world, client) => client.post('/callback/door', { badge: 'b-7', callbackUrl: '/inbox' }),
}
const way = (name: string) => ways[name] as (typeof ways)[string]
const worldWith = (strategy: Strategy, ...plugins: Plugin[]) => {
  const world = createWorld(strategy, 'whole')
  world.data.users.set('u-pat', { id: 'u-pat', name: 'Pat', email: 'pat@example.com', emailVerified: null })
  world.auth.use(badgePlugin)
  for (const plugin of plugins) world.auth.use(plugin)
  return world
}

describe.each(['jwt', 'database'] as Strategy[])('a second factor under the %s strategy', (strategy) => {
  it.each(Object.keys(ways))('GHSA-xg6x-h9c9-2m83: after %s there is no session before the code, and one after it', async (name) => {
    const world = worldWith(strategy, secondFactor())
    const { client } = world
    const told: string[] = []
    world.auth.on('signIn', ({ account }) => void told.push(account?.provider ?? ''))
    expect(await to(way(name)(world, client))).toBe(`${ok}/code`)
    expect(await client.session()).toBeNull()
    expect(client.cookies.has(sessionCookie)).toBe(false)
    expect(world.data.sessions.size).toBe(0)
    expect(told).toEqual([])

    expect(await to(client.post('/second-factor', { code: '000000' }))).toBe(`${ok}/code?wrong=1`)
    expect(await client.session()).toBeNull()
    const copy = new Map(client.cookies)
    expect(await to(client.post('/second-factor', { code: right }))).toBe(`${ok}/inbox`)
    expect(await client.session()).toMatchObject({ user: { email: expect.stringContaining('@example.com') as string } })
    expect(told).toHaveLength(1)
    expect(client.cookies.has('second-factor')).toBe(false)

    // The parked login is good for one session.
    const thief = new Client(world.auth)
    for (const [cookie, value] of copy) if (cookie !== sessionCookie) thief.cookies.set(cookie, value)
    expect(await to(thief.post('/second-factor', { code: right }))).toBe(`${ok}/code?wrong=1`)
    expect(await thief.session()).toBeNull()
  })

  it('who did not enrol signs in as before', async () => {
    const world = worldWith(
      strategy,
      secondFactor(({ user }) => user.email !== 'ann@example.com'),
    )
    expect(await to(way('oidc')(world, world.client))).toBe(`${ok}/inbox`)
    const other = new Client(world.auth)
    expect(await to(way('credentials')(world, other))).toBe(`${ok}/code`)
  })

  it('the parked login ends with its time, cannot be altered, and belongs to one browser', async () => {
    const world = worldWith(strategy, secondFactor())
    await way('oidc')(world, world.client)
    const parked = world.client.cookies.get('second-factor') ?? ''
    const stranger = new Client(world.auth)
    expect(await to(stranger.post('/second-factor', { code: right }))).toBe(`${ok}/code?gone=1`)
    stranger.cookies.set('second-factor', `${parked.slice(0, -3)}AAA`)
    expect(await to(stranger.post('/second-factor', { code: right }))).toBe(`${ok}/code?gone=1`)
    // As a session it is nothing either.
    stranger.cookies.set(sessionCookie, parked)
    expect(await stranger.session()).toBeNull()
    world.options.runtime.advance(300_000)
    expect(await to(world.client.post('/second-factor', { code: right }))).toBe(`${ok}/code?gone=1`)
  })

  it('guessing is limited, for each client', async () => {
    const world = worldWith(strategy, secondFactor())
    await way('oidc')(world, world.client)
    for (let i = 0; i < 5; i++) await world.client.post('/second-factor', { code: `00000${i}` })
    expect(await to(world.client.post('/second-factor', { code: right }))).toBe(`${ok}/code?wrong=1`)
    expect(await world.client.session()).toBeNull()
  })

  it('needs the CSRF token like every form', async () => {
    const world = worldWith(strategy, secondFactor())
    await way('oidc')(world, world.client)
    const response = await world.client.send('/second-factor', { method: 'POST', body: new URLSearchParams({ code: right }) })
    expect(response.headers.get('location')).toBe(`${ok}/auth/signin?error=MissingCSRF`)
  })

  it('ten codes at the same moment: one session', async () => {
    const world = worldWith(strategy, secondFactor())
    await way('oidc')(world, world.client)
    const csrfToken = await world.client.csrfToken()
    const body = () => new URLSearchParams({ csrfToken, code: right })
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => world.client.send('/second-factor', { method: 'POST', body: body() })),
    )
    expect(answers.filter((answer) => answer.headers.get('location') === `${ok}/inbox`)).toHaveLength(1)
    if (strategy === 'database') expect(world.data.sessions.size).toBe(1)
  })

  it('large tokens of a provider do not break the parked login', async () => {
    const world = worldWith(strategy, secondFactor())
    world.op.person = { ...world.op.person, groups: Array.from({ length: 60 }, (_, i) => `group-${i}-of-a-large-company`) }
    expect(await to(way('oidc')(world, world.client))).toBe(`${ok}/code`)
    expect([...world.client.cookies.keys()].filter((name) => name.startsWith('second-factor')).length).toBeGreaterThan(1)
    expect(await to(world.client.post('/second-factor', { code: right }))).toBe(`${ok}/inbox`)
    expect([...world.client.cookies.keys()].filter((name) => name.startsWith('second-factor'))).toEqual([])
    expect(await world.client.session()).toMatchObject({ user: { name: 'Ann' } })
  })

  it('a returning passkey is asked for the code as well', async () => {
    const world = worldWith(strategy)
    const key = new Authenticator(ok)
    await register(world.client, key)
    await world.client.post('/signout')
    world.auth.use(secondFactor())
    const { options } = (await (await world.client.get('/webauthn-options/passkey?action=authenticate')).json()) as {
      options: RequestOptions
    }
    expect(await to(world.client.post('/callback/passkey', { action: 'authenticate', data: key.get(options) }))).toBe(`${ok}/code`)
    expect(await world.client.session()).toBeNull()
    expect(await to(world.client.post('/second-factor', { code: right }))).toBe(`${ok}/inbox`)
    expect(await world.client.session()).toMatchObject({ user: { email: 'ann@example.com' } })
  })

  it('takes itself away: the next sign-in goes through', async () => {
    const world = worldWith(strategy, secondFactor())
    await way('oidc')(world, world.client)
    world.auth.remove('second-factor')
    expect((await world.client.post('/second-factor', { code: right })).status).toBe(400)
    expect(await to(way('oauth')(world, new Client(world.auth)))).toContain('OAuthAccountNotLinked')
    expect(await to(way('oidc')(world, world.client))).toBe(`${ok}/inbox`)
  })
})

describe.each(['jwt', 'database'] as Strategy[])('step-up under the %s strategy', (strategy) => {
  /** The code once more before something dangerous; fresh for five minutes, for this person only. */
  const stepUp: Plugin<{ stepUp: { isFresh(request: Request): Promise<boolean> } }> = {
    name: 'step-up',
    setup(kernel) {
      kernel.route({
        method: 'POST',
        path: '/step-up',
        async handler(ctx) {
          const user = await ctx.session.user(ctx)
          const { code } = await ctx.body()
          if (!user?.id || typeof code !== 'string' || !equal(code, right)) return json({ fresh: false }, 403)
          ctx.setCookie('step-up', await ctx.seal('step-up', { who: user.id }, 300), { httpOnly: true, path: '/', sameSite: 'lax' })
          return json({ fresh: true })
        },
      })
      return {
        stepUp: {
          async isFresh(request) {
            const ctx = await kernel.contextOf(request)
            const user = await ctx.session.user(ctx)
            const mark = await ctx.open('step-up', ctx.cookie('step-up') ?? '')
            return user?.id !== undefined && mark?.['who'] === user.id
          },
        },
      }
    },
  }

  it('is fresh after the code, not before, not for another person, not for ever', async () => {
    const world = createWorld(strategy, 'whole')
    const auth = world.auth.use(stepUp)
    const page = (client: Client) => new Request(`${ok}/danger`, { headers: { cookie: client.cookieHeader() } })
    expect((await world.client.post('/step-up', { code: right })).status).toBe(403)
    await world.client.get(await world.toProvider('oidc'))
    expect(await auth.stepUp.isFresh(page(world.client))).toBe(false)
    expect((await world.client.post('/step-up', { code: 'wrong' })).status).toBe(403)
    expect((await world.client.post('/step-up', { code: right })).status).toBe(200)
    expect(await auth.stepUp.isFresh(page(world.client))).toBe(true)
    const mark = world.client.cookies.get('step-up') ?? ''
    world.op.person = { sub: 'bob', name: 'Bob', email: 'bob@example.com' }
    const bob = new Client(world.auth)
    await bob.get(await world.toProvider('oidc', {}, bob))
    bob.cookies.set('step-up', mark)
    expect(await auth.stepUp.isFresh(page(bob))).toBe(false)
    world.options.runtime.advance(300_000)
    expect(await auth.stepUp.isFresh(page(world.client))).toBe(false)
  })
})

describe.each(['jwt', 'database'] as Strategy[])('API keys under the %s strategy', (strategy) => {
  const robot: Session = { user: { id: 'robot', name: 'Robot' }, expires: '2030-01-01T00:00:00.000Z' }
  const apiKeys = (find: (key: string) => Promise<Session | undefined>): Plugin => ({
    name: 'api-keys',
    setup(kernel) {
      kernel.hook('authenticate', async ({ ctx }) => {
        const key = /^Bearer (\S+)$/.exec(ctx.request.headers.get('authorization') ?? '')?.[1]
        return key === undefined ? undefined : find(key)
      })
    },
  })
  const at = (headers: Record<string, string>) => new Request(`${ok}/auth/session`, { headers })

  it('answer every door, set no cookie, and leave browsers alone', async () => {
    const world = createWorld(strategy, 'whole')
    world.auth.use(apiKeys(async (key) => (key === 'good' ? robot : undefined)))
    await world.client.get(await world.toProvider('oidc'))
    const keyed = at({ authorization: 'Bearer good' })
    expect(await world.auth.session(keyed)).toEqual(robot)
    const { session, headers } = await world.auth.read(keyed)
    expect([session, headers.getSetCookie()]).toEqual([robot, []])
    const response = await world.auth.handler(at({ authorization: 'Bearer good' }))
    expect([await response.json(), response.headers.getSetCookie(), response.headers.get('cache-control')]).toEqual([
      robot,
      [],
      'private, no-store',
    ])
    expect(await world.auth.session(at({ authorization: 'Bearer bad' }))).toBeNull()
    expect(await world.client.session()).toMatchObject({ user: { name: 'Ann' } })
    expect(await world.auth.session(at({ authorization: 'Bearer good', cookie: world.client.cookieHeader() }))).toEqual(robot)
  })

  it('a key store that is down is an outage, never a session and never a sign-out', async () => {
    const world = createWorld(strategy, 'whole')
    world.auth.use(apiKeys(() => Promise.reject(new Error('keys are down'))))
    await expect(world.auth.session(at({ authorization: 'Bearer good' }))).rejects.toThrow('keys are down')
    const response = await world.auth.handler(at({ authorization: 'Bearer good' }))
    expect(response.status).toBe(503)
    expect(await response.json()).toBeNull()
    expect(world.options.logger.errors).toHaveLength(1)
  })
})

describe('single logout', () => {
  /** RP-initiated logout (OpenID Connect RP-Initiated Logout 1.0): out here first, then at the provider. */
  const singleLogout = (endSession: string): Plugin => ({
    name: 'single-logout',
    setup(kernel) {
      kernel.hook('jwt', ({ token, account }) => (account?.id_token ? { ...token, id_token: account.id_token } : token))
      kernel.hook('signOut', async ({ ctx, ended }) => {
        const idToken =
          'token' in ended
            ? ended.token?.['id_token']
            : ((await ctx.store?.listAccountsByUserId(ended.session?.userId ?? '')) as Account[] | undefined)?.find((one) => one.id_token)
                ?.id_token
        if (typeof idToken !== 'string') return undefined
        const url = new URL(endSession)
        url.searchParams.set('id_token_hint', idToken)
        url.searchParams.set('post_logout_redirect_uri', await ctx.callbackUrl())
        return url.href
      })
      // Back-channel: the provider says that a user is signed out everywhere. Its token proves it, so no form token is asked for.
      kernel.route({
        method: 'POST',
        path: '/backchannel-logout',
        csrf: 'crossSite',
        async handler(ctx) {
          const { logout_token: proof, sub } = await ctx.body()
          const user = proof === 'signed' ? await ctx.store?.getUserByAccount({ provider: 'oidc', providerAccountId: String(sub) }) : null
          if (!user) return json({ error: 'invalid_request' }, 400)
          await ctx.session.revoke?.(ctx, { userId: user.id })
          return new Response(null, { status: 200 })
        },
      })
    },
  })

  it.each(['jwt', 'database'] as Strategy[])('signing out under the %s strategy goes on at the provider', async (strategy) => {
    const world = createWorld(strategy, 'whole')
    world.auth.use(singleLogout('https://op.example/end_session'))
    await world.client.get(await world.toProvider('oidc'))
    const location = new URL((await to(world.client.post('/signout', { callbackUrl: '/bye' }))) ?? '')
    expect(location.origin + location.pathname).toBe('https://op.example/end_session')
    expect(location.searchParams.get('id_token_hint')).toMatch(/^eyJ/)
    expect(location.searchParams.get('post_logout_redirect_uri')).toBe(`${ok}/bye`)
    expect(await world.client.session()).toBeNull()
    // No user is signed in here: nothing to end over there.
    expect(await to(world.client.post('/signout', { callbackUrl: '/bye' }))).toBe(`${ok}/bye`)
  })

  it('the provider ends every session of a person', async () => {
    const world = createWorld('database', 'whole')
    world.auth.use(singleLogout('https://op.example/end_session'))
    const phone = new Client(world.auth)
    await world.client.get(await world.toProvider('oidc'))
    await phone.get(await world.toProvider('oidc', {}, phone))
    const call = (body: Record<string, string>) =>
      world.auth.handler(
        new Request(`${ok}/auth/backchannel-logout`, {
          method: 'POST',
          body: new URLSearchParams(body),
          headers: { origin: 'https://op.example' },
        }),
      )
    expect((await call({ logout_token: 'forged', sub: 'ann-at-op' })).status).toBe(400)
    expect(await phone.session()).not.toBeNull()
    expect((await call({ logout_token: 'signed', sub: 'ann-at-op' })).status).toBe(200)
    expect([await phone.session(), await world.client.session()]).toEqual([null, null])
  })
})

describe("a stranger's provider type", () => {
  it.each(['jwt', 'database'] as Strategy[])('signs in, links, is refused by its own hook, under %s', async (strategy) => {
    const world = createWorld(strategy, 'whole')
    const auth = world.auth.use(badgePlugin)
    const post = (badge: string, client: Client = world.client) => to(client.post('/callback/door', { badge }))
    expect(await post('b-8')).toBe(`${ok}/auth/signin?error=CredentialsSignin&code=credentials`)
    expect(await post('__proto__')).toContain('CredentialsSignin')
    expect(await post('b-7')).toBe(ok)
    expect(await world.client.session()).toMatchObject({ user: { name: 'Kim' } })
    expect([...world.data.accounts.values()]).toMatchObject([{ provider: 'door', providerAccountId: 'b-7', type: 'badge2' }])
    world.op.person = { sub: 'kim-at-op', email: 'kim@example.com' }
    expect(await to(world.client.get(await world.toProvider('oidc')))).toBe(ok)
    expect(world.data.accounts.size).toBe(2)
    const fresh = new Client(world.auth)
    expect(await to(fresh.get(await world.toProvider('oidc', {}, fresh)))).toBe(ok)
    expect(await fresh.session()).toMatchObject({ user: { name: 'Kim' } })
    auth.badges.open = false
    expect(await post('b-7', new Client(world.auth))).toContain('CredentialsSignin')
    expect(
      await (world.auth as Auth).handler(new Request(`${ok}/auth/callback/door?badge=b-7`)).then((r) => r.headers.get('location')),
    ).toContain('error=Configuration')
    expect(await (await new Client(world.auth).get('/signin')).text()).toContain('EntryPoint')
  })
})
