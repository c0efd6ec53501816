/** Next, with its request scope made by hand; `test/playground/next.slow.test.ts` runs the real one. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { AuthConfig } from 'authkernel'
import { createAuth } from 'authkernel'
import NextAuth, { type NextAuthRequest, nextBinding, type NextApi } from 'authkernel/bindings/next'
import type { Plugin } from 'authkernel/kernel'
import type { SetCookie } from 'authkernel/bindings/toolkit'
import { bindingConfig, testBinding } from 'authkernel/testing'
import { describe, expect, it, vi } from 'vitest'
import { formOf, serveWeb, withCookies } from './_web.ts'

/** Next's request scope: what `headers()` and `cookies()` give, and what a redirect throws. */
interface Scope {
  request: Request
  /** Undefined while a page is drawn. */
  cookies: string[] | undefined
  store?: object
}

const storage: AsyncLocalStorage<Scope> = new AsyncLocalStorage<Scope>()

class Redirect extends Error {
  readonly location: string
  constructor(location: string) {
    super('NEXT_REDIRECT')
    this.location = location
  }
}

vi.mock('next/headers', () => ({
  headers: async () => new Headers(storage.getStore()!.request.headers),
  cookies: async () => {
    const scope = storage.getStore()!
    // Next drops what does not decode.
    const jar = (scope.request.headers.get('cookie') ?? '')
      .split('; ')
      .filter((pair) => pair !== '' && !/%(?![\dA-F]{2})|%E0%A4%A(?!\w)/.test(pair))
    return (scope.store ??= {
      getAll: () => jar.map((pair) => ({ name: pair.split('=')[0], value: decodeURIComponent(pair.split('=').slice(1).join('=')) })),
      set(name: string, value: string, options: SetCookie['options']) {
        if (!scope.cookies) throw new Error('Cookies can only be modified in a Server Action or Route Handler.')
        if (typeof name !== 'string') throw new TypeError("Cannot read properties of undefined (reading 'name')")
        const { path, maxAge, expires, sameSite, httpOnly } = options
        scope.cookies.push(
          [
            `${name}=${encodeURIComponent(value)}`,
            `Path=${path}`,
            maxAge !== undefined && `Max-Age=${maxAge}`,
            expires && `Expires=${expires.toUTCString()}`,
            sameSite && `SameSite=${String(sameSite)}`,
            httpOnly && 'HttpOnly',
          ]
            .filter(Boolean)
            .join('; '),
        )
      },
    })
  },
}))
vi.mock('next/navigation', () => ({
  redirect: (location: string) => {
    throw new Redirect(location)
  },
}))
const connected: Request[] = []
vi.mock('next/server', () => ({
  connection: async () => void connected.push(storage.getStore()!.request),
  NextResponse: { next: () => new Response(null, { headers: { 'x-middleware-next': '1' } }) },
}))

/** Runs `work` as Next runs an action, or, without `writable`, as it draws a page. */
async function withTimeout(request: Request, work: () => Promise<unknown>, writable = true): Promise<Response> {
  const scope: Scope = { request, cookies: writable ? [] : undefined }
  const answer = async (): Promise<Response> => {
    const result = await storage.run(scope, work).catch((thrown: unknown) => {
      if (thrown instanceof Redirect) return new Response(null, { status: 303, headers: { location: thrown.location } })
      throw thrown
    })
    return result instanceof Response ? result : Response.json(result ?? null)
  }
  return withCookies(await answer(), scope.cookies ?? [])
}

/** Next's own listening address is in the URL; what the browser asked is in the headers. */
function asNext(request: Request): Request {
  const url = new URL(request.url)
  const headers = new Headers(request.headers)
  headers.set('host', url.host)
  if (!headers.has('x-forwarded-proto')) headers.set('x-forwarded-proto', 'http')
  if (!headers.has('x-forwarded-host')) headers.set('x-forwarded-host', url.host)
  const init: RequestInit & { duplex: 'half' } = { method: request.method, headers, duplex: 'half' }
  if (request.body) init.body = request.body
  return new Request(`http://localhost:3000${url.pathname}${url.search}`, init)
}

