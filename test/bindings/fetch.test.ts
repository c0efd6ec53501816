/** Plain web-standard fetch, as Bun, Deno and workers call it. */
import { createAuth } from 'authkernel'
import { FetchAuth, fetchBinding, type FetchApi, type LazyFetchApi } from 'authkernel/bindings/fetch'
import { bindingConfig, testBinding } from 'authkernel/testing'
import { expect, it } from 'vitest'
import { answerWeb, sendResponse } from '../../bindings/_shared/node-request.ts'
import { config } from './_auth.ts'
import { probe, testFamily } from './_family.ts'
import { serve, type TestServer } from './_http.ts'

testFamily('fetch', (options) => host(createAuth(config(options)).use(probe).use(fetchBinding()).fetch), [500, 500])
testFamily('FetchAuth', (options) => host(FetchAuth(config(options), probe)), [500, 500])
testFamily('FetchAuth, options by a function of the request', (options) => host(FetchAuth(() => config(options), probe)), [500, 500])
testBinding({ name: 'fetch', start: (more) => host(createAuth(bindingConfig(more)).use(fetchBinding()).fetch) })
testBinding({ name: 'fetch, options by a function of the request', start: (more) => host(FetchAuth(() => bindingConfig(more))) })

function host(api: FetchApi | LazyFetchApi): Promise<TestServer> {
  const page = api.withSession((_request, session) => Response.json(session))
  const guarded = api.protect((_request, session) => Response.json(session))
  const answer = async (request: Request, info: unknown): Promise<Response> => {
    if (await api.matches(request, info)) return api.handler(request, info)
    const fields = async (): Promise<Record<string, unknown>> => Object.fromEntries(new URLSearchParams(await request.text()))
    switch (new URL(request.url).pathname) {
      case '/page':
        return page(request, info)
      case '/guarded':
        return guarded(request, info)
      case '/login':
        return api.signIn(request, 'credentials', { fields: await fields(), redirectTo: '/in' }, info)
      case '/logout':
        return api.signOut(request, { redirectTo: '/out' }, info)
      default:
        return new Response('the host', { status: 404 })
    }
  }
  return serve(
    (req, res) =>
      void answerWeb(req, res, {}, (request) => answer(request, { remoteAddr: { transport: 'tcp', hostname: req.socket.remoteAddress } }))
        .then((response) => sendResponse(res, response))
        .catch(() => res.writeHead(500).end()),
  )
}

it("the runtime's second argument: Bun and Deno tell the address, a worker's environment tells nothing", async () => {
  const auth = createAuth(config()).use(probe).use(fetchBinding())
  const address = async (info: unknown): Promise<unknown> => {
    const response = await auth.fetch.handler(new Request('http://localhost/auth/probe'), info)
    return ((await response.json()) as { address?: string }).address
  }
  expect(await address({ requestIP: () => ({ address: '203.0.113.9', port: 1, family: 'IPv4' }) })).toBe('203.0.113.9')
  expect(await address({ requestIP: () => null })).toBeUndefined()
  expect(await address({ remoteAddr: { hostname: '203.0.113.8', port: 1 } })).toBe('203.0.113.8')
  for (const env of [undefined, null, 'x', {}, { clientAddress: 'x', basePath: '/elsewhere', csrf: 'origin' }])
    expect(await address(env)).toBeUndefined()
})

it('srvx puts the address on the request; what is no text is none', async () => {
  const auth = createAuth(config()).use(probe).use(fetchBinding())
  const address = async (ip: unknown): Promise<unknown> => {
    const response = await auth.fetch.handler(Object.assign(new Request('http://localhost/auth/probe'), { ip }))
    return ((await response.json()) as { address?: string }).address
  }
  expect(await Promise.all([address('203.0.113.7'), address(undefined), address({})])).toEqual(['203.0.113.7', undefined, undefined])
})

it('a function of the request gets what the runtime gives, once per request, and its kernels share what must be used once', async () => {
  const asked: unknown[] = []
  const api = FetchAuth((_request, env) => {
    asked.push(env)
    return config({ basePath: (env as { base: string }).base })
  })
  const env = { base: '/elsewhere' }
  const request = new Request('http://localhost/elsewhere/session')
  expect([await api.matches(request, env), await (await api.handler(request, env)).text(), await api.session(request)]).toEqual([
    true,
    'null',
    null,
  ])
  expect(asked).toEqual([env])
  expect(await api.matches(new Request('http://localhost/auth/session'), env)).toBe(false)
})

it('the session alone extends nothing (D51)', async () => {
  const auth = createAuth(config()).use(fetchBinding())
  expect(await auth.fetch.session(new Request('http://localhost/'))).toBeNull()
})
