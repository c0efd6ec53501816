/**
 * The protocol of the browser clients of Auth.js (WIRE section 15.1), spoken by a client written from that description because the package
 * itself is not installed: what it sees of @auth/core and what it sees here must be the same, absolute URLs included.
 */
import { describe, expect, it } from 'vitest'
import { createAuth, customFetch } from 'authkernel'
import { authjsCompatPlugin } from 'authkernel/plugins/authjs-compat'
import { freshAuthJs } from './_authjs.ts'
import { withClock } from './_clock.ts'
import { secret, start } from './_flow.ts'
import { FakeOp } from './_op.ts'
import { Recorder } from './_recorder.ts'

type Handler = (request: Request) => Promise<Response>
type Fields = Record<string, string>

const origin = 'http://localhost:3000'
const base = `${origin}/api/auth`

/** A page with the client in it. */
class Page {
  readonly #handler: Handler
  readonly #cookies: Map<string, string> = new Map()

  constructor(handler: Handler) {
    this.#handler = handler
  }

  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers)
    if (this.#cookies.size > 0) headers.set('cookie', [...this.#cookies].map((pair) => pair.join('=')).join('; '))
    const response = await this.#handler(
      new Request(path.startsWith('http') ? path : base + path, { ...init, headers, redirect: 'manual' }),
    )
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '' || line.includes('Max-Age=0')) this.#cookies.delete(name)
      else this.#cookies.set(name, value)
    }
    return response
  }

  /** null for failures, as the client reports them. */
  async get<T>(path: string): Promise<T | null> {
    const response = await this.fetch(path, { headers: { 'content-type': 'application/json' } })
    return response.ok ? ((await response.json()) as T) : null
  }

  async csrfToken(): Promise<string> {
    return (await this.get<{ csrfToken: string }>('/csrf'))?.csrfToken ?? ''
  }

  /** Where the browser goes, or with `redirect: false` what the page is told. */
  async signIn(
    id?: string,
    { redirect = true, ...fields }: { redirect?: boolean } & Record<string, unknown> = {},
    params: Fields = {},
  ): Promise<unknown> {
    const callbackUrl = String(fields['callbackUrl'] ?? `${origin}/here`)
    const providers = await this.get<Record<string, { type: string }>>('/providers')
    if (!providers) return `${base}/error`
    const type = id === undefined ? undefined : providers[id]?.type
    if (type === undefined) return `${base}/signin?${new URLSearchParams({ callbackUrl })}`
    const path = type === 'credentials' ? 'callback' : 'signin'
    const body = new URLSearchParams({ ...(fields as Fields), csrfToken: await this.csrfToken(), callbackUrl })
    return this.#flow(`/${path}/${id}?${new URLSearchParams(params)}`, body, redirect)
  }

  async signOut({ redirect = true, callbackUrl = `${origin}/here` }: { redirect?: boolean; callbackUrl?: string } = {}): Promise<unknown> {
    return this.#flow('/signout', new URLSearchParams({ csrfToken: await this.csrfToken(), callbackUrl }), redirect)
  }

  async update(data?: unknown): Promise<unknown> {
    if (data === undefined) return this.get('/session')
    const body = JSON.stringify({ csrfToken: await this.csrfToken(), data })
    return (await this.fetch('/session', { method: 'POST', headers: { 'content-type': 'application/json' }, body })).json()
  }

  async #flow(path: string, body: URLSearchParams, redirect: boolean): Promise<unknown> {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'x-auth-return-redirect': '1' }
    const response = await this.fetch(path, { method: 'POST', headers, body })
    const { url } = (await response.json()) as { url: string }
    // Relative URLs would throw here.
    const { searchParams } = new URL(url)
    if (redirect) return url
    const error = searchParams.get('error') ?? undefined
    return { error, code: searchParams.get('code') ?? undefined, status: response.status, ok: response.ok, url: error ? null : url }
  }
}

/** D75: the form of each type, which its client does not look at. */
function withoutForms(providers: unknown): unknown {
  return Object.values(providers as Record<string, object>).map((provider) => ({ ...provider, form: undefined }))
}

type Visit = (page: Page, op: FakeOp) => Promise<unknown>

