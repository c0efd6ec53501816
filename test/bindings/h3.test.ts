/** h3 2 and 1 themselves. The contract of bindings runs on 2 in `mounted.test.ts`, too. */
import { type AuthConfig, createAuth, skipCSRFCheck } from 'authkernel'
import { type AnyH3Event, H3Auth, h3Binding, type H3EventOfNode, type H3Api } from 'authkernel/bindings/h3'
import type { Plugin } from 'authkernel/kernel'
import { bindingConfig, testBinding } from 'authkernel/testing'
import { H3, serve as serveH3 } from 'h3'
import { type App, createApp, eventHandler, readBody, readRawBody, toNodeListener, toWebHandler } from 'h3v1'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { expect, it } from 'vitest'
import { sendResponse } from '../../bindings/_shared/node-request.ts'
import { fieldsOf, probe } from './_family.ts'
import { ask, serve } from './_http.ts'
import { formOf, serveWeb } from './_web.ts'

async function app(h3: H3Api, event: AnyH3Event, pathname: string, fields: () => Promise<Record<string, string>>): Promise<Response> {
  if (pathname === '/page') {
    await h3.middleware(event)
    return Response.json(event.context.session)
  }
  if (pathname === '/guarded') return (await h3.requireSession()(event)) ?? Response.json(event.context.session)
  if (pathname === '/login') return h3.signIn(event, 'credentials', { fields: await fields(), redirectTo: '/in' })
  if (pathname === '/logout') return h3.signOut(event, { redirectTo: '/out' })
  return (await h3.handler(event)) ?? new Response('the host', { status: 404 })
}

/** An app of h3 1 with the routes of the contract. */
function appOfVersion1(more?: AuthConfig, plugins: readonly Plugin[] = []): App {
  const auth = createAuth(bindingConfig(more)).use(h3Binding())
  for (const plugin of plugins) auth.use(plugin)
  const { h3 } = auth
  const own = createApp()
  own.use(eventHandler((event) => h3.handler(event)))
  own.use(
    eventHandler(async (event) => {
      const found = await app(h3, event, event.path.split('?')[0]!, async () => (await readBody(event)) as Record<string, string>)
      return found
    }),
  )
  return own
}

testBinding({
  name: 'h3 1 itself, which is Nitro 2',
  rootRoutes: true,
  start: (more, plugins) => serve(toNodeListener(appOfVersion1(more, plugins))),
})

testBinding({
  name: 'h3 1 by its toWebHandler',
  start: (more) => {
    const handler = toWebHandler(appOfVersion1(more))
    return serveWeb((request, peer) => handler(Object.defineProperty(request, 'ip', { value: peer, configurable: true })))
  },
})

it('h3 1: a body of the app is not touched by a handler that passes the request on', async () => {
  const { h3 } = createAuth(bindingConfig()).use(h3Binding())
  const echo = createApp()
  echo.use(eventHandler((event) => h3.handler(event)))
  echo.use(eventHandler(async (event) => String(await readRawBody(event)).length))
  const server = await serve(toNodeListener(echo))
  try {
    expect((await ask(server.port, '/echo', { method: 'POST', body: 'x'.repeat(300_000) })).text).toBe('300000')
  } finally {
    await server.close()
  }
})

testBinding({
  name: 'h3 2 itself, options by a function of the event',
  start: async (more) => {
    const h3 = H3Auth(() => bindingConfig(more))
    const own = new H3({ silent: true }).all('/**', (event) => app(h3, event, event.url.pathname, () => formOf(event.req)))
    const server = serveH3(own, { port: 0, hostname: '127.0.0.1', silent: true })
    await server.ready()
    return { origin: new URL(server.url!).origin, close: () => server.close(true) }
  },
})

