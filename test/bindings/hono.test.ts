/** Hono, with contexts made by hand; `test/playground/small.slow.test.ts` runs the real one (issue 6 items 2 to 5). */
import { createAuth } from 'authkernel'
import { type HonoContext, type HonoApi, HonoAuth, honoBinding } from 'authkernel/bindings/hono'
import { bindingConfig, testBinding } from 'authkernel/testing'
import { expect, it } from 'vitest'
import { formOf, serveWeb, withCookies } from './_web.ts'

interface FakeContext extends HonoContext {
  cookies: string[]
  vars: Record<string, unknown>
}

function contextOf(raw: Request, { env, routePath }: { env?: unknown; routePath?: string } = {}): FakeContext {
  const cookies: string[] = []
  const vars: Record<string, unknown> = {}
  const req: HonoContext['req'] = {
    raw,
    bodyCache: {},
    formData: () => raw.formData(),
    text: () => raw.text(),
    ...(routePath !== undefined && { routePath }),
  }
  return {
    req,
    env,
    cookies,
    vars,
    finalized: false,
    header: (_name, value) => void cookies.push(value),
    set: (key, value) => void (vars[key] = value),
  }
}

const next = async (): Promise<void> => {}

async function app(hono: HonoApi, request: Request, peer: string): Promise<Response> {
  const context = contextOf(request, {
    env: { incoming: { socket: { remoteAddress: peer } } },
    routePath: new URL(request.url).pathname.replace(/\/[^/]*$/, '/*'),
  })
  const answer = async (): Promise<Response> => {
    const { pathname } = new URL(request.url)
    if (pathname === '/page') {
      await hono.middleware(context, next)
      return Response.json(context.vars.session)
    }
    if (pathname === '/guarded') return (await hono.requireSession()(context, next)) ?? Response.json(context.vars.session)
    if (pathname === '/login') return hono.signIn(context, 'credentials', { fields: await formOf(request), redirectTo: '/in' })
    if (pathname === '/logout') return hono.signOut(context, { redirectTo: '/out' })
    return (await hono.handler(context, next)) ?? new Response('the host', { status: 404 })
  }
  return withCookies(await answer(), context.cookies)
}

testBinding({
  name: 'hono',
  start: (more) => {
    const { hono } = createAuth(bindingConfig(more)).use(honoBinding())
    return serveWeb((request, peer) => app(hono, request, peer))
  },
})

testBinding({
  name: 'hono, options by a function of the context',
  start: (more) => {
    const hono = HonoAuth(() => bindingConfig(more))
    return serveWeb((request, peer) => app(hono, request, peer))
  },
})

it('the wildcard route it is mounted at is the base path', async () => {
  const { hono } = createAuth(bindingConfig()).use(honoBinding())
  const ask = (path: string, routePath: string): Promise<Response | void> =>
    hono.handler(contextOf(new Request(`http://app.example${path}`), { routePath }), next)
  for (const [path, routePath] of [
    ['/api/auth/providers', '/api/auth/*'],
    ['/t/acme/auth/providers', '/t/:tenant/auth/*'],
    ['/auth/providers', '*'],
    ['/auth/providers', '/*'],
  ] as const) {
    const answer = await ask(path, routePath)
    const providers = (await answer!.json()) as Record<string, { signinUrl: string }>
    expect(providers.credentials!.signinUrl).toBe(`http://app.example${path.replace('/providers', '')}/signin/credentials`)
  }
  expect(await ask('/elsewhere', '*')).toBeUndefined()
  expect(await ask('/auth/a-page-of-the-host', '/auth/*')).toBeUndefined()
})

it('the options win over a wider mount', async () => {
  const { hono } = createAuth(bindingConfig({ basePath: '/api/auth' })).use(honoBinding())
  const answer = await hono.handler(contextOf(new Request('http://app.example/api/auth/csrf'), { routePath: '/api/*' }), next)
  expect(answer?.status).toBe(200)
})

it('a body that a middleware has parsed is made anew', async () => {
  const { hono } = createAuth(bindingConfig()).use(honoBinding())
  const csrf = await hono.handler(contextOf(new Request('http://app.example/auth/csrf')), next)
  const { csrfToken } = (await csrf!.json()) as { csrfToken: string }
  const cookie = csrf!.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ')
  const fields = { csrfToken, username: 'ada', password: 'right' }
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  const post = async (body: BodyInit, kind: 'formData' | 'text', headers: Record<string, string> = {}): Promise<Response | void> => {
    const raw = new Request('http://app.example/auth/callback/credentials', { method: 'POST', body, headers: { cookie, ...headers } })
    const read = await raw[kind]()
    const context = contextOf(raw)
    Object.assign(context.req, { bodyCache: { [kind]: read }, [kind]: async () => read })
    return hono.handler(context, next)
  }
  for (const answer of [
    await post(form, 'formData'),
    await post(new URLSearchParams(fields), 'text', { 'content-type': 'application/x-www-form-urlencoded' }),
    await post(JSON.stringify(fields), 'text', { 'content-type': 'application/json' }),
  ]) {
    expect([answer!.status, answer!.headers.get('location')]).toEqual([302, 'http://app.example'])
    expect(answer!.headers.getSetCookie().join()).toContain('authkernel.session-token=')
  }
})

it('a body that somebody has read and not kept is an error that says what to do', async () => {
  const { hono } = createAuth(bindingConfig()).use(honoBinding())
  const raw = new Request('http://app.example/auth/signout', { method: 'POST', body: 'a=b' })
  await raw.text()
  await expect(hono.handler(contextOf(raw), next)).rejects.toThrow(/mount its handler first/)
})

it('a session that is read after the response is made extends nothing', async () => {
  const { hono } = createAuth(bindingConfig({ session: { updateAge: 0 } })).use(honoBinding())
  const context = Object.assign(contextOf(new Request('http://app.example/')), { finalized: true })
  expect([await hono.session(context), context.cookies]).toEqual([null, []])
})
