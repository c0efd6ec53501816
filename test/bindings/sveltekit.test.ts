/** SvelteKit, with events made by hand; `test/playground/sveltekit.slow.test.ts` runs the real one. */
import { type AuthConfig, createAuth, type Session } from 'authkernel'
import { SvelteKitAuth, sveltekitBinding, type SvelteKitEvent, type SvelteKitApi } from 'authkernel/bindings/sveltekit'
import { bindingConfig, testBinding } from 'authkernel/testing'
import { describe, expect, it, vi } from 'vitest'
import { serveWeb, withCookies } from './_web.ts'

const kit = vi.hoisted(() => ({
  Redirect: class {
    status: number
    location: string
    constructor(status: number, location: string) {
      this.status = status
      this.location = location
    }
  },
  HttpError: class {
    status: number
    message: string
    constructor(status: number, message: string) {
      this.status = status
      this.message = message
    }
  },
  /** An app whose bundle holds a SvelteKit of its own. */
  twice: false,
  base: '',
}))
vi.mock('$app/paths', () => ({
  get base() {
    return kit.base
  },
}))
vi.mock('@sveltejs/kit', () => ({
  redirect: (status: number, location: string) => {
    throw new kit.Redirect(status, location)
  },
  error: (status: number, message: string) => {
    throw new kit.HttpError(status, message)
  },
}))

type Work = (event: FakeEvent, auth: SvelteKitApi) => Promise<unknown>
interface FakeEvent extends SvelteKitEvent {
  locals: { auth?: () => Promise<Session | null>; getSession?: () => Promise<Session | null> }
}

/** The routes of the app: `load` functions, endpoints and actions. */
const routes: Record<string, Work> = {
  'GET /page': async ({ locals }) => Response.json(await locals.auth!()),
  'GET /guarded': async (event, auth) => Response.json(await auth.requireSession(event)),
  'POST /login': (event, auth) => auth.signIn(event),
  'POST /logout': (event, auth) => auth.signOut(event, { redirectTo: '/out' }),
}

/** What SvelteKit does around a request: its classes of throws, its cookies with its defaults, its error page. */
async function respond(auth: SvelteKitApi, request: Request, work?: Work, more: Partial<FakeEvent> = {}): Promise<Response> {
  const cookies: string[] = []
  let done = false
  const url = new URL(request.url)
  const event: FakeEvent = {
    request,
    url,
    locals: {},
    getClientAddress: () => '127.0.0.1',
    cookies: {
      set(name, value, { encode, httpOnly = true, secure = url.hostname !== 'localhost', sameSite = 'lax', path, maxAge, expires }) {
        if (done) throw new Error('Cannot use `cookies.set(...)` after the response has been generated')
        cookies.push(
          [
            `${name}=${encode(value)}`,
            `Path=${path}`,
            maxAge !== undefined && `Max-Age=${maxAge}`,
            expires && `Expires=${expires.toUTCString()}`,
            sameSite && `SameSite=${sameSite}`,
            httpOnly && 'HttpOnly',
            secure && 'Secure',
          ]
            .filter(Boolean)
            .join('; '),
        )
      },
    },
    ...more,
  }
  const resolve = async (): Promise<Response> => {
    try {
      // SvelteKit gives copies of the event to everything it calls.
      const result = await (work ?? routes[`${request.method} ${url.pathname}`])?.({ ...event }, auth)
      done = true
      if (result instanceof Response) return withCookies(result, cookies)
      return withCookies(Response.json(result ?? 'the host', { status: result === undefined ? 404 : 200 }), cookies)
    } catch (thrown) {
      done = true
      if (!kit.twice && thrown instanceof kit.Redirect) {
        return withCookies(new Response(null, { status: thrown.status, headers: { location: thrown.location } }), cookies)
      }
      if (!kit.twice && thrown instanceof kit.HttpError)
        return withCookies(new Response(thrown.message, { status: thrown.status }), cookies)
      return withCookies(new Response(String(thrown), { status: 500 }), cookies)
    }
  }
  const response = await auth.handle({ event, resolve })
  // A promise that a page streams is read after the head of the response has gone.
  if (done) await event.locals.auth!().catch(() => {})
  return response
}

const start =
  (faceOf: (more?: Parameters<typeof bindingConfig>[0]) => SvelteKitApi) =>
  (more?: Parameters<typeof bindingConfig>[0]): ReturnType<typeof serveWeb> => {
    const auth = faceOf(more)
    return serveWeb(async (request) => respond(auth, await withProvider(request)))
  }

