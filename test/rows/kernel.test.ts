/** Rows 328 and 330: what plugins may add, and where they may veto, replace and observe. */
import { describe, expect, it } from 'vitest'
import { createAuth, type Session } from 'authkernel'
import { createKernel, definePlugin, type Plugin, type Provider, type SessionStrategy } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { baseConfig, Client } from '../_setup.ts'
import { createWorld, type Strategy } from './_world.ts'

declare module 'authkernel/kernel' {
  interface ProviderTypes {
    knock: { id: string; name: string; type: 'knock' }
  }
}

const ok = 'http://localhost:3000'
const to = async (response: Promise<Response>) => (await response).headers.get('location')
/** A strategy in a map, in twenty lines: what a stranger may write. */
const mapStrategy = (): SessionStrategy & { readonly sessions: Map<string, Session> } => {
  const sessions = new Map<string, Session>()
  let last = 0
  return {
    sessions,
    read: (ctx) => sessions.get(ctx.cookie('seat') ?? '') ?? null,
    user: (ctx) => sessions.get(ctx.cookie('seat') ?? '')?.user ?? null,
    issue(ctx, { user }) {
      const id = `seat-${++last}`
      sessions.set(id, { user, expires: new Date(ctx.now.getTime() + 60_000).toISOString() })
      ctx.setCookie('seat', id, { httpOnly: true, path: '/' })
      return { id }
    },
    update: (ctx) => sessions.get(ctx.cookie('seat') ?? '') ?? null,
    end(ctx) {
      const seat = ctx.cookie('seat')
      if (seat === undefined || !sessions.delete(seat)) return null
      ctx.deleteCookie('seat')
      return { token: null }
    },
  }
}

describe('row 328: one plugin may add everything', () => {
  it('routes, hooks, events, a provider type, a provider, a strategy, a store, a api, defaults, an end', async () => {
    const strategy = mapStrategy()
    const told: string[] = []
    const everything = definePlugin({
      name: 'everything',
      setup(kernel) {
        kernel.defaults({ cookiePrefix: 'mine' })
        kernel.provide('session', strategy)
        kernel.providerType('knock', {
          form: () => ({ post: 'callback', submit: 'Knock' }),
          async finish(ctx, provider) {
            const { who } = (await ctx.body()) as { who: string }
            return { user: { name: who }, account: { provider: provider.id, providerAccountId: who, type: 'knock' }, match: 'none' }
          },
        })
        kernel.provider({ id: 'door', name: 'EntryPoint', type: 'knock' } as Provider)
        kernel.route({ method: 'GET', path: '/who', handler: async (ctx) => Response.json(await ctx.currentSession()) })
        kernel.hook('signIn', ({ user }) => user.name !== 'Mallory')
        kernel.on('signIn', ({ user }) => void told.push(user.name ?? ''))
        kernel.onClose(() => void told.push('closed'))
        return { seats: { count: () => strategy.sessions.size } }
      },
    })
    const auth = createKernel(baseConfig()).use(everything).use(adapterPlugin(memoryAdapter()))
    const client = new Client(auth)
    expect(await to(client.post('/callback/door', { who: 'Ann' }))).toBe(ok)
    expect(await (await client.get('/who')).json()).toMatchObject({ user: { name: 'Ann' } })
    expect([...client.cookies.keys()].sort()).toEqual(['mine.callback-url', 'mine.csrf-token', 'seat'])
    expect(await to(client.post('/callback/door', { who: 'Mallory' }))).toBe(`${ok}/auth/error?error=AccessDenied`)
    expect(auth.seats.count()).toBe(1)
    await client.post('/signout')
    expect(await client.session()).toBeNull()
    await auth.close()
    expect(told).toEqual(['Ann', 'closed'])
  })
})

