/** The contract of a session strategy, as a vitest suite for authors of one. */
import type { Adapter, AuthConfig, Awaitable, Plugin, Session } from 'authkernel/kernel'
import { createAuth } from 'authkernel'
import { credentialsPlugin } from 'authkernel/plugins/credentials'
import { describe, expect, it } from './runner.ts'

/** What `testSession` needs. */
export interface TestSessionOptions {
  /** Makes the plugin that provides the service `session`; called for every test. */
  plugin(): Plugin
  /** Makes the data layer, for strategies that keep sessions in one. */
  adapter?(): Awaitable<Adapter>
  /** Options of `createAuth` beside the secret. */
  config?: AuthConfig
  /** Idle lifetime of the plugin in seconds; the clock is moved past it. */
  maxAge: number
  /** Also proves the ability `kinds`. `maxAge` must be more than 60 then. Default false. */
  kinds?: boolean
}

const origin = 'http://localhost:3000'
const ann = { id: 'ann', name: 'Ann', email: 'ann@example.com', image: null }
const bob = { id: 'bob', name: 'Bob', email: 'bob@example.com', image: null }

/** Defines a suite that proves what every flow expects of a strategy: issue, read, update, end, expiry, fixation, forgery. */
export function testSession(name: string, options: TestSessionOptions): void {
  describe(`session contract: ${name}`, () => {
    it('a sign-in gives a session of that user and no other', async () => {
      const { browser } = await setUp(options)
      const [one, two] = [browser(), browser()]
      await one.signIn('ann')
      await two.signIn('bob')
      expect(await one.session()).toMatchObject({ user: { name: 'Ann', email: 'ann@example.com' } })
      expect(await two.session()).toMatchObject({ user: { name: 'Bob' } })
      expect(new Date((await one.session())?.expires ?? '').getTime()).toBeGreaterThan(0)
    })

    it('a visitor without a session gets null, and no cookie', async () => {
      const { browser } = await setUp(options)
      const response = await browser().send('/session')
      expect([response.status, await response.json(), response.headers.getSetCookie()]).toEqual([200, null, []])
    })

    it('the cookie is HttpOnly and SameSite=Lax, and its value is fresh at every sign-in', async () => {
      const { browser } = await setUp(options)
      const one = browser()
      const line = (await one.signIn('ann')).headers.getSetCookie().find((cookie) => cookie.includes('session-token'))
      expect(line).toMatch(/HttpOnly/)
      expect(line).toMatch(/SameSite=Lax/)
      const first = one.cookie()
      await one.signIn('ann')
      expect(one.cookie()).not.toBe(first)
    })

    it('a planted value is not taken over', async () => {
      const { browser } = await setUp(options)
      const victim = browser('authkernel.session-token=planted')
      await victim.signIn('ann')
      expect(victim.cookie()).not.toContain('planted')
    })

    it.each(['x', 'a.b.c.d.e', '%00', `${'a'.repeat(3000)}`])('the forged value %j is no session', async (value) => {
      const { browser } = await setUp(options)
      expect(await browser(`authkernel.session-token=${value}`).session()).toBeNull()
    })

    it('a sign-out ends it and takes the cookie away', async () => {
      const { browser } = await setUp(options)
      const one = browser()
      await one.signIn('ann')
      await one.post('/signout')
      expect(one.cookie()).not.toContain('session-token')
      expect(await one.session()).toBeNull()
    })

    it('it ends by itself', async () => {
      const { browser, advance } = await setUp(options)
      const one = browser()
      await one.signIn('ann')
      advance(options.maxAge * 1000)
      expect(await one.session()).toBeNull()
    })

    it('a read without a response changes nothing and agrees with /session', async () => {
      const { auth, browser } = await setUp(options)
      const one = browser()
      await one.signIn('ann')
      const request = new Request(origin, { headers: { cookie: one.cookie() } })
      expect(await auth.session(request)).toMatchObject({ user: { name: 'Ann' } })
      expect((await auth.read(request)).session).toMatchObject({ user: { name: 'Ann' } })
      expect(await one.session()).toMatchObject({ user: { name: 'Ann' } })
    })

    if (options.kinds === true) testKinds(options)

    it('an update without a session is null', async () => {
      const { browser } = await setUp(options)
      const response = await browser().post('/session', { data: 'x' })
      expect([response.status, await response.json()]).toEqual([200, null])
    })
  })
}