/** The contract posts the provider's fields alone; a SvelteKit form names the provider, too (row 318). */
async function withProvider(request: Request): Promise<Request> {
  if (new URL(request.url).pathname !== '/login') return request
  const fields = new URLSearchParams(await request.text())
  fields.set('providerId', 'credentials')
  fields.set('redirectTo', '/in')
  return new Request(request.url, { method: 'POST', headers: request.headers, body: fields })
}

testBinding({
  name: 'sveltekit',
  rootRoutes: true,
  start: (more, plugins = []) => {
    const auth = createAuth(bindingConfig(more)).use(sveltekitBinding())
    for (const plugin of plugins) auth.use(plugin)
    return start(() => auth.sveltekit)()
  },
})
testBinding({ name: 'row 320: sveltekit, options by a function', start: start((more) => SvelteKitAuth(async () => bindingConfig(more))) })
describe('beside a second SvelteKit', () => {
  testBinding({
    name: 'sveltekit whose bundle knows other classes',
    start: (more) => {
      kit.twice = true
      return start((config) => SvelteKitAuth(bindingConfig(config)))(more).then((server) => ({
        ...server,
        close: async () => {
          kit.twice = false
          await server.close()
        },
      }))
    },
  })
})

const page = 'http://app.example/login'
const form = (fields: Record<string, string>, headers: Record<string, string> = {}): Request =>
  new Request(page, { method: 'POST', body: new URLSearchParams(fields), headers: { origin: 'http://app.example', ...headers } })

it('row 317: the factory gives handle, signIn and signOut; locals have auth and getSession', async () => {
  const auth = SvelteKitAuth(bindingConfig())
  expect([typeof auth.handle, typeof auth.signIn, typeof auth.signOut]).toEqual(['function', 'function', 'function'])
  const response = await respond(auth, new Request('http://app.example/'), async ({ locals }) => [
    await locals.auth!(),
    await locals.getSession!(),
  ])
  expect(await response.json()).toEqual([null, null])
})

it("the factory's routes are below `paths.base` of the app, unless the options or AUTH_URL say where", async () => {
  kit.base = '/docs'
  try {
    const signin = async (options: AuthConfig, path: string): Promise<[number, string]> => {
      const response = await respond(
        SvelteKitAuth(() => bindingConfig(options)),
        new Request(`http://127.0.0.1${path}/providers`),
      )
      return [response.status, await response.text()]
    }
    expect(await signin({}, '/docs/auth')).toEqual([200, expect.stringContaining('http://127.0.0.1/docs/auth/signin/credentials')])
    expect((await signin({}, '/auth'))[0]).toBe(404)
    expect((await signin({ basePath: '/in' }, '/in'))[0]).toBe(200)
    expect((await signin({ env: { AUTH_URL: 'http://127.0.0.1/elsewhere' } }, '/elsewhere'))[0]).toBe(200)
  } finally {
    kit.base = ''
  }
})

it('row 318: the action reads providerId, redirectTo, redirect and authorizationParams-<key>', async () => {
  const auth = SvelteKitAuth(
    bindingConfig({
      providers: [
        {
          id: 'globex',
          name: 'Globex',
          type: 'oauth',
          authorization: 'https://id.example/authorize',
          token: 'https://id.example/token',
          userinfo: 'https://id.example/me',
          clientId: 'app',
          clientSecret: 'secret',
        },
      ],
    }),
  )
  const act: Work = (event, { signIn }) => signIn(event)
  const answer = await respond(
    auth,
    form({ providerId: 'globex', redirectTo: '/in', 'authorizationParams-prompt': 'login', 'authorizationParams-login_hint': 'ada' }),
    act,
  )
  const to = new URL(answer.headers.get('location')!)
  expect([answer.status, to.origin, to.searchParams.get('prompt'), to.searchParams.get('login_hint')]).toEqual([
    302,
    'https://id.example',
    'login',
    'ada',
  ])
  expect(answer.headers.getSetCookie().join()).toContain('authkernel.callback-url=http%3A%2F%2Fapp.example%2Fin')

  const url = await respond(auth, form({ providerId: 'globex', redirect: 'false' }), act)
  expect([url.status, await url.json()]).toEqual([200, expect.stringMatching(/^https:\/\/id\.example\/authorize\?/)])
  const unknown = await respond(auth, form({ providerId: 'nobody', redirectTo: '/in' }), act)
  expect(unknown.headers.get('location')).toBe('http://app.example/auth/signin?callbackUrl=%2Fin')
})

