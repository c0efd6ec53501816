/** Qwik City, with events made by hand; `test/playground/qwik.slow.test.ts` runs the real one. */
import { createAuth, customFetch as kernelFetch } from 'authkernel'
import type { AuthConfig, Session } from 'authkernel'
import {
  customFetch,
  type GetSessionResult,
  QwikAuth$,
  QwikAuthQrl,
  type QwikAuth,
  qwikBinding,
  type QwikEvent,
  type QwikSource,
  serverAuth$,
  serverAuthQrl,
  setEnvDefaults,
} from 'authkernel/bindings/qwik'
import type { Plugin } from 'authkernel/kernel'
import { bindingConfig, testBinding } from 'authkernel/testing'
import { expect, expectTypeOf, it, vi } from 'vitest'
import { serveWeb, withCookies } from './_web.ts'

/** What Qwik's functions make here: enough to run them. */
interface Fake {
  run(...args: unknown[]): Promise<unknown>
  id: string
  validation: { validate(event: unknown, input: unknown): Promise<{ success: boolean; status?: number; error?: object }> }[]
}
vi.mock('@builder.io/qwik', () => ({ inlinedQrl: (run: unknown) => run, implicit$FirstArg: (factory: unknown) => factory }))
vi.mock('@builder.io/qwik-city', () => ({
  globalActionQrl: (run: unknown, options: object) => ({ run, ...options }),
  routeLoaderQrl: (run: unknown, options: object) => ({ run, ...options }),
}))

class Thrown {
  readonly response: Response
  constructor(response: Response) {
    this.response = response
  }
}

interface FakeEvent extends QwikEvent {
  cookies: string[]
}

function eventOf(request: Request, env: Record<string, string> = {}): FakeEvent {
  const cookies: string[] = []
  return {
    request,
    cookies,
    url: new URL(request.url),
    env: { get: (name) => env[name] },
    sharedMap: new Map(),
    headers: new Headers(),
    clientConn: { ip: '127.0.0.1' },
    cookie: {
      set: (name, value, { path, maxAge, httpOnly }) =>
        void cookies.push(
          [`${name}=${value}`, maxAge !== undefined && `Max-Age=${maxAge}`, httpOnly && 'HttpOnly', `Path=${path}`]
            .filter(Boolean)
            .join('; '),
        ),
    },
    send: (response) => new Thrown(response),
    redirect: (status, location) => new Thrown(new Response(null, { status, headers: { location } })),
  }
}

/** An action as Qwik City runs it: validators, then the function. */
async function submit(action: unknown, event: FakeEvent, input: unknown): Promise<unknown> {
  const { run, validation } = action as Fake
  for (const { validate } of validation) {
    const { success, status, error } = await validate(event, input)
    if (!success) return { status, failed: true, ...error }
  }
  return run(input, event)
}

async function app(auth: QwikAuth, source: QwikSource, request: Request): Promise<Response> {
  const event = eventOf(request)
  const answer = async (): Promise<Response> => {
    const { pathname } = event.url
    await auth.onRequest(event)
    const form = request.method === 'POST' ? Object.fromEntries(new URLSearchParams(await request.text())) : {}
    if (pathname === '/page') return Response.json(await (auth.useSession as unknown as Fake).run(event))
    if (pathname === '/guarded') {
      const own = await source(event)
      return Response.json(await ('qwik' in own ? own : createAuth(own).use(qwikBinding())).qwik.requireSession(event))
    }
    if (pathname === '/login') await submit(auth.useSignIn, event, { providerId: 'credentials', redirectTo: '/in', options: form })
    if (pathname === '/logout') await submit(auth.useSignOut, event, { redirectTo: '/out' })
    return new Response('the host', { status: request.method === 'DELETE' ? 405 : 404 })
  }
  const response = await answer().catch((thrown: unknown) => {
    if (thrown instanceof Thrown) return thrown.response
    throw thrown
  })
  return withCookies(response, event.cookies)
}

