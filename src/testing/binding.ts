/** The contract of bindings: what an app of any framework must do once authkernel is mounted in it, over HTTP and nothing else. */
import type { AuthConfig } from 'authkernel'
import { afterAll, beforeAll, describe, expect, it } from './runner.ts'
import { addressRule, rootRule } from './binding-server.ts'
import { type BindingPerson, Client, type Reply } from './binding-client.ts'
import { faultRules } from './binding-faults.ts'
import { guardRule } from './binding-guard.ts'
import type { BindingHost, BindingSubject, TestBindingOptions } from './binding-options.ts'

const ada: BindingPerson = {
  provider: 'credentials',
  name: 'Ada',
  right: { username: 'ada', password: 'right' },
  wrong: { username: 'ada', password: 'wrong' },
}

/** A configuration for the contract: one user with a password. Reads no environment and logs nothing. */
export function bindingConfig(more: AuthConfig = {}): AuthConfig {
  return {
    secret: 'a-secret-of-more-than-32-characters-for-the-contract',
    env: false,
    trustHost: true,
    logger: { error: () => {}, warn: () => {} },
    providers: [
      {
        id: ada.provider,
        name: 'Password',
        type: 'credentials',
        credentials: { username: {}, password: { type: 'password' } },
        authorize: ({ username, password }) =>
          username === 'ada' && password === 'right' ? { id: 'ada', name: ada.name, email: 'ada@example.com' } : null,
      },
    ],
    ...more,
  }
}

/** Runs the contract as a vitest suite. */
export function testBinding(options: TestBindingOptions): void {
  const { name, start, basePath = '/auth', person = ada } = options
  describe(`binding contract: ${name}`, () => {
    let host: BindingHost
    beforeAll(async () => {
      host = await start()
    })
    afterAll(() => host?.close())
    const subject: BindingSubject = {
      host: () => host,
      client: () => new Client(host.origin, basePath),
      start,
      base: basePath,
      person,
      paths: { session: '/page', guarded: '/guarded', login: '/login', logout: '/logout', ...options.paths },
    }
    routeRules(subject)
    serverRules(subject, options.guard)
    faultRules(subject)
    if (options.fixed) return
    optionRules(subject)
    if (options.rootRoutes) rootRule(subject)
    if (options.rootRoutes && !options.guard) guardRule(subject)
    if (options.address !== 'unknown') addressRule(subject)
  })
}

function routeRules({ host, client, base, person }: BindingSubject): void {
  it('answers the routes with their own headers, and several Set-Cookie headers survive', async () => {
    const csrf = await client().get(`${base}/csrf?callbackUrl=/there`)
    expect(
      [csrf.status, csrf.headers.get('content-type'), csrf.cookies.length],
      `${csrf.summary}\nStatus, Content-Type and cookies`,
    ).toEqual([200, 'application/json', 2])
    expect(csrf.headers.get('cache-control')).toBe('private, no-store')
    expect(JSON.parse(csrf.text)).toMatchObject({ csrfToken: expect.stringMatching(/^[0-9a-f]{64}$/) })
    const page = await client().get(`${base}/signin`)
    expect([page.status, page.headers.get('content-type')]).toEqual([200, expect.stringMatching(/^text\/html/)])
  })

  it('signs in and out by form, as JSON and for scripts', async () => {
    for (const kind of ['form', 'json'] as const) {
      const ada = client()
      const answer = await ada.signIn(person, person.right, kind)
      expect([answer.status, answer.headers.get('location')], answer.summary).toEqual([302, `${host().origin}/after`])
      expect(JSON.parse((await ada.get(`${base}/session`)).text)).toMatchObject({ user: { name: person.name } })
      const out = await ada.signOut()
      expect([out.status, out.headers.get('location')], out.summary).toEqual([302, `${host().origin}/bye`])
      expect((await ada.get(`${base}/session`)).text).toBe('null')
    }
    const script = await client().signIn(person, person.right, 'form', { 'x-auth-return-redirect': '1' })
    expect([script.status, script.text], script.summary).toEqual([200, JSON.stringify({ url: `${host().origin}/after` })])
  })

  it('a wrong password leads to the page that says so, and signs no user in', async () => {
    const stranger = client()
    const answer = await stranger.signIn(person, person.wrong)
    expect(answer.status, answer.summary).toBe(302)
    const to = new URL(answer.headers.get('location') ?? '')
    expect([to.origin, to.pathname, to.searchParams.get('error')]).toEqual([host().origin, `${base}/signin`, 'CredentialsSignin'])
    expect((await stranger.get(`${base}/session`)).text).toBe('null')
  })
}