it('row 319: the action gets the raw error', async () => {
  const auth = SvelteKitAuth(bindingConfig())
  const thrown = await respond(auth, form({ providerId: 'credentials', username: 'ada', password: 'wrong' }), async (event, { signIn }) => {
    const error: unknown = await signIn(event).catch((reason: unknown) => reason)
    return error instanceof Error && 'code' in error ? [error.name, error.code] : String(error)
  })
  expect(await thrown.json()).toEqual(['CredentialsSignin', 'credentials'])
})

it('row 321: the client of @auth/sveltekit, which sends no token, signs in and out', async () => {
  const auth = SvelteKitAuth(bindingConfig())
  const post = (path: string, headers: Record<string, string>): Promise<Response> =>
    respond(
      auth,
      new Request(`http://app.example/auth${path}`, {
        method: 'POST',
        body: new URLSearchParams({ username: 'ada', password: 'right', callbackUrl: 'http://app.example/in' }),
        headers: { 'x-auth-return-redirect': '1', ...headers },
      }),
    )
  const own = await post('/callback/credentials', { origin: 'http://app.example' })
  expect([own.status, await own.json()]).toEqual([200, { url: 'http://app.example/in' }])
  expect(own.headers.getSetCookie().join()).toContain('authkernel.session-token=')
  expect((await post('/signout', { 'sec-fetch-site': 'same-origin' })).status).toBe(200)
  for (const headers of [{ origin: 'http://evil.example' }, { 'sec-fetch-site': 'cross-site' }, {}])
    expect((await post('/callback/credentials', headers as Record<string, string>)).status).toBe(403)
})

it('other paths below the base path are pages of the app', async () => {
  const auth = SvelteKitAuth(bindingConfig())
  expect(await (await respond(auth, new Request('http://app.example/auth/welcome'), async () => 'mine')).json()).toBe('mine')
})

it('the guard leads data requests to the page, and says 401 to what is no page', async () => {
  const auth = SvelteKitAuth(bindingConfig())
  const guard: Work = (event, { requireSession }) => requireSession(event)
  const data = await respond(auth, new Request('http://app.example/in/__data.json'), guard, {
    isDataRequest: true,
    url: new URL('http://app.example/in'),
  })
  expect(data.headers.get('location')).toBe(`http://app.example/auth/signin?callbackUrl=${encodeURIComponent('http://app.example/in')}`)
  expect((await respond(auth, new Request('http://app.example/in'), guard)).status).toBe(401)
  const elsewhere = await respond(
    auth,
    new Request('http://app.example/in', { headers: { accept: 'text/html' } }),
    (event, { requireSession }) => requireSession(event, { redirectTo: '/login' }),
  )
  expect(elsewhere.headers.get('location')).toBe('/login')
})

it('prerendering has no client address', async () => {
  const auth = SvelteKitAuth(bindingConfig())
  const response = await respond(
    auth,
    new Request('http://sveltekit-prerender/'),
    async ({ locals }) => ({ session: await locals.auth!() }),
    {
      getClientAddress() {
        throw new Error('Cannot read clientAddress during prerendering')
      },
    },
  )
  expect(await response.json()).toEqual({ session: null })
})

it('beside a second SvelteKit, forms with scripts and data requests get their JSON', async () => {
  kit.twice = true
  try {
    const auth = SvelteKitAuth(bindingConfig())
    const enhanced = await respond(
      auth,
      form({ providerId: 'credentials', username: 'ada', password: 'right', redirectTo: '/in' }, { 'x-sveltekit-action': 'true' }),
      (event, { signIn }) => signIn(event),
    )
    expect(await enhanced.json()).toEqual({ type: 'redirect', status: 302, location: 'http://app.example/in' })
    expect(enhanced.headers.getSetCookie().join()).toContain('authkernel.session-token=')
    const data = await respond(
      auth,
      new Request('http://app.example/in/__data.json'),
      (event, { requireSession }) => requireSession(event),
      { isDataRequest: true },
    )
    expect(await data.json()).toMatchObject({ type: 'redirect', location: expect.stringContaining('/auth/signin') })
    const failing = await respond(auth, new Request('http://app.example/'), () => Promise.reject(new Error('A bug of the page.')))
    expect(failing.status).toBe(500)
  } finally {
    kit.twice = false
  }
})
