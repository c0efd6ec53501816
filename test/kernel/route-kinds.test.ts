/** What a route says of itself: methods, proofs of origin, bodies, CORS, the root; and that a guard sees what is routed. */
import { describe, expect, it } from 'vitest'
import { createKernel, type Context, json, type Plugin, type Route } from 'authkernel/kernel'
import { createAuth as createWhole } from 'authkernel'
import { credentialsPlugin } from 'authkernel/plugins/credentials'
import { jwtSessionPlugin } from 'authkernel/plugins/session-jwt'
import { baseConfig, Client } from '../_setup.ts'

const origin = 'http://localhost:3000'
const routes = (...list: Route[]): Plugin => ({ name: 'p', setup: (kernel) => list.forEach((route) => kernel.route(route)) })
const make = (...list: Route[]) =>
  createKernel(baseConfig())
    .use(jwtSessionPlugin())
    .use(routes(...list))
const send = (auth: { handler(request: Request): Promise<Response> }, method: string, path: string, init: RequestInit = {}) =>
  auth.handler(new Request(origin + path, { method, ...init }))
const ok = () => new Response('ok')
const cookie = 'authkernel.session-token=x; own=1'

describe('a guard in `request` sees the route and its parameters, however the path is spelled', () => {
  const auth = createWhole(baseConfig()).use(
    credentialsPlugin({ id: 'password', type: 'credentials', name: 'P', authorize: () => ({ id: '1' }) } as never),
  )
  auth.hook('request', ({ ctx }) =>
    ctx.route?.flow === 'callback' && ctx.params['provider'] === 'password' ? new Response('guarded', { status: 418 }) : undefined,
  )

  it.each(['/auth/callback/password', '/auth/callback/password/'])('%s is guarded', async (path) => {
    for (const method of ['GET', 'POST']) expect((await send(auth, method, path)).status).toBe(418)
  })
  it.each([
    '/auth/callback/%70assword',
    '/auth/callback/passwor%64/',
    '/auth//callback/password',
    '/auth/callback//password',
    '/auth/callback/password//',
    '/auth/%63allback/password',
  ])('%s is not routed', async (path) => {
    const response = await send(auth, 'GET', `${path}?code=1`)
    expect([response.status, response.headers.get('location')]).toEqual([308, '/auth/callback/password?code=1'])
    const post = await send(auth, 'POST', path)
    expect([post.status, await post.json()]).toEqual([400, 'Bad request.'])
  })
  it.each([
    '/auth/callback/password%2F',
    '/auth/callback/%',
    '/auth/callback/pass%00word',
    '/auth/callback/password;x',
    '/auth/./callback/password/..',
  ])('%s is something else', async (path) => {
    expect((await send(auth, 'POST', path)).status).not.toBe(418)
    expect(await auth.session(new Request(`${origin}/`))).toBeNull()
  })
})

describe('methods', () => {
  const auth = make(
    { method: 'PUT', path: '/thing/:id', csrf: 'crossSite', handler: ({ params }) => Response.json(params) },
    { method: 'DELETE', path: '/thing/:id', csrf: 'crossSite', handler: ok },
    { method: 'GET', path: '/page', handler: () => new Response('body', { headers: { 'x-own': '1' } }) },
  )
  it('any of the five reaches its route; others are 405 with Allow', async () => {
    expect(await (await send(auth, 'PUT', '/auth/thing/7')).json()).toEqual({ id: '7' })
    const patch = await send(auth, 'PATCH', '/auth/thing/7')
    expect([patch.status, patch.headers.get('allow'), await patch.json()]).toEqual([405, 'PUT, DELETE', 'Method not allowed.'])
  })
  it('HEAD has the headers of GET and no body', async () => {
    const head = await send(auth, 'HEAD', '/auth/page')
    expect([head.status, head.headers.get('x-own'), await head.text()]).toEqual([200, '1', ''])
  })
  it('PUT, PATCH and DELETE need the CSRF token like POST', async () => {
    const strict = make({ method: 'DELETE', path: '/thing', handler: ok })
    expect((await send(strict, 'DELETE', '/auth/thing')).headers.get('location')).toContain('error=MissingCSRF')
    expect((await send(strict, 'DELETE', '/auth/thing', { headers: { origin: 'https://evil.example' } })).status).toBe(403)
  })
})