function serverRules({ host, client, base, paths, person }: BindingSubject, guard?: 'redirect' | 'own'): void {
  it('the session is there on the server, for the user who asks alone', async () => {
    const [ada, stranger] = [client(), client()]
    await ada.signIn(person, person.right)
    const answers = await Promise.all([...Array(8).keys()].map((i) => (i % 2 === 0 ? ada : stranger).get(paths.session)))
    expect(answers.map(({ text }) => (JSON.parse(text) as { user?: { name: string } } | null)?.user?.name)).toEqual(
      [...Array(8).keys()].map((i) => (i % 2 === 0 ? person.name : undefined)),
    )
  })

  it('the guard lets users with a session pass, and leads others to the sign-in page and back', async () => {
    const ada = client()
    await ada.signIn(person, person.right)
    expect(JSON.parse((await ada.get(paths.guarded)).text)).toMatchObject({ user: { name: person.name } })
    const refused = await client().get(`${paths.guarded}?a=1`, { accept: 'text/html' })
    expect([302, 303, 307], refused.summary).toContain(refused.status)
    const to = new URL(refused.headers.get('location') ?? '', host().origin)
    expect([to.origin, to.pathname]).toEqual([host().origin, `${base}/signin`])
    expect(to.searchParams.get('callbackUrl')).toContain(paths.guarded)
    if (guard === 'redirect') return
    expect((await client().get(paths.guarded, { accept: 'application/json' })).status).toBe(401)
  })

  it('server code signs in and out', async () => {
    const ada = client()
    const into = await ada.post(paths.login, person.right, { origin: host().origin })
    expect([isRedirect(into), locationPath(into, host().origin)], into.summary).toEqual([true, '/in'])
    expect(JSON.parse((await ada.get(paths.session)).text)).toMatchObject({ user: { name: person.name } })
    const out = await ada.post(paths.logout, {}, { origin: host().origin })
    expect([isRedirect(out), locationPath(out, host().origin)], out.summary).toEqual([true, '/out'])
    expect((await ada.get(paths.session)).text).toBe('null')
  })
}

function optionRules({ start, paths, base, person }: BindingSubject): void {
  it('a refreshed cookie goes out with the page (D51)', async () => {
    const host = await start({ session: { updateAge: 0 } })
    try {
      const ada = new Client(host.origin, base)
      const { cookies: issued } = await ada.signIn(person, person.right)
      const { cookies, summary } = await ada.get(paths.session)
      expect(
        cookieAttributes(cookies),
        `${summary}\n\`cookies\` of the seam sets the session's cookie on it, once, with the attributes that it had at sign-in`,
      ).toEqual(cookieAttributes(issued))
      const again = await ada.get(paths.session)
      expect(JSON.parse(again.text), `the refreshed cookie lost its value\n${again.summary}`).toMatchObject({ user: { name: person.name } })
    } finally {
      await host.close()
    }
  })

  it('D38: a store that is down is 503 on the route and an error for the page, and null where the options say so', async () => {
    const askBoth = async (more: AuthConfig): Promise<[Reply, Reply]> => {
      const host = await start({ adapter: brokenAdapter, session: { strategy: 'database' }, providers: [], ...more })
      try {
        const ada = new Client(host.origin, base)
        ada.jar.set('authkernel.session-token', 'x')
        return [await ada.get(`${base}/session`), await ada.get(paths.session)]
      } finally {
        await host.close()
      }
    }
    const [route, page] = await askBoth({})
    expect([route.status, page.status >= 500], `${route.summary}\n${page.summary}`).toEqual([503, true])
    const errors: string[] = []
    const answers = await askBoth({ sessionOnError: 'null', logger: { error: ({ name }) => void errors.push(name), warn: () => {} } })
    expect(answers.map(({ status, text }) => [status, text])).toEqual([
      [200, 'null'],
      [200, 'null'],
    ])
    expect(errors).toEqual(['SessionTokenError', 'SessionTokenError'])
  })
}

const down = (): Promise<never> => Promise.reject(new Error('The store is down.'))
const brokenAdapter = {
  createUser: down,
  getUser: down,
  getUserByEmail: down,
  getUserByAccount: down,
  updateUser: down,
  linkAccount: down,
  createSession: down,
  getSessionAndUser: down,
  updateSession: down,
  deleteSession: down,
}

/** Attributes of the session's cookies, in any spelling: jars write lifetimes in their own way. */
function cookieAttributes(cookies: readonly string[]): string[][] {
  const lasting = /^(?:expires|max-age)=.*/
  return cookies
    .filter((cookie) => /session-token=[^;]/.test(cookie))
    .map((cookie) => cookie.split(/;\s*/).slice(1))
    .map((attributes) => [...new Set(attributes.map((attribute) => attribute.toLowerCase().replace(lasting, 'a lifetime')))].sort())
}

function isRedirect({ status }: Reply): boolean {
  return [301, 302, 303].includes(status)
}

function locationPath({ headers }: Reply, origin: string): string {
  return new URL(headers.get('location') ?? '', origin).pathname
}