function start(sourceOf: (more?: AuthConfig, plugins?: readonly Plugin[]) => QwikSource) {
  return (more?: AuthConfig, plugins?: readonly Plugin[]): ReturnType<typeof serveWeb> => {
    const source = sourceOf(more, plugins)
    const auth = QwikAuth$(source)
    return serveWeb((request) => app(auth, source, request))
  }
}

testBinding({ name: 'row 305: QwikAuth$, options by a function of the event', start: start((more) => () => bindingConfig(more)) })
testBinding({
  name: 'QwikAuth$ over an auth with qwikBinding()',
  rootRoutes: true,
  start: start((more, plugins = []) => {
    const auth = createAuth(bindingConfig(more)).use(qwikBinding())
    for (const plugin of plugins) auth.use(plugin)
    return () => auth
  }),
})

const oauth: AuthConfig = bindingConfig({
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
    ...bindingConfig().providers!,
  ],
})
const post = (path = '/page', headers: Record<string, string> = { origin: 'http://app.example' }): FakeEvent =>
  eventOf(new Request(`http://app.example${path}`, { method: 'POST', headers }))
const thrownBy = async (work: Promise<unknown>): Promise<Response> =>
  work.then(
    () => Promise.reject(new Error('Nothing was thrown.')),
    (thrown: unknown) => (thrown as Thrown).response,
  )

it('rows 305, 307: the initialiser takes a function of the event; the loader yields the session or null', async () => {
  const auth = QwikAuth$((event) => ({ ...bindingConfig(), secret: event.env.get('MY_SECRET') }))
  expect(Object.keys(auth).toSorted()).toEqual(['onRequest', 'useSession', 'useSignIn', 'useSignOut'])
  const env = { MY_SECRET: 'a-secret-of-the-event-with-more-than-32-characters' }
  const load = async (cookie = ''): Promise<unknown> => {
    const event = eventOf(new Request('http://app.example/', { headers: { cookie } }), env)
    await auth.onRequest(event)
    return (auth.useSession as unknown as Fake).run(event)
  }
  expect(await load()).toBeNull()
  const event = Object.assign(post(), { env: { get: (name: string) => env[name as keyof typeof env] } })
  await thrownBy(submit(auth.useSignIn, event, { providerId: 'credentials', options: { username: 'ada', password: 'right' } }))
  expect(await load(event.cookies.map((cookie) => cookie.split(';')[0]).join('; '))).toMatchObject({ user: { name: 'Ada' } })
  expectTypeOf<Awaited<GetSessionResult>>().toEqualTypeOf<{ data: Session | null; cookie: string[] }>()
})

it('row 48: the function is asked once per request', async () => {
  let asked = 0
  const { onRequest } = QwikAuth$(async ({ env }) => {
    asked++
    return { ...bindingConfig(), secret: env.get('MY_SECRET') }
  })
  const event = eventOf(new Request('http://app.example/'), { MY_SECRET: 'a-secret-of-the-event-with-more-than-32-characters' })
  await onRequest(event)
  expect([asked, event.sharedMap.get('session')]).toEqual([1, null])
  await onRequest(eventOf(new Request('http://app.example/'), { MY_SECRET: 'another-secret-with-more-than-32-characters' }))
  expect(asked).toBe(2)
})

it("the environment is the event's: workers have no process.env", async () => {
  const { onRequest } = QwikAuth$(() => ({ ...bindingConfig({ env: undefined, trustHost: undefined }), secret: undefined }))
  const env = { AUTH_SECRET: 'a-secret-of-the-event-with-more-than-32-characters', AUTH_URL: 'https://public.example' }
  const { response } = (await onRequest(eventOf(new Request('http://app.example/auth/providers'), env)).catch(
    (thrown: unknown) => thrown,
  )) as Thrown
  expect(await response.json()).toMatchObject({ credentials: { signinUrl: 'https://public.example/auth/signin/credentials' } })
})

