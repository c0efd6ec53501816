/** NextAuth 4.24 itself, and the same app after the move of docs/migrating-from-nextauth-4.md: no user is signed out, in either direction. */
import type { RequestListener } from 'node:http'
import { createAuth } from 'authkernel'
import { nodeBinding } from 'authkernel/bindings/node'
import { getToken } from 'authkernel/jwt'
import { nextAuth4CompatPlugin, nextAuth4KeyInfo, nextAuth4Options, type NextAuth4Options } from 'authkernel/plugins/next-auth-4-compat'
import PostgresAdapter from '@auth/pg-adapter'
import pg from 'pg'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { makeDatabase, pgSchema } from '../adapters/_schemas.ts'
import { reachable, servers } from '../adapters/_servers.ts'
import { dropStore, type SqlSpec } from '../adapters/_stores.ts'
import { launch, person } from '../flows/_chromium.ts'
import { type RealOp, realOp } from '../_op/real.ts'
import { type Front, startFront } from './_front.ts'
import { bundleClient, nextAuthApp, requireFrom } from './_next-auth-4.ts'

const secret = 'a secret that both apps have, of 44 letters..'
const hasPostgres = (await reachable('postgres')) || Boolean(process.env.CI)

describe.each(['jwt', ...(hasPostgres ? (['database'] as const) : [])] as const)('NextAuth 4 with %s sessions', (strategy) => {
  const events: string[] = []
  const problems: string[] = []
  let front: Front
  let op: RealOp
  let spec: SqlSpec | undefined
  let pool: pg.Pool | undefined
  let browser: Browser
  let before: RequestListener
  let after: RequestListener
  let close: () => Promise<void>
  let read: (cookie: string) => Promise<unknown>

  beforeAll(async () => {
    front = await startFront(await bundleClient())
    vi.stubEnv('NEXTAUTH_URL', front.origin)
    op = await realOp([{ client_id: 'app', client_secret: 'app-secret', redirect_uris: [`${front.origin}/api/auth/callback/acme`] }])
    if (strategy === 'database') {
      spec = await makeDatabase(pgSchema)
      pool = new pg.Pool({ connectionString: new URL(`/${spec.name}`, servers.postgres).href }).on('error', () => {})
    }
    const options = (): NextAuth4Options => appOptions(op.issuer, pool, events, problems)
    before = nextAuthApp(options())
    const auth = createAuth({ ...nextAuth4Options(options()), basePath: '/api/auth', origin: front.origin, env: false })
      .use(nextAuth4CompatPlugin())
      .use(nodeBinding())
    await auth.ready()
    after = (req, res) => void auth.node.handler(req, res)
    close = () => auth.close()
    read = (cookie) => auth.session(new Request(front.origin, { headers: { cookie } }))
    browser = await launch()
  }, 240_000)
  afterAll(async () => {
    await browser?.close()
    await close?.()
    await front?.close()
    await op?.stop()
    await pool?.end()
    if (spec) await dropStore(spec)
    vi.unstubAllEnvs()
  })

  const visitor = async (): Promise<Page> => {
    const { page } = await person(browser)
    await page.goto(front.origin)
    return page
  }
  const expectWho = async (page: Page, who: string): Promise<void> => {
    await page.goto(front.origin)
    await expect.poll(() => page.locator('#who').textContent()).toBe(who)
  }
  /** By its own client: it fetches a CSRF token, posts, and goes where the answer says. */
  async function signIn(page: Page): Promise<void> {
    await page.goto(front.origin)
    // The pages of the test provider are for programs: it is visited by one, and the browser opens the address that it leads to.
    await page.route(`${op.issuer}/**`, (route) => route.fulfill({ contentType: 'text/html', body: 'at the provider' }))
    const asked = page.waitForRequest((request) => request.url().startsWith(op.issuer))
    await page.evaluate(() => void (window as never as Client4).client.signIn('acme', { callbackUrl: '/' }))
    const location = (await asked).url()
    await page.getByText('at the provider').waitFor()
    await page.goto(await op.visit(location, { login: 'alice' }))
    await page.waitForURL(`${front.origin}/`)
  }
  async function signOut(page: Page): Promise<void> {
    await page.goto(front.origin)
    await page.evaluate(() => (window as never as Client4).client.signOut({ redirect: false }))
    await expectWho(page, 'unauthenticated')
  }
  const cookieOf = async (page: Page): Promise<string> =>
    (await page.context().cookies()).map(({ name, value }) => `${name}=${value}`).join('; ')
  const alice = 'Alice Liddell, member'

  // Version 4 has credentials with sessions in a cookie alone.
  const ofTokens: (name: string, run: () => Promise<void>) => void = strategy === 'jwt' ? it : () => {}

  it('a user of NextAuth stays signed in after the move, signs out and in; NextAuth reads the new session, too', async () => {
    front.answerWith(before)
    const page = await visitor()
    await signIn(page)
    await expectWho(page, alice)

    front.answerWith(after)
    await expectWho(page, alice)
    expect(await read(await cookieOf(page))).toMatchObject({ user: { name: 'Alice Liddell' }, role: 'member' })
    await signOut(page)
    await signIn(page)
    await expectWho(page, alice)
    expect(events.slice(-2)).toEqual(['out', 'in: alice@example.com by acme'])

    front.answerWith(before)
    await expectWho(page, alice)
    front.answerWith(after)
    await expectWho(page, alice)
    front.answerWith(before)
    await signOut(page)
    front.answerWith(after)
    await expectWho(page, 'unauthenticated')
    expect(problems).toEqual([])
  })

  it('the routes of the client answer in the same form', async () => {
    const look = async (listener: RequestListener): Promise<unknown> => {
      front.answerWith(listener)
      const page = await visitor()
      return page.evaluate(async () => {
        const { client } = window as never as Client4
        const json = { headers: { 'Content-Type': 'application/json' } }
        const session = await fetch('/api/auth/session', json)
        const log = await fetch('/api/auth/_log', {
          method: 'POST',
          body: new URLSearchParams({ level: 'error', code: 'X', message: 'y' }),
        })
        const providers = (await client.getProviders()) as Record<string, Record<string, unknown>>
        return {
          signedOut: [session.status, await session.text(), await client.getSession()],
          log: log.status,
          csrf: (await client.getCsrfToken())?.length,
          providers: Object.values(providers).map(({ id, name, signinUrl, callbackUrl }) => ({ id, name, signinUrl, callbackUrl })),
        }
      })
    }
    expect(await look(after)).toEqual(await look(before))
  })

  it('the session has the fields that it had, also where the callback spreads all of them', async () => {
    front.answerWith(before)
    const page = await visitor()
    await signIn(page)
    const look = (listener: RequestListener): Promise<Record<string, unknown>> => {
      front.answerWith(listener)
      return page.evaluate(async () => (await fetch('/api/auth/session')).json() as Promise<Record<string, unknown>>)
    }
    const { expires, ...theirs } = await look(before)
    const { expires: until, ...ours } = await look(after)
    expect(ours).toEqual(theirs)
    expect([typeof until, typeof expires]).toEqual(['string', 'string'])
  })

  ofTokens('credentials: `signIn` without a redirect tells the same', async () => {
    const tries: Record<string, string>[] = [
      { username: 'demo', password: 'open sesame' },
      { username: 'demo', password: 'wrong' },
      { username: 'nobody', password: 'x' },
      { username: 'banned', password: 'open sesame' },
    ]
    const look = async (listener: RequestListener): Promise<unknown[]> => {
      front.answerWith(listener)
      const answers: unknown[] = []
      for (const fields of tries) {
        const page = await visitor()
        answers.push(
          await page.evaluate(
            (form) => (window as never as Client4).client.signIn('credentials', { ...form, redirect: false, callbackUrl: '/' }),
            fields,
          ),
        )
        await page.context().close()
      }
      return answers
    }
    const theirs = await look(before)
    expect(theirs).toMatchObject([
      { ok: true, error: null },
      { ok: false, status: 401, error: 'The password is wrong.' },
      { ok: false, status: 401, error: 'CredentialsSignin' },
      { ok: false, status: 403, error: 'AccessDenied' },
    ])
    expect(await look(after)).toEqual(theirs)
  })

  ofTokens('a token of many chunks is read in both directions, and `update` of the client works', async () => {
    front.answerWith(before)
    const page = await visitor()
    await page.evaluate(() =>
      (window as never as Client4).client.signIn('credentials', { username: 'large', password: 'open sesame', redirect: false }),
    )
    const names = async (): Promise<string[]> =>
      (await page.context().cookies()).map(({ name }) => name).filter((name) => name.includes('session-token'))
    expect((await names()).length).toBeGreaterThan(1)
    await expectWho(page, 'large, member')
    front.answerWith(after)
    await expectWho(page, 'large, member')
    await page.evaluate(() => (window as never as Client4).update({ name: 'Renamed' }))
    await expectWho(page, 'Renamed, member')
    expect((await names()).length).toBeGreaterThan(1)
    front.answerWith(before)
    await expectWho(page, 'Renamed, member')
  })

  ofTokens('getToken of either product reads the cookies of the other', async () => {
    const theirs = requireFrom('next-auth/jwt') as { getToken(of: object): Promise<{ sub?: string } | null> }
    const ask = { secret, cookieName: 'next-auth.session-token' }
    for (const listener of [before, after]) {
      front.answerWith(listener)
      const page = await visitor()
      await page.evaluate(() =>
        (window as never as Client4).client.signIn('credentials', { username: 'demo', password: 'open sesame', redirect: false }),
      )
      const cookie = await cookieOf(page)
      const cookies = Object.fromEntries(cookie.split('; ').map((pair) => pair.split('=') as [string, string]))
      expect(await theirs.getToken({ req: { cookies, headers: {} }, ...ask })).toMatchObject({ sub: 'demo' })
      const req = new Request(front.origin, { headers: { cookie } })
      expect(await getToken({ req, ...ask, salt: '', keyInfo: nextAuth4KeyInfo })).toMatchObject({ sub: 'demo' })
      expect(await read(cookie)).toMatchObject({ user: { name: 'demo' } })
    }
  })
})