async function app(auth: NextApi, given: Request): Promise<Response> {
  const request = asNext(given)
  const { pathname, search } = new URL(request.url)
  if (pathname === '/page') return withTimeout(request, () => auth.auth())
  if (pathname === '/guarded') {
    const route = auth.auth((own: NextAuthRequest) => Response.json(own.auth, { status: own.auth ? 200 : 401 }))
    if (!request.headers.get('accept')?.includes('text/html')) return route(request, undefined)
    return withTimeout(request, () => auth.requireSession({ callbackUrl: pathname + search }), false)
  }
  if (pathname === '/login') {
    const fields = await formOf(request)
    return withTimeout(request, () => auth.signIn('credentials', { ...fields, redirectTo: '/in' }))
  }
  if (pathname.startsWith('/.well-known/')) return auth.root[request.method as keyof NextApi['root']](request)
  if (pathname === '/logout') return withTimeout(request, () => auth.signOut({ redirectTo: '/out' }))
  const method = request.method === 'GET' || request.method === 'POST' ? auth.handlers[request.method] : undefined
  if (!method) return new Response(null, { status: 405 })
  return /^\/(?:api\/)?auth(?:\/|$)/.test(pathname) ? method(request) : new Response('the host', { status: 404 })
}

testBinding({
  name: 'row 323: NextAuth, base path /api/auth',
  address: 'unknown',
  basePath: '/api/auth',
  start: (more) => {
    const auth = NextAuth(bindingConfig(more))
    return serveWeb((request) => app(auth, request))
  },
})
testBinding({
  name: 'next, options by a function of the request',
  address: 'unknown',
  basePath: '/api/auth',
  start: (more) => {
    const auth = NextAuth(async () => bindingConfig(more))
    return serveWeb((request) => app(auth, request))
  },
})
testBinding({
  name: 'next, as a plugin',
  guard: 'own',
  address: 'unknown',
  rootRoutes: true,
  start: (more, plugins = []) => {
    const auth = createAuth(bindingConfig(more)).use(nextBinding())
    for (const plugin of plugins) auth.use(plugin)
    return serveWeb((request) => app(auth.next, request))
  },
})

const at = 'http://app.example'
const page = (headers: Record<string, string> = {}, path = '/'): Request =>
  asNext(new Request(at + path, { headers: { origin: at, ...headers } }))

/** Cookies of a signed-in person. */
async function signedIn({ signIn }: NextApi): Promise<string> {
  const answer = await withTimeout(page(), () => signIn('credentials', { username: 'ada', password: 'right', redirectTo: '/in' }))
  return cookieOf(answer)
}
function cookieOf(answer: Response): string {
  return answer.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ')
}

describe('signIn and signOut', () => {
  it('row 323: NextAuth gives handlers, auth, signIn, signOut, unstable_update', () => {
    const auth = NextAuth(bindingConfig())
    expect(Object.keys(auth.handlers)).toEqual(['GET', 'POST'])
    for (const name of ['auth', 'signIn', 'signOut', 'unstable_update'] as const) expect(auth[name]).toBeTypeOf('function')
  })

  it('a form is its fields; redirect: false gives the URL; the raw error is thrown', async () => {
    const { signIn, signOut, auth } = NextAuth(bindingConfig())
    const form = new FormData()
    for (const [name, value] of Object.entries({ username: 'ada', password: 'right', redirectTo: '/form' })) form.append(name, value)
    const byForm = await withTimeout(page(), () => signIn('credentials', form))
    expect([byForm.status, byForm.headers.get('location')]).toEqual([303, `${at}/form`])
    const url = await withTimeout(page(), () =>
      signIn('credentials', { username: 'ada', password: 'right', redirectTo: '/x', redirect: false }),
    )
    expect([await url.json(), url.headers.getSetCookie().join()]).toEqual([`${at}/x`, expect.stringContaining('authkernel.session-token=')])
    const wrong = withTimeout(page(), () => signIn('credentials', { username: 'ada', password: 'wrong' }))
    await expect(wrong).rejects.toMatchObject({ name: 'CredentialsSignin', code: 'credentials' })
    const cookie = cookieOf(byForm)
    expect(await (await withTimeout(page({ cookie }), () => auth())).json()).toMatchObject({ user: { name: 'Ada' } })
    const out = await withTimeout(page({ cookie }), () => signOut({ redirectTo: '/bye', redirect: false }))
    expect(await out.json()).toBe(`${at}/bye`)
  })

  it('without a provider it goes to the sign-in page, and by default back to the page of the form', async () => {
    const { signIn } = NextAuth(bindingConfig())
    const answer = await withTimeout(page({ referer: `${at}/shop` }), () => signIn())
    expect(answer.headers.get('location')).toBe(`${at}/api/auth/signin?callbackUrl=${encodeURIComponent(`${at}/shop`)}`)
  })

  it('unstable_update reaches the jwt callback and sets the cookie', async () => {
    const api = NextAuth(
      bindingConfig({
        callbacks: {
          jwt: ({ token, trigger, session }) => (trigger === 'update' ? { ...token, name: (session as { name: string }).name } : token),
        },
      }),
    )
    const cookie = await signedIn(api)
    const answer = await withTimeout(page({ cookie }), () => api.unstable_update({ name: 'Countess' }))
    expect(await answer.json()).toMatchObject({ user: { name: 'Countess' } })
    const later = await withTimeout(page({ cookie: cookieOf(answer) }), () => api.auth())
    expect(await later.json()).toMatchObject({ user: { name: 'Countess' } })
  })
})