describe.each(['jwt', 'database'] as Strategy[])('row 330: hooks under the %s strategy', (strategy) => {
  const signedIn = async (...plugins: Plugin[]) => {
    const world = createWorld(strategy, 'whole')
    for (const plugin of plugins) world.auth.use(plugin)
    const response = await world.client.get(await world.toProvider('oidc'))
    return { world, response }
  }
  const hook = (setup: Plugin['setup']): Plugin => ({ name: 'deciding', setup })

  it('request: veto and replace before anything runs, observe', async () => {
    const seen: string[] = []
    const { world } = await signedIn(
      hook((kernel) => {
        kernel.hook('request', ({ ctx }) => {
          seen.push(ctx.url.pathname)
          return ctx.request.headers.has('x-maintenance') ? new Response('back soon', { status: 503 }) : undefined
        })
      }),
    )
    const response = await world.client.get('/session', { 'x-maintenance': '1' })
    expect([response.status, await response.text()]).toEqual([503, 'back soon'])
    expect(seen).toContain('/auth/callback/oidc')
    const asked = seen.length
    await world.client.get('/nowhere')
    expect(seen).toHaveLength(asked)
  })

  it('signIn: veto, send elsewhere', async () => {
    expect((await signedIn(hook((kernel) => void kernel.hook('signIn', () => false)))).response.headers.get('location')).toContain(
      'AccessDenied',
    )
    expect((await signedIn(hook((kernel) => void kernel.hook('signIn', () => '/no')))).response.headers.get('location')).toBe(`${ok}/no`)
  })

  it('link: veto before a second account joins a user', async () => {
    const { world } = await signedIn(hook((kernel) => void kernel.hook('link', ({ account }) => account.provider !== 'oauth')))
    world.op.person = { sub: 'second' }
    expect(await to(world.client.get(await world.toProvider('oauth')))).toContain('error=OAuthAccountNotLinked')
    expect(world.data.accounts.size).toBe(1)
  })

  it('session read: replace what is shown; authenticate answers for requests without a cookie', async () => {
    const key: Session = { user: { name: 'Robot' }, expires: '2030-01-01T00:00:00.000Z' }
    const { world } = await signedIn(
      hook((kernel) => {
        kernel.hook('session', ({ session }) => ({ ...session, seen: true }))
        kernel.hook('authenticate', ({ ctx }) => (ctx.request.headers.get('x-api-key') === 'k' ? key : undefined))
      }),
    )
    expect(await world.client.session()).toMatchObject({ seen: true, user: { name: 'Ann' } })
    const request = new Request(`${ok}/auth/session`, { headers: { 'x-api-key': 'k' } })
    expect(await (await world.auth.handler(request)).json()).toEqual({ ...key, seen: true })
    expect(await world.auth.session(request)).toEqual({ ...key, seen: true })
  })

  it('session write: veto (null) before anything is stored for the browser', async () => {
    const { world } = await signedIn(hook((kernel) => void kernel.hook('login', () => Response.json({ refused: true }, { status: 403 }))))
    expect(await world.client.session()).toBeNull()
    expect(world.data.sessions.size).toBe(0)
  })

  it('token issue: replace, and null ends it', async () => {
    const { world } = await signedIn(hook((kernel) => void kernel.hook('jwt', ({ token }) => ({ ...token, name: 'By plugin' }))))
    expect(await world.client.session()).toMatchObject({ user: { name: strategy === 'jwt' ? 'By plugin' : 'Ann' } })
  })

  it('sign-out: replace the destination, observe who', async () => {
    const seen: string[] = []
    const { world } = await signedIn(
      hook((kernel) => {
        kernel.hook('signOut', ({ ended }) => (seen.push(Object.keys(ended).join()), 'https://op.example/logout'))
      }),
    )
    expect(await to(world.client.post('/signout'))).toBe('https://op.example/logout')
    expect(seen).toEqual([strategy === 'jwt' ? 'token' : 'session'])
  })

  it('error: replace the answer, observe the failure', async () => {
    const seen: string[] = []
    const { world } = await signedIn(
      hook((kernel) => {
        kernel.hook('failure', ({ error }) => (error.type === 'InvalidProvider' ? new Response('who?', { status: 404 }) : undefined))
        kernel.on('signInFailed', ({ error, provider }) => void seen.push(`${provider} ${error.type}`))
      }),
    )
    const response = await world.client.get('/callback/nobody')
    expect([response.status, await response.text()]).toEqual([404, 'who?'])
    expect(seen).toEqual(['nobody InvalidProvider'])
  })
})

it('rows 332, 330: provider and providers decide what there is to sign in with', async () => {
  const auth = createAuth(baseConfig({ providers: [{ id: 'own', name: 'Own', type: 'credentials', authorize: () => null }] }))
  const late = { id: 'late', name: 'Late', type: 'credentials', authorize: () => ({ id: '1', name: 'Late Ann' }) } as Provider
  auth.hook('provider', ({ id }) => (id === 'late' ? late : undefined))
  auth.hook('providers', ({ providers }) => [...providers, late])
  const client = new Client(auth)
  expect(Object.keys((await (await client.get('/providers')).json()) as object)).toEqual(['own', 'late'])
  await client.post('/callback/late')
  expect(await client.session()).toMatchObject({ user: { name: 'Late Ann' } })
})