interface Client4 {
  client: {
    signIn(provider: string, options?: object): Promise<unknown>
    signOut(options?: object): Promise<unknown>
    getSession(): Promise<unknown>
    getProviders(): Promise<unknown>
    getCsrfToken(): Promise<string | undefined>
  }
  update(data: unknown): Promise<unknown>
}

/** As the app has them in `pages/api/auth/[...nextauth].ts`. */
function appOptions(issuer: string, pool: pg.Pool | undefined, events: string[], problems: string[]): NextAuth4Options {
  return {
    secret,
    session: { strategy: pool ? 'database' : 'jwt' },
    ...(pool && { adapter: PostgresAdapter(pool) as never }),
    providers: [
      {
        id: 'acme',
        name: 'Acme ID',
        type: 'oauth',
        wellKnown: `${issuer}/.well-known/openid-configuration`,
        authorization: { params: { scope: 'openid email profile' } },
        idToken: true,
        checks: ['pkce', 'state'],
        clientId: 'app',
        clientSecret: 'app-secret',
        profile: (profile: Record<string, string>) => ({ id: profile['sub'], name: profile['name'], email: profile['email'] }),
      },
      ...(pool ? [] : [(requireFrom('next-auth/providers/credentials') as { default(options: object): object }).default(passwords)]),
    ],
    callbacks: {
      signIn: ({ user }) => user.name !== 'banned',
      jwt({ token, trigger, session }) {
        const name = trigger === 'update' && (session as { name?: unknown }).name
        return {
          ...token,
          role: 'member',
          ...(typeof name === 'string' && { name }),
          ...(token.name === 'large' && { filler: 'x'.repeat(6_000) }),
        }
      },
      session: ({ session, token }) => ({ ...session, role: token?.['role'] ?? 'member' }),
    },
    events: {
      signIn: ({ user, account }) => void events.push(`in: ${user.email?.toLowerCase()} by ${account?.provider}`),
      signOut: () => void events.push('out'),
    },
    logger: {
      // The client posts what it met: a request that ended because the page was left.
      error: (code: string, metadata: unknown) => void (code.startsWith('CLIENT_') || problems.push(`${code} ${String(metadata)}`)),
      warn() {},
      debug() {},
    },
  }
}

const passwords = {
  name: 'Password',
  credentials: { username: { label: 'Username' }, password: { label: 'Password', type: 'password' } },
  async authorize(credentials: Record<string, string> | undefined, req: { headers?: Record<string, string>; method?: string }) {
    if (req.method !== 'POST' || req.headers?.['host'] === undefined) throw new TypeError('the request has another form')
    const { username = '', password } = credentials ?? {}
    if (username === 'nobody') return null
    if (password !== 'open sesame') throw new Error('The password is wrong.')
    return { id: username, name: username, email: `${username}@example.com` }
  },
}