describe('auth', () => {
  const rolling = (more: AuthConfig = {}): NextApi => NextAuth(bindingConfig({ session: { updateAge: 0 }, ...more }))

  it('a page that is drawn extends nothing, an action does (D51)', async () => {
    const api = rolling()
    const cookie = await signedIn(api)
    const drawn = await withTimeout(page({ cookie }), () => api.auth(), false)
    const acted = await withTimeout(page({ cookie }), () => api.auth())
    expect([drawn.headers.getSetCookie(), acted.headers.getSetCookie().length]).toEqual([[], 1])
    expect([await drawn.json(), await acted.json()]).toEqual([
      expect.objectContaining({ user: expect.objectContaining({ name: 'Ada' }) }),
      expect.objectContaining({ user: expect.objectContaining({ name: 'Ada' }) }),
    ])
  })

  it('waits for the connection before anything is read: a prerendered page must not hold a session', async () => {
    const api = rolling()
    const before = connected.length
    await withTimeout(page(), () => api.auth(), false)
    await withTimeout(page(), () => api.requireSession(), false)
    expect(connected.length - before).toBe(2)
  })

  it('one read per request', async () => {
    const api = rolling()
    const cookie = await signedIn(api)
    const twice = await withTimeout(page({ cookie }), async () => (await api.auth()) === (await api.auth()), false)
    expect(await twice.json()).toBe(true)
  })

  it('wraps a route handler: request.auth, context and a refreshed cookie', async () => {
    const api = rolling()
    const route = api.auth((request, context: { params: { id: string } }) =>
      Response.json({ name: request.auth?.user?.name, id: context.params.id }, { headers: { 'set-cookie': 'own=1' } }),
    )
    const answer = await route(page({ cookie: await signedIn(api) }), { params: { id: '7' } })
    expect(await answer.json()).toEqual({ name: 'Ada', id: '7' })
    expect(answer.headers.getSetCookie().map((line) => line.split('=')[0])).toEqual(['own', 'authkernel.session-token'])
  })

  it("a handler may want Next's own request: other middleware takes nothing less", async () => {
    interface NextRequest extends NextAuthRequest {
      geo: string | undefined
    }
    const other = (request: NextRequest): Response => Response.json(new URL(request.url).pathname + String(request.geo))
    const { auth } = NextAuth(bindingConfig())
    const answer = await auth((request: NextRequest) => other(request))(page({}, '/there'), undefined)
    expect(await answer.json()).toBe('/thereundefined')
  })

  it('getServerSideProps and API routes', async () => {
    const api = rolling()
    const headers = { cookie: await signedIn(api), host: 'app.example', accept: ['a', 'b'], nothing: undefined }
    const set: string[] = []
    const res = { appendHeader: (_name: string, value: string[]) => void set.push(...value) }
    expect([(await api.auth({ req: { headers }, res }))?.user?.name, (await api.auth({ headers }, res))?.user?.name]).toEqual([
      'Ada',
      'Ada',
    ])
    expect(set).toHaveLength(2)
    await api.auth({ headers }, { ...res, headersSent: true })
    expect(set).toHaveLength(2)
  })
})

