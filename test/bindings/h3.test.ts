/** h3 2 and 1, with events made by hand; `test/playground/small.slow.test.ts` runs the real one (issue 6 items 2 to 5). */
import { createAuth } from 'authkernel'
import { type AnyH3Event, H3Auth, h3Binding, type H3Event, type H3EventOfNode, type H3Face } from 'authkernel/bindings/h3'
import { bindingConfig, testBinding } from 'authkernel/testing'
import { expect, it } from 'vitest'
import { sendResponse } from '../../bindings/_node.ts'
import { fieldsOf } from './_family.ts'
import { ask, serve } from './_http.ts'
import { formOf, serveWeb, withCookies } from './_web.ts'

async function app(h3: H3Face, event: AnyH3Event, pathname: string, fields: () => Promise<Record<string, string>>): Promise<Response> {
  if (pathname === '/page') {
    await h3.middleware(event)
    return Response.json(event.context.session)
  }
  if (pathname === '/guarded') return (await h3.requireSession()(event)) ?? Response.json(event.context.session)
  if (pathname === '/login') return h3.signIn(event, 'credentials', { fields: await fields(), redirectTo: '/in' })
  if (pathname === '/logout') return h3.signOut(event, { redirectTo: '/out' })
  return (await h3.handler(event)) ?? new Response('the host', { status: 404 })
}

testBinding({
  name: 'h3 2',
  start: (more) => {
    const { h3 } = createAuth(bindingConfig(more)).use(h3Binding())
    return serveWeb(async (request, peer) => {
      const event: H3Event = { req: Object.assign(request, { ip: peer }), res: { headers: new Headers() }, context: {} }
      const response = await app(h3, event, new URL(request.url).pathname, () => formOf(request))
      return withCookies(response, (event.res.headers as Headers).getSetCookie())
    })
  },
})

testBinding({
  name: 'h3 1, which is Nitro 2 and Nuxt',
  start: (more) => {
    const { h3 } = createAuth(bindingConfig(more)).use(h3Binding())
    return serve((req, res) => {
      const event: H3EventOfNode = { node: { req, res }, context: {} }
      void app(h3, event, new URL(req.url ?? '/', 'http://x').pathname, () => fieldsOf(req))
        .then((response) => sendResponse(res, response))
        .catch(() => res.writeHead(500).end())
    })
  },
})

testBinding({
  name: 'h3, options by a function of the event',
  start: (more) => {
    const h3 = H3Auth(() => bindingConfig(more))
    return serveWeb(async (request, peer) => {
      const event: H3Event = { req: Object.assign(request, { ip: peer }), res: { headers: new Headers() }, context: {} }
      const response = await app(h3, event, new URL(request.url).pathname, () => formOf(request))
      return withCookies(response, (event.res.headers as Headers).getSetCookie())
    })
  },
})

it('the wildcard route it is mounted at is the base path, in both versions', async () => {
  const { h3 } = createAuth(bindingConfig()).use(h3Binding())
  const modern: H3Event = {
    req: new Request('http://app.example/api/auth/providers'),
    res: { headers: new Headers() },
    context: { matchedRoute: { route: '/api/auth/**' } },
  }
  expect(await (await h3.handler(modern))!.json()).toMatchObject({
    credentials: { signinUrl: 'http://app.example/api/auth/signin/credentials' },
  })
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
