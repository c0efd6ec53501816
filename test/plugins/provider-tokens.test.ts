/** Provider tokens at the real `oidc-provider`, which rotates refresh tokens and ends the family when one comes twice. */
import type { AuthConfig } from 'authkernel'
import { memoryRecords } from 'authkernel/plugins/memory'
import { providerTokensPlugin, type ProviderTokensOptions } from 'authkernel/plugins/provider-tokens'
import { recordsPlugin } from 'authkernel/plugins/records'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Client, locationOf } from '../_client.ts'
import type { RealOp } from '../_op/real.ts'
import { clientSecret, tokenOp, tokenWorld, type World } from './_provider-tokens.ts'

let op: RealOp
beforeAll(async () => {
  op = await tokenOp()
})
afterAll(() => op.stop())
const world = (...args: Parameters<typeof tokenWorld> extends [RealOp, ...infer Rest] ? Rest : never): World => tokenWorld(op, ...args)
const minute = 60_000

describe.each(['jwt', 'database'] as const)('%s sessions', (strategy) => {
  const made = (options?: ProviderTokensOptions, provider?: object): World => world(options, { session: { strategy } }, provider)

  it('answers what the sign-in brought, and a fresh one when that ends soon', async () => {
    const { auth, request, signIn, clock, refreshes, events } = made()
    expect(await auth.tokens.get(request(), 'acme')).toBeNull()
    await signIn()
    const first = await auth.tokens.get(request(), 'acme')
    expect(first).toEqual({
      accessToken: expect.any(String),
      expiresAt: expect.any(Number),
      scope: expect.stringContaining('offline_access'),
      tokenType: 'bearer',
    })
    expect([(await auth.tokens.get(request(), 'acme'))?.accessToken, refreshes()]).toEqual([first?.accessToken, 0])
    clock.ahead = 4.5 * minute
    const second = await auth.tokens.get(request(), 'acme')
    expect([second?.accessToken === first?.accessToken, refreshes()]).toEqual([false, 1])
    expect(events).toEqual([['tokensRefreshed', { userId: expect.any(String), provider: 'acme', expiresAt: second?.expiresAt }]])
    expect((await auth.tokens.get(request(), 'acme', { minValid: 10 }))?.accessToken).toBe(second?.accessToken)
    expect(await auth.tokens.get(request(), 'other')).toBeNull()
  })

  it('ten callers at once make one refresh', async () => {
    const { auth, request, signIn, clock, refreshes } = made()
    await signIn()
    clock.ahead = 10 * minute
    const all = await Promise.all(Array.from({ length: 10 }, () => auth.tokens.get(request(), 'acme')))
    expect([new Set(all.map((one) => one?.accessToken)).size, refreshes()]).toEqual([1, 1])
  })

  it('tokens are in no session, no answer and no row as plain text', async () => {
    const records = memoryRecords()
    const written: string[] = []
    const { write } = records
    const watched = { ...records, write: (...args: Parameters<typeof write>) => (written.push(JSON.stringify(args)), write(...args)) }
    const { auth, request, signIn, browser } = world({}, { session: { strategy } })
    auth.use(recordsPlugin(watched))
    await signIn()
    const token = (await auth.tokens.get(request(), 'acme'))?.accessToken as string
    expect(written.join()).toContain('providerToken')
    expect([written.join(), JSON.stringify(await browser.session())].filter((text) => text.includes(token))).toEqual([])
  })

  it('revoke ends them at the provider; a job finds them by user id', async () => {
    const { auth, request, signIn, events, clock } = made()
    await signIn()
    clock.ahead = 10 * minute
    await auth.tokens.get(request(), 'acme')
    const [[, told]] = events as [[string, { userId: string }]]
    const { userId } = told
    const token = await auth.tokens.get({ userId }, 'acme')
    expect(token?.accessToken).toBe((await auth.tokens.get(request(), 'acme'))?.accessToken)
    expect(await auth.tokens.get({ userId: 'somebody-else' }, 'acme')).toBeNull()
    expect(await auth.tokens.revoke(request(), 'acme')).toBe(true)
    expect([await auth.tokens.get(request(), 'acme'), await auth.tokens.revoke(request(), 'acme')]).toEqual([null, false])
    const me = await fetch(`${op.issuer}/me`, { headers: { authorization: `Bearer ${token?.accessToken}` } })
    expect(me.status).toBe(401)
  })
})