it('h3 1: a body that its readBody has read is where h3 keeps it', async () => {
  const { h3 } = createAuth(bindingConfig({ skipCSRFCheck })).use(h3Binding())
  const [path, body] = ['/auth/callback/credentials', 'username=ada&password=right&callbackUrl=/after']
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const server = await serve((req, res) => {
    void fieldsOf(req).then(async () => {
      Object.assign(req, { [Symbol.for('h3RawBody')]: Promise.resolve(Buffer.from(body)) })
      return sendResponse(res, (await h3.handler({ node: { req, res }, context: {} }))!)
    })
  })
  try {
    expect((await ask(server.port, path, { method: 'POST', headers, body })).headers.location).toBe(`${server.origin}/after`)
  } finally {
    await server.close()
  }
  const request = new Request(`https://app.example${path}`, { method: 'POST', headers, body })
  const event = shellOf(request, '')
  Object.assign(event.node.req, { [Symbol.for('h3ParsedBody')]: Object.fromEntries(new URLSearchParams(await request.text())) })
  expect((await h3.handler(event))!.headers.get('location')).toBe('https://app.example/after')
})

it('h3 1 by its toWebHandler: the address that a server has on its requests', async () => {
  const { h3 } = createAuth(bindingConfig()).use(probe).use(h3Binding())
  const request = new Request('http://app.example/auth/probe')
  Object.defineProperty(request, 'ip', { get: () => '203.0.113.7', configurable: true })
  const response = await h3.handler(shellOf(request, ''))
  expect(await response!.json()).toEqual({ url: 'http://app.example/auth/probe', address: '203.0.113.7' })
})

it("h3 1 under Nitro's presets: the body is `req.body`, in the form that the platform gives", async () => {
  const { h3 } = createAuth(bindingConfig({ skipCSRFCheck })).use(h3Binding())
  const bytes = new TextEncoder().encode('username=ada&password=right&callbackUrl=/after')
  for (const body of [Buffer.from(bytes), bytes.buffer, new Response(bytes).body, new TextDecoder().decode(bytes)]) {
    const headers = { host: 'app.example', 'content-type': 'application/x-www-form-urlencoded' }
    const event = shellOf(new Request('http://app.example/auth/callback/credentials', { method: 'POST', headers }), '')
    Object.assign(event.node.req, { body })
    expect((await h3.handler({ ...event, web: undefined }))!.headers.get('location')).toBe('http://app.example/after')
  }
})

it('the wildcard route it is mounted at is the base path, in both versions', async () => {
  const { h3 } = createAuth(bindingConfig()).use(h3Binding())
  for (const mount of ['/api/auth/**', '/api/:version/**', '/**:rest']) {
    const base = mount === '/api/auth/**' ? '/api/auth' : mount === '/**:rest' ? '/auth' : '/api/v1'
    const modern = new H3().all(mount, (event) => h3.handler(event))
    expect(await (await modern.request(`http://app.example${base}/providers`)).json()).toMatchObject({
      credentials: { signinUrl: `http://app.example${base}/signin/credentials` },
    })
  }
  const server = await serve((req, res) => {
    const event: H3EventOfNode = { node: { req, res }, context: { matchedRoute: { path: '/api/auth/**:slug' } } }
    void h3.handler(event).then((response) => sendResponse(res, response ?? new Response('the host')))
  })
  try {
    const { text } = await ask(server.port, '/api/auth/providers')
    expect(JSON.parse(text)).toMatchObject({ credentials: { signinUrl: `${server.origin}/api/auth/signin/credentials` } })
    expect((await ask(server.port, '/elsewhere')).text).toBe('the host')
  } finally {
    await server.close()
  }
})

/** An event as h3 1 makes it of a web request: the Node request is a shell that no body ever comes from. */
function shellOf(request: Request, peer: string): H3EventOfNode {
  const req = new IncomingMessage(new Socket())
  Object.defineProperty(req.socket, 'remoteAddress', { value: peer })
  Object.defineProperty(req, 'readableEnded', { value: true })
  const { pathname, search } = new URL(request.url)
  Object.assign(req, { method: request.method, url: pathname + search, headers: Object.fromEntries(request.headers) })
  return { node: { req, res: new ServerResponse(req) }, context: {}, web: { request } }
}