describe('proxy', () => {
  const ask = async (more: AuthConfig, request: Request): Promise<Response> => NextAuth(bindingConfig(more)).auth(request, {})
  const passed = (answer: Response): boolean => answer.headers.get('x-middleware-next') === '1'
  const members = { callbacks: { authorized: ({ auth }) => auth?.user !== undefined } } satisfies AuthConfig

  it('without authorized everybody passes', async () => {
    expect(passed(await ask({}, page()))).toBe(true)
  })

  it('authorized: false leads to the sign-in page and back', async () => {
    const answer = await ask(members, page({}, '/shop?a=1'))
    expect([answer.status, answer.headers.get('location')]).toEqual([
      302,
      `${at}/api/auth/signin?callbackUrl=${encodeURIComponent(`${at}/shop?a=1`)}`,
    ])
    expect(passed(await ask(members, page({ cookie: await signedIn(NextAuth(bindingConfig())) }, '/shop')))).toBe(true)
  })

  it('never in a circle: the sign-in page and the routes of authkernel pass', async () => {
    for (const path of ['/api/auth/session', '/api/auth']) expect(passed(await ask(members, page({}, path)))).toBe(true)
    const own = { ...members, pages: { signIn: '/login' } }
    expect(passed(await ask(own, page({}, '/login')))).toBe(true)
    expect((await ask(own, page({}, '/shop'))).headers.get('location')).toBe(`${at}/login?callbackUrl=${encodeURIComponent(`${at}/shop`)}`)
    const here = {
      callbacks: { authorized: ({ request }) => Response.redirect(`${new URL(request.url).origin}/shop`) },
    } satisfies AuthConfig
    expect(passed(await ask(here, page({}, '/shop')))).toBe(true)
  })

  it('answers paths at the root that plugins answer, for everybody', async () => {
    const discovery: Plugin = {
      name: 'discovery',
      setup: (kernel) => kernel.route({ method: 'GET', path: '/.well-known/it', at: 'root', handler: ({ base }) => Response.json(base) }),
    }
    const proxy = NextAuth(bindingConfig({ callbacks: { authorized: () => false } }), discovery).auth
    expect(await (await proxy(page({}, '/.well-known/it'), {})).json()).toBe(`${at}/api/auth`)
    expect((await proxy(page({}, '/.well-known/other'), {})).headers.get('location')).toContain('/api/auth/signin')
  })

  it('with the base path `/` pages of the app are still guarded', async () => {
    const { auth } = NextAuth(bindingConfig({ basePath: '/', callbacks: { authorized: () => false } }))
    expect((await auth(page({}, '/shop'), {})).headers.get('location')).toContain('/signin?callbackUrl=')
    expect(passed(await auth(page({}, '/signin'), {}))).toBe(true)
  })

  it('authorized may answer by itself; undefined is no opinion', async () => {
    const closed = { callbacks: { authorized: () => new Response('closed', { status: 503 }) } } satisfies AuthConfig
    expect((await ask(closed, page())).status).toBe(503)
    expect(passed(await ask({ callbacks: { authorized: () => undefined } }, page()))).toBe(true)
  })

  it('a wrapped proxy that answers nothing lets the request pass, with a refreshed cookie', async () => {
    const api = NextAuth(bindingConfig({ session: { updateAge: 0 } }))
    const proxy = api.auth((request) => (request.auth ? undefined : Response.redirect(`${at}/welcome`)))
    const member = await proxy(page({ cookie: await signedIn(api) }), {})
    expect([passed(member), member.headers.getSetCookie().length]).toEqual([true, 1])
    expect((await proxy(page(), {})).headers.get('location')).toBe(`${at}/welcome`)
  })
})

describe('where Next says it is', () => {
  const base = async (more: AuthConfig, request: Request): Promise<string> => {
    const providers = (await (await NextAuth(bindingConfig(more)).handlers.GET(request)).json()) as Record<string, { signinUrl: string }>
    return providers.credentials!.signinUrl.replace('/signin/credentials', '')
  }

  it('the host of the browser, not the listening address; https where Next says so', async () => {
    expect(await base({}, page({}, '/api/auth/providers'))).toBe('http://app.example/api/auth')
    expect(await base({}, page({ 'x-forwarded-proto': 'https,http' }, '/api/auth/providers'))).toBe('https://app.example/api/auth')
    expect(await base({}, page({ 'x-forwarded-proto': 'ftp' }, '/api/auth/providers'))).toBe('http://app.example/api/auth')
  })

  it('AUTH_URL and the names of former versions', async () => {
    const request = (): Request => page({}, '/api/auth/providers')
    expect(await base({ env: { AUTH_URL: 'https://public.example' } }, request())).toBe('https://public.example/api/auth')
    expect(await base({ env: { NEXTAUTH_URL: 'https://old.example' } }, request())).toBe('https://old.example/api/auth')
    expect(await base({ env: { NEXTAUTH_URL: 'https://old.example/in' } }, page({}, '/in/providers'))).toBe('https://old.example/in')
    const env = { NEXTAUTH_SECRET: 'a-secret-of-former-times-with-more-than-32-characters' }
    const api = NextAuth({ ...bindingConfig({ env }), secret: undefined })
    const cookie = await signedIn(api)
    expect(await (await withTimeout(page({ cookie }), () => api.auth())).json()).toMatchObject({ user: { name: 'Ada' } })
  })

  it("basePath of Next is part of the options' own", async () => {
    const request = Object.assign(page({}, '/api/auth/providers'), { nextUrl: new URL('http://localhost:3000/docs/api/auth/providers') })
    expect(await base({ basePath: '/docs/api/auth' }, request)).toBe('http://app.example/docs/api/auth')
  })
})