/** A session of a kind: what guards it is there before it, it ends when it says, and without the plugin of the kind it is signed out. */
function testKinds(options: TestSessionOptions): void {
  const seconds = 60
  const kiosk = (notes: string[]): Plugin => ({
    name: 'kiosk',
    requires: ['session:kinds'],
    setup(kernel) {
      kernel.sessionKind('kiosk')
      kernel.decorate('session', (inner) => ({
        issue: (ctx, login, attributes, before) =>
          inner.issue(ctx, login, { ...attributes, kinds: ['kiosk'], until: ctx.now.getTime() + seconds * 1000 }, async (id) => {
            notes.push(`before ${id}`)
            await before?.(id)
          }),
        async read(ctx) {
          notes.push(`read ${await inner.id?.(ctx)} ${(await inner.kinds?.(ctx))?.join()}`)
          return inner.read(ctx)
        },
      }))
    },
  })

  it('kinds: `before` has the id first, the session keeps its kind, and ends at `until`', async () => {
    const notes: string[] = []
    const { browser, advance } = await setUp(options, kiosk(notes))
    const one = browser()
    await one.signIn('ann')
    const [said, id] = /^before (.+)$/.exec(notes[0] ?? '') ?? []
    expect(said).toBeDefined()
    expect(await one.session()).not.toBeNull()
    expect(notes.at(-1)).toBe(`read ${id} kiosk`)
    advance((seconds - 1) * 1000)
    expect(await one.session()).not.toBeNull()
    advance(1000)
    expect(await one.session()).toBeNull()
  })

  it('kinds: without the plugin of the kind the session is signed out', async () => {
    const { auth, browser } = await setUp(options, kiosk([]))
    const one = browser()
    await one.signIn('ann')
    expect(await one.session()).not.toBeNull()
    auth.remove('kiosk')
    expect(await auth.session(new Request(origin, { headers: { cookie: one.cookie() } }))).toBeNull()
    expect(await one.session()).toBeNull()
  })

  it('kinds: what `before` throws leaves no session', async () => {
    const failing: Plugin = {
      name: 'failing',
      setup: (kernel) =>
        kernel.decorate('session', (inner) => ({
          issue: (ctx, login, attributes) =>
            inner.issue(ctx, login, attributes, () => {
              throw new Error('no room')
            }),
        })),
    }
    const { browser } = await setUp(options, failing)
    const one = browser()
    await one.signIn('ann')
    expect(one.cookie()).not.toContain('session-token')
    expect(await one.session()).toBeNull()
  })
}

interface Browser {
  send(path: string, init?: RequestInit): Promise<Response>
  post(path: string, fields?: Record<string, string>): Promise<Response>
  signIn(id: string): Promise<Response>
  session(): Promise<Session | null>
  cookie(): string
}

async function setUp(
  options: TestSessionOptions,
  more?: Plugin,
): Promise<{
  auth: ReturnType<typeof createAuth>
  advance(ms: number): void
  browser(cookies?: string): Browser
}> {
  let now = Date.now()
  const adapter = await options.adapter?.()
  if (adapter) for (const user of [ann, bob]) await adapter.createUser?.({ ...user, emailVerified: null })
  const auth = createAuth({
    secret: 'a-secret-for-the-session-contract-suite',
    trustHost: true,
    env: false,
    logger: { error: () => {}, warn: () => {} },
    runtime: { now: () => now },
    ...(adapter && { adapter }),
    ...options.config,
  })
    .use(credentialsPlugin({ id: 'people', authorize: ({ id }) => (id === 'ann' ? ann : bob) }))
    .use(options.plugin())
  if (more) auth.use(more)
  await auth.ready()
  return { auth, advance: (ms) => void (now += ms), browser: (cookies) => createBrowser((request) => auth.handler(request), cookies) }
}

function createBrowser(handler: (request: Request) => Promise<Response>, cookies = ''): Browser {
  const jar = new Map(cookies === '' ? [] : [cookies.split(/=(.*)/s).slice(0, 2) as [string, string]])
  const browser: Browser = {
    cookie: () => [...jar].map(([name, value]) => `${name}=${value}`).join('; '),
    async send(path, init = {}) {
      const response = await handler(new Request(`${origin}/auth${path}`, { ...init, headers: { cookie: browser.cookie() } }))
      for (const line of response.headers.getSetCookie()) {
        const [pair = '', ...attributes] = line.split('; ')
        const [name = '', value = ''] = pair.split(/=(.*)/s)
        if (attributes.includes('Max-Age=0')) jar.delete(name)
        else jar.set(name, value)
      }
      return response
    },
    async post(path, fields = {}) {
      const { csrfToken } = (await (await browser.send('/csrf')).json()) as { csrfToken: string }
      return browser.send(path, { method: 'POST', body: new URLSearchParams({ csrfToken, ...fields }) })
    },
    signIn: (id) => browser.post('/callback/people', { id }),
    session: async () => (await browser.send('/session')).json() as Promise<Session | null>,
  }
  return browser
}