describe('proofs of origin', () => {
  const auth = make(
    { method: 'POST', path: '/own', csrf: 'origin', handler: ok },
    { method: 'POST', path: '/cross', csrf: 'crossSite', handler: ({ cookie: read }: Context) => new Response(read('own') ?? 'none') },
    {
      method: 'POST',
      path: '/bearer',
      csrf: 'bearer',
      handler(ctx) {
        ctx.setCookie('planted', '1')
        return new Response([ctx.cookie('own') ?? 'none', ctx.request.headers.get('authorization')].join(' '))
      },
    },
  )
  it('origin: own Origin or Sec-Fetch-Site, and neither is refused', async () => {
    expect((await send(auth, 'POST', '/auth/own', { headers: { origin } })).status).toBe(200)
    expect((await send(auth, 'POST', '/auth/own', { headers: { 'sec-fetch-site': 'same-origin' } })).status).toBe(200)
    for (const headers of [{}, { origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }] as HeadersInit[])
      expect((await send(auth, 'POST', '/auth/own', { headers })).status).toBe(403)
  })
  it('crossSite: cookies are there', async () => {
    const bound = make({ method: 'POST', path: '/cross', csrf: 'crossSite', handler: (ctx) => new Response(ctx.cookie('own') ?? 'none') })
    expect(await (await send(bound, 'POST', '/auth/cross', { headers: { cookie, origin: 'https://idp.example' } })).text()).toBe('1')
  })
  it('bearer: no cookie comes in, none goes out', async () => {
    const response = await send(auth, 'POST', '/auth/bearer', {
      headers: { cookie, origin: 'https://app.example', authorization: 'Bearer t' },
    })
    expect([await response.text(), response.headers.getSetCookie()]).toEqual(['none Bearer t', []])
  })
})

describe('bodies', () => {
  const auth = make(
    {
      method: 'POST',
      path: '/token',
      csrf: 'bearer',
      body: { types: ['text', 'json'], bytes: 20 },
      handler: async (ctx) => new Response(await ctx.text()),
    },
    { method: 'POST', path: '/raw', csrf: 'bearer', handler: async (ctx) => Response.json([...(await ctx.bytes())]) },
  )
  const post = (path: string, body: BodyInit, type: string) => send(auth, 'POST', path, { body, headers: { 'content-type': type } })
  it('types that are not listed are 415', async () => {
    expect((await post('/auth/token', 'a=1', 'application/x-www-form-urlencoded')).status).toBe(415)
    expect((await post('/auth/token', 'x', 'application/octet-stream')).status).toBe(415)
    expect(await (await post('/auth/token', '{}', 'application/vnd.x+json; charset=utf-8')).text()).toBe('{}')
  })
  it('a route may say itself what is wrong with a request; where it says nothing or fails, the kernel does', async () => {
    const body = { types: ['json' as const] }
    const own = make(
      {
        method: 'POST',
        path: '/own',
        csrf: 'bearer',
        body,
        handler: ok,
        refusal: (_ctx, { status, message }) => json({ message }, status),
      },
      { method: 'POST', path: '/silent', csrf: 'bearer', body, handler: ok, refusal: () => undefined },
      { method: 'POST', path: '/faulty', csrf: 'bearer', body, handler: ok, refusal: () => Promise.reject(new Error('broken')) },
    )
    const answers = ['own', 'silent', 'faulty'].map(async (name) => {
      const response = await send(own, 'POST', `/auth/${name}`, { body: 'a=1', headers: { 'content-type': 'text/plain' } })
      return [response.status, await response.json()]
    })
    const plain = 'Unsupported media type.'
    expect(await Promise.all(answers)).toEqual([
      [415, { message: plain }],
      [415, plain],
      [415, plain],
    ])
  })
  it('the limit of a route is its own', async () => {
    expect((await post('/auth/token', 'x'.repeat(21), 'text/plain')).status).toBe(413)
    expect((await post('/auth/token', 'x'.repeat(20), 'text/plain')).status).toBe(200)
  })
  it('bytes come as they are', async () => {
    expect(await (await post('/auth/raw', new Uint8Array([0, 255, 128]), 'application/octet-stream')).json()).toEqual([0, 255, 128])
  })
})

