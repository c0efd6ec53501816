/** SolidStart, with events made by hand; `test/playground/solid-start.slow.test.ts` runs the real one. */
import { createAuth } from 'authkernel'
import {
  getSession,
  SolidAuth,
  type SolidAuthConfig,
  solidStartBinding,
  type SolidStartEvent,
  type SolidStartApi,
} from 'authkernel/bindings/solid-start'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { webauthnPlugin } from 'authkernel/plugins/webauthn'
import { bindingConfig, testBinding } from 'authkernel/testing'
import { expect, it } from 'vitest'
import { formOf, serveWeb, withCookies } from './_web.ts'

async function app(auth: SolidStartApi, request: Request, clientAddress: string): Promise<Response> {
  const headers = new Headers()
  const event: SolidStartEvent & { locals: { auth?: () => Promise<unknown> } } = {
    request,
    clientAddress,
    response: { headers },
    locals: {},
  }
  await auth.middleware(event)
  const answer = async (): Promise<Response> => {
    const { pathname } = new URL(request.url)
    // The route of the page on SolidStart: it exports GET, HEAD and OPTIONS.
    if (pathname.startsWith('/.well-known/')) return (await auth.GET(event)) ?? new Response('the host', { status: 404 })
    switch (pathname) {
      case '/page':
        return Response.json(await event.locals.auth!())
      case '/guarded':
        return Response.json(await auth.requireSession(event))
      case '/login':
        throw await auth.signIn(event, 'credentials', { fields: await formOf(request), redirectTo: '/in' })
      case '/logout':
        throw await auth.signOut(event, { redirectTo: '/out' })
      default: {
        // SolidStart answers 405 to methods that a route does not export.
        const method = request.method === 'GET' || request.method === 'POST' ? auth[request.method] : undefined
        return (await method?.(event)) ?? new Response('the host', { status: method ? 404 : 405 })
      }
    }
  }
  const response = await answer().catch((thrown: unknown) => {
    if (thrown instanceof Response) return thrown
    throw thrown
  })
  return withCookies(response, headers.getSetCookie())
}

testBinding({
  name: 'solid-start',
  rootRoutes: true,
  start: (more, plugins = []) => {
    const auth = createAuth(bindingConfig(more)).use(solidStartBinding())
    for (const plugin of plugins) auth.use(plugin)
    return serveWeb((request, peer) => app(auth.solidStart, request, peer))
  },
})
testBinding({
  name: 'rows 49, 300: SolidAuth, base path /api/auth',
  basePath: '/api/auth',
  start: (more) => {
    const auth = SolidAuth(bindingConfig(more))
    return serveWeb((request, peer) => app(auth, request, peer))
  },
})
testBinding({
  name: 'row 50: SolidAuth with a prefix alone, options by a function',
  basePath: '/in/auth',
  start: (more) => {
    const auth = SolidAuth(() => ({ ...bindingConfig(more), prefix: '/in/auth' }))
    return serveWeb((request, peer) => app(auth, request, peer))
  },
})

const get = (path: string, headers: Record<string, string> = {}): SolidStartEvent => ({
  request: new Request(`http://app.example${path}`, { headers }),
})

it('rows 302, 303: undefined for what is no route; webauthn-options is one', async () => {
  const { GET, POST } = SolidAuth(bindingConfig())
  for (const path of ['/', '/api/authors', '/api/auth/a-page-of-the-host', '/elsewhere']) expect(await GET(get(path))).toBeUndefined()
  expect(await POST({ request: new Request('http://app.example/elsewhere', { method: 'POST' }) })).toBeUndefined()
  const { solidStart } = createAuth(bindingConfig({ basePath: '/api/auth', adapter: memoryAdapter(), session: { strategy: 'jwt' } }))
    .use(webauthnPlugin())
    .use(solidStartBinding())
  const options = await solidStart.GET(get('/api/auth/webauthn-options/nobody'))
  // No provider of that name here, which the route says and not the host's 404.
  expect([options?.status, options?.headers.get('content-type')]).toEqual([302, null])
})

it('rows 301, 304: getSession honours prefix and basePath', async () => {
  for (const [options, base] of [
    [{}, '/api/auth'],
    [{ prefix: '/in' }, '/in'],
    [{ prefix: '/other', basePath: '/in' }, '/in'],
  ] as const satisfies [SolidAuthConfig, string][]) {
    const config: SolidAuthConfig = { ...bindingConfig(), ...options }
    const { GET, POST } = SolidAuth(config)
    const csrf = await GET(get(`${base}/csrf`))
    const { csrfToken } = (await csrf!.json()) as { csrfToken: string }
    const cookie = (response: Response): string =>
      response.headers
        .getSetCookie()
        .map((line) => line.split(';')[0])
        .join('; ')
    const signedIn = await POST({
      request: new Request(`http://app.example${base}/callback/credentials`, {
        method: 'POST',
        headers: { cookie: cookie(csrf!) },
        body: new URLSearchParams({ csrfToken, username: 'ada', password: 'right' }),
      }),
    })
    expect(await getSession(new Request('http://app.example/', { headers: { cookie: cookie(signedIn!) } }), config)).toMatchObject({
      user: { name: 'Ada', email: 'ada@example.com' },
    })
    expect(await getSession(new Request('http://app.example/'), config)).toBeNull()
  }
})

it('a server function leads to the sign-in page and back to the page that called it', async () => {
  const { requireSession } = SolidAuth(bindingConfig())
  const called = async (headers: Record<string, string>): Promise<Response> =>
    requireSession(get('/_server', headers)).then(
      () => new Response(),
      (thrown: unknown) => thrown as Response,
    )
  const answer = await called({ 'x-server-id': 'x', referer: 'http://app.example/protected?a=1' })
  const back = (page: string): string => `http://app.example/api/auth/signin?callbackUrl=${encodeURIComponent(page)}`
  expect([answer.status, answer.headers.get('location')]).toEqual([302, back('http://app.example/protected?a=1')])
  expect((await called({})).headers.get('location')).toBe(back('http://app.example/'))
  // A foreign page is no place to come back to: its path on our own origin is.
  expect((await called({ referer: 'http://evil.example/x' })).headers.get('location')).toBe(back('http://app.example/x'))
  expect((await called({ referer: 'http://app.example//evil.example/x' })).headers.get('location')).toBe(
    back('http://app.example//evil.example/x'),
  )
})

it('a session that is read while the page streams extends nothing', async () => {
  const { session } = SolidAuth(bindingConfig({ session: { updateAge: 0 } }))
  const headers = new Headers()
  const event = { ...get('/'), response: { headers }, nativeEvent: { node: { res: { headersSent: true } } } }
  expect([await session(event), headers.getSetCookie()]).toEqual([null, []])
})