describe('a refresh that goes wrong', () => {
  const lostAnswer = async (send: () => Promise<Response>): Promise<Response> => {
    await send()
    throw Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNRESET' } })
  }
  const never = (code: string) => (): Promise<never> => Promise.reject(Object.assign(new TypeError('fetch failed'), { cause: { code } }))

  it('a lost answer of a provider that rotates: the token is not sent again, sign in again', async () => {
    const { auth, request, signIn, clock, refreshes, answers, events } = world()
    await signIn()
    clock.ahead = 10 * minute
    answers.push(lostAnswer)
    for (let i = 0; i < 3; i++)
      await expect(auth.tokens.get(request(), 'acme')).rejects.toMatchObject({ type: 'TokensExpired', status: 401 })
    expect([refreshes(), events]).toEqual([
      1,
      [['tokensExpired', { userId: expect.any(String), provider: 'acme', reason: 'unknown outcome' }]],
    ])
    // The provider lives in the present, and its ID token would be too old.
    clock.ahead = 0
    await signIn()
    expect((await auth.tokens.get(request(), 'acme'))?.accessToken).toEqual(expect.any(String))
  })

  it('of a provider that does not rotate: one more try, not two', async () => {
    const { auth, request, signIn, clock, refreshes, answers } = world(
      { providers: { acme: { rotation: false } } },
      {},
      { clientId: 'keeps' },
    )
    await signIn()
    clock.ahead = 10 * minute
    answers.push(lostAnswer)
    expect((await auth.tokens.get(request(), 'acme'))?.accessToken).toEqual(expect.any(String))
    expect(refreshes()).toBe(2)
    clock.ahead = 20 * minute
    answers.push(lostAnswer, lostAnswer)
    await expect(auth.tokens.get(request(), 'acme')).rejects.toMatchObject({ type: 'TokensExpired' })
    await expect(auth.tokens.get(request(), 'acme')).rejects.toMatchObject({ type: 'TokensExpired' })
    expect(refreshes()).toBe(4)
  })

  it('a provider that kept its token twice counts as one that does not rotate', async () => {
    const { auth, request, signIn, clock, refreshes, answers } = world({}, {}, { clientId: 'keeps' })
    await signIn()
    for (const at of [10, 20]) {
      clock.ahead = at * minute
      await auth.tokens.get(request(), 'acme')
    }
    clock.ahead = 30 * minute
    answers.push(lostAnswer)
    expect(await auth.tokens.get(request(), 'acme')).not.toBeNull()
    expect(refreshes()).toBe(4)
  })

  it('a provider that cannot be reached: busy, then the same token again', async () => {
    const { auth, request, signIn, clock, refreshes, answers, events } = world()
    await signIn()
    clock.ahead = 10 * minute
    answers.push(never('ECONNREFUSED'))
    await expect(auth.tokens.get(request(), 'acme')).rejects.toMatchObject({ type: 'TokensBusy', status: 503, retryAfter: 5 })
    await expect(auth.tokens.get(request(), 'acme')).rejects.toMatchObject({ type: 'TokensBusy' })
    expect(refreshes()).toBe(1)
    clock.ahead += 6_000
    expect(await auth.tokens.get(request(), 'acme')).not.toBeNull()
    expect(events.map(([name]) => name)).toEqual(['tokensRefreshed'])
  })

  it.each(['jwt', 'database'] as const)(
    'invalid_grant: tokensExpired once, no further request; by option the sessions end: %s',
    async (strategy) => {
      const { auth, request, signIn, clock, refreshes, answers, events, browser } = world(
        { onExpired: 'endSessions' },
        { session: { strategy, ...(strategy === 'jwt' && { revocable: true }) } },
      )
      await signIn()
      clock.ahead = 10 * minute
      answers.push(() => Promise.resolve(Response.json({ error: 'invalid_grant' }, { status: 400 })))
      await expect(auth.tokens.get(request(), 'acme')).rejects.toMatchObject({ type: 'TokensExpired' })
      expect([refreshes(), events.map(([, message]) => (message as { reason: string }).reason)]).toEqual([1, ['invalid_grant']])
      expect(await browser.session()).toBeNull()
    },
  )

  it.each<[string, object]>([
    ['expires_in 0', { expires_in: 0 }],
    ['no expires_in', {}],
    ['1e12', { expires_in: 1e12 }],
  ])('an answer with %s makes no loop', async (_name, more) => {
    const { auth, request, signIn, clock, refreshes, answers } = world()
    await signIn()
    clock.ahead = 10 * minute
    answers.push(() => Promise.resolve(Response.json({ access_token: 'fresh', token_type: 'Bearer', ...more })))
    expect((await auth.tokens.get(request(), 'acme'))?.accessToken).toBe('fresh')
    expect(refreshes()).toBe(1)
  })

  it('a thief uses the token again and the provider ends the family: one request, told once, and a new sign-in heals', async () => {
    const { auth, request, signIn, clock, refreshes, events, sent } = world()
    await signIn()
    clock.ahead = 10 * minute
    expect(await auth.tokens.get(request(), 'acme')).not.toBeNull()
    const [stolen = ''] = sent
    const authorization = `Basic ${Buffer.from(`app:${clientSecret}`).toString('base64')}`
    const body = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: stolen })
    expect((await fetch(`${op.issuer}/token`, { method: 'POST', body, headers: { authorization } })).status).toBe(400)
    clock.ahead = 20 * minute
    for (let i = 0; i < 3; i++)
      await expect(auth.tokens.get(request(), 'acme')).rejects.toMatchObject({ type: 'TokensExpired', status: 401 })
    expect([refreshes(), events.filter(([name]) => name === 'tokensExpired')]).toEqual([
      2,
      [['tokensExpired', { userId: expect.any(String), provider: 'acme', reason: 'invalid_grant' }]],
    ])
    clock.ahead = 0
    await signIn()
    expect(await auth.tokens.get(request(), 'acme')).not.toBeNull()
  })

  it('a sign-in while a refresh is under way wins, and the late tokens are revoked', async () => {
    const { auth, request, signIn, clock, answers } = world()
    await signIn()
    clock.ahead = 10 * minute
    const stolen: string[] = []
    answers.push(async (send) => {
      const answer = await send()
      stolen.push(((await answer.clone().json()) as { access_token: string }).access_token)
      clock.ahead = 0
      await signIn()
      return answer
    })
    const token = await auth.tokens.get(request(), 'acme', { minValid: 0 })
    expect(token?.accessToken).not.toBe(stolen[0])
    const me = await fetch(`${op.issuer}/me`, { headers: { authorization: `Bearer ${stolen[0]}` } })
    expect(me.status).toBe(401)
  })

  it('who waits long is told so, and the refresh goes on', async () => {
    const { auth, request, signIn, clock, answers, refreshes } = world({ wait: 50 })
    await signIn()
    clock.ahead = 10 * minute
    let open = (): void => {}
    const gate = new Promise<void>((resolve) => (open = resolve))
    answers.push(async (send) => (await gate, send()))
    await expect(auth.tokens.get(request(), 'acme')).rejects.toMatchObject({ type: 'TokensBusy' })
    open()
    await expect.poll(() => auth.tokens.get(request(), 'acme').then(Boolean, () => false)).toBe(true)
    expect(refreshes()).toBe(1)
  })
})