it('row 306: auth routes are answered, for others the session goes into sharedMap', async () => {
  const { onRequest } = QwikAuth$(() => bindingConfig())
  expect((await thrownBy(onRequest(eventOf(new Request('http://app.example/auth/csrf'))))).status).toBe(200)
  for (const path of ['/', '/auth/a-page-of-the-host']) {
    const event = eventOf(new Request(`http://app.example${path}`))
    await onRequest(event)
    expect(event.sharedMap.get('session')).toBeNull()
  }
})

it('rows 308, 312, 314: the action redirects to the provider, with parameters in every form', async () => {
  const { useSignIn } = QwikAuth$(() => oauth)
  for (const authorizationParams of [{ prompt: 'login' }, 'prompt=login', new URLSearchParams({ prompt: 'login' })]) {
    const event = post()
    const { status, headers } = await thrownBy(
      submit(useSignIn, event, { providerId: 'globex', redirectTo: '/in', options: {}, authorizationParams }),
    )
    const to = new URL(headers.get('location')!)
    expect([status, to.origin, to.searchParams.get('prompt')]).toEqual([302, 'https://id.example', 'login'])
    expect(event.cookies.join()).toContain('callback-url=http%3A%2F%2Fapp.example%2Fin')
  }
})

it('row 308: redirectTo of the options wins', async () => {
  const { useSignIn } = QwikAuth$(() => bindingConfig())
  const input = { providerId: 'credentials', redirectTo: '/outer', options: { redirectTo: '/inner', username: 'ada', password: 'right' } }
  expect((await thrownBy(submit(useSignIn, post(), input))).headers.get('location')).toBe('http://app.example/inner')
})

it('rows 309, 310: invalid input has its own shape, with lists for each key', async () => {
  const { useSignIn, useSignOut } = QwikAuth$(() => bindingConfig())
  expect(await submit(useSignIn, post(), { providerId: 1, redirectTo: {}, options: 'x', authorizationParams: { a: 1 } })).toEqual({
    status: 400,
    failed: true,
    fieldErrors: {
      providerId: ['Expected string'],
      redirectTo: ['Expected string'],
      options: ['Expected object'],
      authorizationParams: ['Expected string, URLSearchParams or map of strings'],
    },
    formErrors: [],
  })
  expect(await submit(useSignIn, post(), { options: { redirectTo: 1 } })).toMatchObject({
    fieldErrors: { options: ['redirectTo: Expected string'] },
  })
  expect(await submit(useSignOut, post(), { redirectTo: 1 })).toEqual({
    status: 400,
    failed: true,
    fieldErrors: { redirectTo: ['Expected string'] },
    formErrors: [],
  })
  for (const action of [useSignIn, useSignOut])
    expect(await submit(action, post(), [])).toMatchObject({ failed: true, formErrors: ['Expected an object'] })
})

it('rows 311, 377: valid input passes with failed, fieldErrors and formErrors absent; options may have more keys', async () => {
  const { useSignIn, useSignOut } = QwikAuth$(() => bindingConfig())
  const results = await Promise.all([
    ...[{}, { options: { a: 1, b: {} } }, { providerId: 'x', redirectTo: '/', options: {}, authorizationParams: '' }].map((input) =>
      (useSignIn as unknown as Fake).validation[0]!.validate(post(), input),
    ),
    (useSignOut as unknown as Fake).validation[0]!.validate(post(), {}),
  ])
  for (const result of results) expect(result).toMatchObject({ success: true })
  for (const result of results) expect([result.error, 'failed' in result]).toEqual([undefined, false])
})

it('row 313: the default target is the page of the form, without what Qwik added', async () => {
  const { useSignIn, useSignOut } = QwikAuth$(() => bindingConfig())
  for (const path of ['/shop/?a=1&qaction=authkernel-sign-in', '/shop/?qaction=x&a=1', '/shop?a=1&qfunc=x']) {
    const input = { providerId: 'credentials', options: { username: 'ada', password: 'right' } }
    const page = `http://app.example${path.split('?')[0]}?a=1`
    expect((await thrownBy(submit(useSignIn, post(path), input))).headers.get('location')).toBe(page)
    expect((await thrownBy(submit(useSignOut, post(path), {}))).headers.get('location')).toBe(page)
  }
})