describe('CORS', () => {
  const auth = make(
    { method: 'POST', path: '/any', csrf: 'bearer', cors: { origins: 'any', headers: ['dpop'] }, handler: ok },
    { method: 'POST', path: '/some', csrf: 'bearer', cors: { origins: ['https://app.example'] }, handler: ok },
  )
  const preflight = (path: string, from: string, method = 'POST') =>
    send(auth, 'OPTIONS', path, { headers: { origin: from, 'access-control-request-method': method } })
  it('the kernel answers OPTIONS; credentials are never allowed', async () => {
    const any = await preflight('/auth/any', 'https://else.example')
    expect(any.status).toBe(204)
    expect(Object.fromEntries(any.headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'authorization, content-type, dpop',
    })
    expect(any.headers.has('access-control-allow-credentials')).toBe(false)
    expect((await preflight('/auth/some', 'https://app.example')).headers.get('access-control-allow-origin')).toBe('https://app.example')
    for (const path of ['/auth/some'])
      expect((await preflight(path, 'https://evil.example')).headers.has('access-control-allow-origin')).toBe(false)
    expect((await preflight('/auth/any', 'https://app.example', 'DELETE')).status).toBe(405)
    expect((await preflight('/auth/session', 'https://app.example', 'GET')).status).toBe(400)
  })
  it('answers carry the header, and Vary where it depends on the origin', async () => {
    const some = await send(auth, 'POST', '/auth/some', { headers: { origin: 'https://app.example' } })
    expect([some.headers.get('access-control-allow-origin'), some.headers.get('vary')]).toEqual(['https://app.example', 'Origin'])
    expect((await send(auth, 'POST', '/auth/any')).headers.get('access-control-allow-origin')).toBe('*')
  })
})

describe('public answers and the root', () => {
  const auth = make(
    {
      method: 'GET',
      path: '/.well-known/jwks.json',
      at: 'root',
      public: { maxAge: 300 },
      cors: { origins: 'any' },
      handler: () => Response.json({ keys: [] }),
    },
    { method: 'GET', path: '/mine', handler: () => Response.json(1) },
  )
  it('a root route is answered at the origin, with its max-age', async () => {
    expect(auth.rootPaths).toEqual(['/.well-known/jwks.json'])
    const response = await send(auth, 'GET', '/.well-known/jwks.json')
    expect([response.status, response.headers.get('cache-control'), await response.json()]).toEqual([
      200,
      'public, max-age=300',
      { keys: [] },
    ])
    expect((await send(auth, 'GET', '/auth/.well-known/jwks.json')).status).toBe(400)
    expect((await send(auth, 'GET', '/auth/mine')).headers.get('cache-control')).toBe('private, no-store')
    expect((await send(auth, 'POST', '/.well-known/jwks.json')).status).toBe(405)
  })
})

it('cookies of plugins are Secure on https, unless they say otherwise', async () => {
  const set: Route = {
    method: 'GET',
    path: '/set',
    handler(ctx) {
      ctx.setCookie('plain', '1', { httpOnly: true })
      ctx.setCookie('open', '1', { secure: false })
      return ok()
    },
  }
  const over = async (url: string) => (await make(set).handler(new Request(`${url}/auth/set`))).headers.getSetCookie()
  expect(await over('https://app.example')).toEqual(['plain=1; HttpOnly; Secure', 'open=1'])
  expect(await over('http://app.example')).toEqual(['plain=1; HttpOnly', 'open=1'])
})

it('authenticate: null is signed out, whatever the cookie says; what it answers passes the session hook and event', async () => {
  const auth = createWhole(baseConfig()).use(
    credentialsPlugin({ id: 'password', type: 'credentials', name: 'P', authorize: () => ({ id: '1', name: 'Ada' }) } as never),
  )
  const told: unknown[] = []
  auth.hook('authenticate', ({ ctx }) => {
    const key = ctx.request.headers.get('x-api-key')
    return key === null ? undefined : key === 'good' ? { user: { name: 'Robot' }, expires: '2030-01-01T00:00:00.000Z' } : null
  })
  auth.hook('session', ({ session }) => ({ ...session, passed: true }))
  auth.on('session', ({ session }) => void told.push(session))
  const client = new Client(auth)
  await client.post('/callback/password', {})
  const read = async (key?: string) =>
    (await (await client.send('/session', { headers: key ? { 'x-api-key': key } : {} })).json()) as { user: { name: string } } | null
  expect((await read())?.user.name).toBe('Ada')
  expect(await read('revoked')).toBeNull()
  expect(await read('good')).toEqual({ user: { name: 'Robot' }, expires: '2030-01-01T00:00:00.000Z', passed: true })
  expect(told.at(-1)).toMatchObject({ user: { name: 'Robot' }, passed: true })
})
