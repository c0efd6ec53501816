/** Plain web-standard fetch, as Bun, Deno and workers call it (issue 6 items 2 and 4). */
import { createAuth } from 'authkernel'
import { FetchAuth, fetchBinding, type FetchFace } from 'authkernel/bindings/fetch'
import { expect, it } from 'vitest'
import { answered, sendResponse } from '../../bindings/_node.ts'
import { config } from './_auth.ts'
import { probe, testFamily } from './_family.ts'
import { serve, type TestServer } from './_http.ts'

testFamily('fetch', (options) => host(createAuth(config(options)).use(probe).use(fetchBinding()).fetch))
testFamily('FetchAuth', (options) => host(FetchAuth(config(options), probe)))

function host(face: FetchFace): Promise<TestServer> {
  const page = face.withSession((_request, session) => Response.json(session))
  const guarded = face.protect((_request, session) => Response.json(session))
  const answer = async (request: Request, info: unknown): Promise<Response> => {
    if (face.matches(request)) return face.handler(request, info)
    const fields = async (): Promise<Record<string, unknown>> => Object.fromEntries(new URLSearchParams(await request.text()))
    switch (new URL(request.url).pathname) {
      case '/page':
        return page(request, info)
      case '/guarded':
        return guarded(request, info)
      case '/login':
        return face.signIn(request, 'credentials', { fields: await fields(), redirectTo: '/in' })
      case '/logout':
        return face.signOut(request, { redirectTo: '/out' })
      default:
        return new Response('the host', { status: 404 })
    }
  }
  return serve(
    (req, res) =>
      void answered(req, res, {}, (request) => answer(request, { remoteAddr: { transport: 'tcp', hostname: req.socket.remoteAddress } }))
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

it('the session alone extends nothing (D51)', async () => {
  const auth = createAuth(config()).use(fetchBinding())
  expect(await auth.fetch.session(new Request('http://localhost/'))).toBeNull()
})