it("row 314: Qwik's router is told where to go by the data of the action, which must not be thrown away", async () => {
  const { useSignIn, useSignOut } = QwikAuth$(() => oauth)
  const event = post('/shop/q-data.json?a=1&qaction=x')
  expect(await submit(useSignIn, event, { providerId: 'globex' })).toEqual({})
  expect(event.headers.get('location')).toMatch(/^https:\/\/id\.example\/authorize\?/)
  expect(event.cookies.join()).toContain('callback-url=http%3A%2F%2Fapp.example%2Fshop%3Fa%3D1')
  const out = post('/shop/q-data.json?qaction=x')
  expect([await submit(useSignOut, out, {}), out.headers.get('location')]).toEqual([{}, 'http://app.example/shop'])
})

it('row 315: the session cookies of an action reach the response', async () => {
  const { useSignIn } = QwikAuth$(() => bindingConfig())
  const event = post()
  await thrownBy(submit(useSignIn, event, { providerId: 'credentials', options: { username: 'ada', password: 'right' } }))
  expect(event.cookies.filter((cookie) => /^authkernel\.session-token=[^;]+;.*HttpOnly/.test(cookie))).toHaveLength(1)
})

it('a wrong password leads to the page that says so; an action of one own gets the error', async () => {
  const { useSignIn } = QwikAuth$(() => bindingConfig())
  const wrong = { username: 'ada', password: 'wrong' }
  const shown = await thrownBy(submit(useSignIn, post(), { providerId: 'credentials', options: wrong }))
  expect(shown.headers.get('location')).toBe('http://app.example/auth/signin?error=CredentialsSignin&code=credentials')
  const { qwik } = createAuth(bindingConfig()).use(qwikBinding())
  await expect(qwik.signIn(post(), 'credentials', { fields: wrong })).rejects.toMatchObject({
    name: 'CredentialsSignin',
    code: 'credentials',
  })
})

it('D30: an action that another site called is refused', async () => {
  const { useSignIn } = QwikAuth$(() => bindingConfig())
  for (const headers of [{ origin: 'http://evil.example' }, {}]) {
    const event = post('/page', headers as Record<string, string>)
    const refused = await thrownBy(submit(useSignIn, event, { providerId: 'credentials', options: { username: 'ada', password: 'right' } }))
    expect([refused.status, event.cookies]).toEqual([403, []])
  }
})

it("the guard answers data requests of Qwik's router so that it goes to the page", async () => {
  const { qwik } = createAuth(bindingConfig()).use(qwikBinding())
  const response = await thrownBy(qwik.requireSession(eventOf(new Request('http://app.example/shop/q-data.json?a=1'))))
  expect([response.status, response.headers.get('content-type')]).toEqual([401, 'text/plain'])
})

it('serverAuth$ is QwikAuth$ by a name that keeps the options out of the client', () => {
  expect([serverAuth$, serverAuthQrl]).toEqual([QwikAuth$, QwikAuthQrl])
})

it('row 316: customFetch is the symbol on the server and undefined in the browser', async () => {
  expect(customFetch).toBe(kernelFetch)
  vi.resetModules()
  vi.stubGlobal('window', {})
  try {
    expect((await import('authkernel/bindings/qwik')).customFetch).toBeUndefined()
  } finally {
    vi.unstubAllGlobals()
  }
})

it('setEnvDefaults fills a configuration from the environment of an event', () => {
  const config: AuthConfig = {}
  setEnvDefaults({ get: (name) => ({ AUTH_SECRET: 'x'.repeat(32) })[name] }, config)
  expect([config.secret, config.basePath]).toEqual([['x'.repeat(32)], '/auth'])
})