it('scopes add up, and a refresh without `scope` leaves them', async () => {
  const { auth, request, signIn, clock, browser, answers } = world()
  await signIn()
  const asked = new URL(locationOf(await browser.signIn('acme', {}, '?scope=calendar'))).searchParams.get('scope')
  expect(asked?.split(' ').sort()).toEqual(['calendar', 'email', 'offline_access', 'openid'])
  await signIn('?scope=calendar')
  expect((await auth.tokens.get(request(), 'acme'))?.scope?.split(' ')).toEqual(expect.arrayContaining(['calendar', 'email']))
  clock.ahead = 10 * minute
  answers.push(() => Promise.resolve(Response.json({ access_token: 'fresh', token_type: 'Bearer', expires_in: 60 })))
  expect((await auth.tokens.get(request(), 'acme'))?.scope).toContain('calendar')
})

describe('tokens.fetch', () => {
  it('sends the token to origins of `resources` alone, and follows no redirect', async () => {
    const sent: [string, string | null, unknown][] = []
    const { auth, request, signIn } = world(
      { providers: { acme: { resources: ['https://api.example'] } } },
      {
        runtime: {
          fetch: (async (input: string, init: RequestInit) => {
            if (!input.startsWith('https://api.example')) return globalThis.fetch(input, init)
            sent.push([input, new Headers(init.headers).get('authorization'), init.redirect])
            return new Response(null, { status: 302, headers: { location: 'https://evil.example' } })
          }) as typeof globalThis.fetch,
        },
      },
    )
    await signIn()
    const token = await auth.tokens.get(request(), 'acme')
    const headers = { authorization: 'Bearer of-somebody-else', accept: 'text/plain' }
    expect((await auth.tokens.fetch(request(), 'acme', 'https://api.example/me?x=1', { headers })).status).toBe(302)
    expect(sent).toEqual([['https://api.example/me?x=1', `Bearer ${token?.accessToken}`, 'manual']])
    for (const url of [
      'https://evil.example/',
      'https://api.example@evil.example/',
      'http://api.example/',
      'https://api.example.evil.example/',
      'https://api.example:8443/',
      'https:\\\\evil.example/https://api.example',
      '//evil.example/',
      'data:text/plain,https://api.example',
    ])
      await expect(auth.tokens.fetch(request(), 'acme', url)).rejects.toThrow('resources')
    expect(sent).toHaveLength(1)
  })
})