const good = { username: 'ann', password: 'right' }
const visits: Record<string, Visit> = {
  'providers, csrf and session of nobody': async (page) => [
    withoutForms(await page.get('/providers')),
    (await page.csrfToken()).length,
    await page.get('/session'),
  ],
  'credentials, right': async (page) => [await page.signIn('credentials', good), await page.get('/session')],
  'credentials, right, without a redirect': async (page) => [
    await page.signIn('credentials', { ...good, redirect: false }),
    await page.get('/session'),
  ],
  'credentials, wrong': async (page) => page.signIn('credentials', { ...good, password: 'wrong' }),
  'credentials, wrong, without a redirect': async (page) => page.signIn('credentials', { ...good, password: 'wrong', redirect: false }),
  'credentials, a code of its own': async (page) => page.signIn('credentials', { ...good, password: 'locked', redirect: false }),
  'credentials, broken': async (page) => page.signIn('credentials', { ...good, password: 'broken', redirect: false }),
  'credentials, refused': async (page) => page.signIn('credentials', { ...good, password: 'refused', redirect: false }),
  'a foreign callbackUrl': async (page) => page.signIn('credentials', { ...good, callbackUrl: 'https://evil.example/' }),
  'a relative callbackUrl': async (page) => page.signIn('credentials', { ...good, callbackUrl: '/app?a=b' }),
  'an unknown provider': async (page) => page.signIn('nobody'),
  'no provider': async (page) => page.signIn(),
  'out to a provider': async (page) => withoutRandom(await page.signIn('acme', {}, { login_hint: 'ann', prompt: 'login' })),
  'to a provider and back': async (page, op) => {
    const back = await page.fetch(op.authorize(String(await page.signIn('acme'))))
    return [back.status, back.headers.get('location'), await page.get('/session')]
  },
  'no from a provider': async (page, op) => {
    const back = await page.fetch(op.authorize(String(await page.signIn('acme')), { code: undefined, error: 'access_denied' }))
    return [back.status, back.headers.get('location')]
  },
  'sign out': async (page) => [await page.signIn('credentials', good), await page.signOut(), await page.get('/session')],
  'sign out without a redirect': async (page) => [
    await page.signIn('credentials', good),
    await page.signOut({ redirect: false, callbackUrl: '/bye' }),
    await page.get('/session'),
  ],
  'sign out of nobody': async (page) => page.signOut(),
  update: async (page) => [await page.signIn('credentials', good), await page.update({ role: 'admin' }), await page.get('/session')],
  'update of nothing': async (page) => [await page.signIn('credentials', good), await page.update()],
  'update of nobody': async (page) => page.update({ role: 'admin' }),
}

async function seen(library: 'ours' | 'theirs', visit: Visit): Promise<unknown> {
  return withClock(start, async () => {
    const authjs = await freshAuthJs()
    const recorder = new Recorder()
    const op = new FakeOp(recorder)
    const CredentialsSignin = (
      library === 'ours' ? (await import('authkernel')).CredentialsSignin : authjs.errors['CredentialsSignin']
    ) as new () => Error
    const config = {
      basePath: '/api/auth',
      secret,
      trustHost: true,
      logger: recorder.logger,
      providers: [
        {
          id: 'acme',
          name: 'Acme',
          type: 'oidc',
          issuer: op.issuer,
          clientId: 'client-1',
          clientSecret: 's',
          [library === 'ours' ? customFetch : authjs.customFetch]: op.fetch,
        },
        {
          id: 'credentials',
          name: 'Credentials',
          type: 'credentials',
          authorize({ password }: Fields) {
            if (password === 'broken') throw new Error('host: broken')
            if (password === 'locked') throw Object.assign(new CredentialsSignin(), { code: 'locked' })
            return password === 'wrong' ? null : { id: '1', name: 'Ann', email: 'ann@example.com', refused: password === 'refused' }
          },
        },
      ],
      callbacks: {
        signIn: ({ user }: { user: { refused?: boolean } }) => !user.refused,
        jwt: ({ token, trigger, session }: { token: object; trigger?: string; session?: object }) =>
          trigger === 'update' ? { ...token, ...session } : token,
        session: ({ session, token }: { session: object; token: { role?: string } }) => ({ ...session, role: token.role }),
      },
    }
    const auth = library === 'ours' ? createAuth({ ...config, env: false } as never).use(authjsCompatPlugin()) : undefined
    return visit(new Page(auth ? (request) => auth.handler(request) : (request) => authjs.Auth(request, config)), op)
  })
}

function withoutRandom(url: unknown): Fields {
  const { searchParams } = new URL(String(url))
  // The state is D47's.
  for (const name of ['state', 'code_challenge']) searchParams.delete(name)
  return Object.fromEntries(searchParams)
}

describe('rows 324, 326 and 327: what the client of Auth.js sees', () => {
  it.each(Object.entries(visits))('%s', async (_name, visit) => {
    expect(await seen('ours', visit)).toEqual(await seen('theirs', visit))
  })

  it('row 327: the result of a wrong password', async () => {
    expect(await seen('ours', visits['credentials, wrong, without a redirect']!)).toEqual({
      error: 'CredentialsSignin',
      code: 'credentials',
      status: 200,
      ok: true,
      url: null,
    })
  })
})
