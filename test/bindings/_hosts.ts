/** An app of a host of web functions: plain fetch, with the address of the client as the host tells it. */
import type { FetchApi, LazyFetchApi } from 'authkernel/bindings/fetch'
import { setHostRequest } from 'authkernel/kernel'
import type { TestServer } from './_http.ts'
import { formOf, serveWeb } from './_web.ts'

type Api = FetchApi | LazyFetchApi

/** The app; `enter` does to a request what the edge of the host does, and gives the second argument of the function. */
export function startHost(auth: Api, enter: (headers: Headers, peer: string) => unknown): Promise<TestServer> {
  const page = auth.withSession((_request, session) => Response.json(session))
  const guarded = auth.protect((_request, session) => Response.json(session))
  return serveWeb(async (received, peer) => {
    const headers = new Headers(received.headers)
    const info = enter(headers, peer)
    const request = setHostRequest(new Request(received, { headers }), received)
    if (await auth.matches(request, info)) return auth.handler(request, info)
    const { pathname } = new URL(request.url)
    if (pathname === '/page') return page(request, info)
    if (pathname === '/guarded') return guarded(request, info)
    if (pathname === '/login') return auth.signIn(request, 'credentials', { fields: await formOf(request), redirectTo: '/in' }, info)
    if (pathname === '/logout') return auth.signOut(request, { redirectTo: '/out' }, info)
    return new Response('the host', { status: 404 })
  })
}