describe('without records: a sealed cookie', () => {
  const site = (options: ProviderTokensOptions = {}): World =>
    world({ providers: { acme: { rotation: false } }, ...options }, { adapter: undefined as never }, { clientId: 'keeps' })
  /** Puts what came into the browser. */
  const taken = (browser: Client, headers: Headers): number => {
    const cookies = headers.getSetCookie()
    for (const line of cookies) {
      const [pair = ''] = line.split(';')
      const [name = '', value = ''] = pair.split(/=(.*)/s)
      if (/max-age=0(;|$)/i.test(line)) browser.cookies.delete(name)
      else browser.cookies.set(name, value)
    }
    return cookies.length
  }
  const reply = (): Headers => new Headers()

  it('answers without a write while the token is good, and says so before anything is sent when it cannot write', async () => {
    const { auth, request, signIn, clock, refreshes, browser } = site()
    await signIn()
    const first = await auth.tokens.get(request(), 'acme')
    expect(first?.accessToken).toEqual(expect.any(String))
    clock.ahead = 10 * minute
    await expect(auth.tokens.get(request(), 'acme')).rejects.toMatchObject({ type: 'TokensNotWritable' })
    expect(refreshes()).toBe(0)
    const headers = reply()
    const second = await auth.tokens.get(request(), 'acme', { headers })
    expect([second?.accessToken === first?.accessToken, refreshes(), taken(browser, headers)]).toEqual([false, 1, expect.any(Number)])
    expect([(await auth.tokens.get(request(), 'acme'))?.accessToken, refreshes()]).toEqual([second?.accessToken, 1])
    expect(JSON.stringify([...browser.cookies])).not.toContain(String(second?.accessToken))
  })

  it('ten callers at once make one refresh; the same request asks once; a tab with the former cookie is served too', async () => {
    const { auth, request, signIn, clock, refreshes } = site()
    await signIn()
    clock.ahead = 10 * minute
    const one = request()
    const all = await Promise.all(
      [...Array(10).keys()].map((at) => auth.tokens.get(at < 5 ? one : request(), 'acme', { headers: reply() })),
    )
    expect([new Set(all.map((token) => token?.accessToken)).size, refreshes()]).toEqual([1, 1])
    expect([(await auth.tokens.get(one, 'acme'))?.accessToken, refreshes()]).toEqual([all[0]?.accessToken, 1])
    expect((await auth.tokens.get(request(), 'acme', { headers: reply() }))?.accessToken).toEqual(expect.any(String))
    expect(refreshes()).toBe(2)
  })

  it('tokens.fetch and revoke carry the cookie; sign-out takes it away', async () => {
    const { auth, request, signIn, clock, browser } = site({ providers: { acme: { rotation: false, resources: [op.issuer] } } })
    await signIn()
    clock.ahead = 10 * minute
    const headers = reply()
    expect((await auth.tokens.fetch(request(), 'acme', `${op.issuer}/me`, {}, { headers })).status).toBe(200)
    taken(browser, headers)
    const token = await auth.tokens.get(request(), 'acme')
    await expect(auth.tokens.revoke(request(), 'acme')).rejects.toMatchObject({ type: 'TokensNotWritable' })
    expect((await fetch(`${op.issuer}/me`, { headers: { authorization: `Bearer ${token?.accessToken}` } })).status).toBe(200)
    const gone = reply()
    expect(await auth.tokens.revoke(request(), 'acme', { headers: gone })).toBe(true)
    taken(browser, gone)
    expect(await auth.tokens.get(request(), 'acme')).toBeNull()
    expect((await fetch(`${op.issuer}/me`, { headers: { authorization: `Bearer ${token?.accessToken}` } })).status).toBe(401)
    clock.ahead = 0
    await signIn()
    await browser.post('/signout', { csrfToken: await browser.csrfToken() })
    expect([...browser.cookies.keys()].filter((name) => name.includes('provider-tokens'))).toEqual([])
  })

  it('a lost answer is asked for once more; invalid_grant is told once and ends the session by option', async () => {
    const { auth, request, signIn, clock, refreshes, answers, events, browser } = site({ onExpired: 'endSessions' })
    await signIn()
    clock.ahead = 10 * minute
    answers.push(async (send) => {
      await send()
      throw Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNRESET' } })
    })
    const headers = reply()
    expect(await auth.tokens.get(request(), 'acme', { headers })).not.toBeNull()
    expect(refreshes()).toBe(2)
    taken(browser, headers)
    clock.ahead = 20 * minute
    answers.push(() => Promise.resolve(Response.json({ error: 'invalid_grant' }, { status: 400 })))
    const over = reply()
    await expect(auth.tokens.get(request(), 'acme', { headers: over })).rejects.toMatchObject({ type: 'TokensExpired' })
    taken(browser, over)
    expect(events.map(([name, message]) => [name, (message as { reason?: string }).reason])).toEqual([
      ['tokensRefreshed', undefined],
      ['tokensExpired', 'invalid_grant'],
    ])
    expect(await browser.session()).toBeNull()
  })

  it('the cookie of another person says nothing, and a job has none', async () => {
    const { auth, request, signIn, browser } = site()
    await signIn()
    const stolen = [...browser.cookies].filter(([name]) => name.includes('provider-tokens'))
    browser.cookies.clear()
    await signIn()
    expect(stolen.length).toBeGreaterThan(0)
    for (const [name, value] of stolen) browser.cookies.set(name, value)
    expect(await auth.tokens.get(request(), 'acme')).toBeNull()
    await expect(auth.tokens.get({ userId: 'somebody' }, 'acme')).rejects.toThrow('records')
  })

  it('scopes add up', async () => {
    const { signIn, browser } = site()
    await signIn()
    const asked = new URL(locationOf(await browser.signIn('acme', {}, '?scope=calendar'))).searchParams.get('scope')
    expect(asked?.split(' ').sort()).toEqual(['calendar', 'email', 'offline_access', 'openid'])
  })
})

