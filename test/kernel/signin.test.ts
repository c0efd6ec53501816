/** complete() and resume(): the order of things, parked logins, where a flow ends. */
import { describe, expect, it } from 'vitest'
import type { Login, Plugin } from 'authkernel/kernel'
import { createWorld, type World } from '../rows/_world.ts'
import { Client } from '../_setup.ts'

const ok = 'http://localhost:3000'
const come = async (world: World, provider = 'oidc', fields = {}, client: Client = world.client) =>
  client.get(await world.toProvider(provider, fields, client))
const to = async (response: Promise<Response>) => (await response).headers.get('location')
/** Parks every login until `/go`. */
const parking = (name: string, path: `/${string}`): Plugin => ({
  name,
  setup(kernel) {
    kernel.hook('login', async ({ login, ctx }) => {
      ctx.setCookie(name, await ctx.seal(name, { login }, 300))
      return ctx.redirect(path)
    })
    kernel.route({
      method: 'POST',
      path,
      async handler(ctx) {
        const opened = await ctx.open(name, ctx.cookie(name) ?? '')
        if (!opened) return new Response('nothing parked', { status: 403 })
        ctx.deleteCookie(name)
        return ctx.resume(opened['login'] as Login, { passed: [name] })
      },
    })
  },
})

describe('where a flow ends', () => {
  it('row 282: pages.newUser on the first sign-in, with the callback URL; later not', async () => {
    const world = createWorld('database', 'whole', { pages: { newUser: '/welcome?tour=1' } })
    expect(await to(come(world, 'oidc', { callbackUrl: '/inbox' }))).toBe(
      `/welcome?tour=1&callbackUrl=${encodeURIComponent(`${ok}/inbox`)}`,
    )
    expect(await to(come(world, 'oidc', { callbackUrl: '/inbox' }))).toBe(`${ok}/inbox`)
  })

  it('row 282: not for credentials, nor without a store', async () => {
    const world = createWorld('jwt', 'none', { pages: { newUser: '/welcome' } })
    expect(await to(world.client.post('/callback/password', { password: 'right' }))).toBe(ok)
    expect(await to(come(world))).toBe(ok)
  })

  it('row 278, D47: two tabs end where each began', async () => {
    const world = createWorld('database', 'whole')
    const first = await world.toProvider('oidc', { callbackUrl: '/first' })
    const second = await world.toProvider('oidc', { callbackUrl: '/second' })
    expect(await to(world.client.get(first))).toBe(`${ok}/first`)
    expect(await to(world.client.get(second))).toBe(`${ok}/second`)
  })
})

describe('parked logins', () => {
  it('nothing is issued and no event is emitted until it is resumed; then everything is', async () => {
    const world = createWorld('database', 'whole')
    world.auth.use(parking('second', '/second'))
    const parked = await world.during(async () => come(world, 'oidc', { callbackUrl: '/inbox' }))
    expect(parked.response.headers.get('location')).toBe(`${ok}/second`)
    expect(parked.seen).not.toContain('ad.createSession')
    expect(parked.seen).not.toContain('ev.signIn')
    expect(await world.client.session()).toBeNull()
    const resumed = await world.during(() => world.client.post('/second'))
    expect(resumed.response.headers.get('location')).toBe(`${ok}/inbox`)
    expect(resumed.seen.filter((what) => what !== 'cb.redirect')).toEqual(['ad.createSession', 'ev.signIn'])
    expect(world.messages('ev.signIn')).toMatchObject([{ user: { name: 'Ann' }, isNewUser: true, account: { provider: 'oidc' } }])
    expect(await world.client.session()).toMatchObject({ user: { name: 'Ann' } })
  })

  it('a login is plain data: it survives JSON, dates and all that matters', async () => {
    const world = createWorld('jwt', 'whole')
    let kept: Login | undefined
    world.auth.hook('login', ({ login }) => void (kept = login))
    await come(world)
    const copy = JSON.parse(JSON.stringify(kept)) as Login
    expect(Object.keys(copy).sort()).toEqual(
      [
        'account',
        'callbackUrl',
        'isNewUser',
        'match',
        'passed',
        'person',
        'previous',
        'profile',
        'proof',
        'purpose',
        'session',
        'trigger',
        'user',
      ].sort(),
    )
    expect(copy).toMatchObject({ trigger: 'signUp', session: 'new', match: 'account', callbackUrl: ok, previous: null })
  })

  it('`skip` leaves out one plugin: with two, each is passed in its turn', async () => {
    const world = createWorld('database', 'whole')
    world.auth.use(parking('one', '/one')).use(parking('two', '/two'))
    expect(await to(come(world))).toBe(`${ok}/two`)
    expect(await to(world.client.post('/two'))).toBe(`${ok}/one`)
    expect(await world.client.session()).toBeNull()
  })

  it('pages.newUser and a refused account behave as without parking', async () => {
    const world = createWorld('database', 'whole', { pages: { newUser: '/welcome' } })
    world.auth.use(parking('second', '/second'))
    await come(world)
    expect(await to(world.client.post('/second'))).toContain('/welcome?callbackUrl=')
    const stranger = new Client(world.auth)
    expect(await to(come(world, 'oauth', {}, stranger))).toContain('error=OAuthAccountNotLinked')
    expect((await stranger.post('/second')).status).toBe(403)
  })

  it('resuming ends the session of before (D45)', async () => {
    const world = createWorld('database', 'whole')
    await come(world)
    await world.client.post('/signout')
    world.op.person = { sub: 'bob', name: 'Bob', email: 'bob@example.com' }
    await come(world)
    const former = world.client.cookies.get('authkernel.session-token') ?? ''
    world.auth.use(parking('second', '/second'))
    await world.client.post('/signin/mail', { email: 'ann@example.com' })
    await world.client.get(world.mails[0]?.url ?? '')
    expect(await world.client.session()).toMatchObject({ user: { name: 'Bob' } })
    await world.client.post('/second')
    expect(await world.client.session()).toMatchObject({ user: { email: 'ann@example.com' } })
    expect(world.data.sessions.has(former)).toBe(false)
  })
})