describe('configuration', () => {
  const ready = (options: ProviderTokensOptions, config: AuthConfig = {}): Promise<void> => world(options, config).auth.ready()

  it('needs records, and says how to get them', async () => {
    await expect(ready({}, { adapter: undefined as never })).rejects.toThrow(/records.*`providers\.acme\.rotation: false`/)
    await expect(ready({ providers: { acme: { rotation: true } } }, { adapter: undefined as never })).rejects.toThrow(/recordsPlugin/)
  })
  it('names what is wrong with an option', async () => {
    await expect(ready({ providers: { acne: { rotation: false } } })).rejects.toThrow('providers.acne')
    expect(() => providerTokensPlugin({ providers: { acme: { resources: ['https://api.example/path'] } } })).toThrow('resources')
    expect(() => providerTokensPlugin({ minValid: -1 })).toThrow('minValid')
  })
  it('refuses to end sessions where none can be ended from elsewhere', async () => {
    await expect(ready({ onExpired: 'endSessions' }, { session: { strategy: 'jwt' } })).rejects.toThrow('`session.revocable: true`')
    await ready({ onExpired: 'endSessions' }, { session: { strategy: 'jwt', revocable: true } })
    await ready({ onExpired: 'endSessions' }, { session: { strategy: 'database' } })
  })
  it('works without stored users: records alone', async () => {
    const { auth, request, signIn, clock } = world({}, { adapter: undefined as never })
    auth.use(recordsPlugin(memoryRecords()))
    await signIn()
    clock.ahead = 10 * minute
    expect(await auth.tokens.get(request(), 'acme')).not.toBeNull()
  })
})
