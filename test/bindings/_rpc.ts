/** The routes of the contract of bindings in front of procedures. */
import type { AuthConfig } from 'authkernel'
import { createAuth } from 'authkernel'
import { fetchBinding } from 'authkernel/bindings/fetch'
import type { TrpcApi } from 'authkernel/bindings/trpc'
import { bindingConfig } from 'authkernel/testing'
import { expect, it } from 'vitest'
import type { TestServer } from './_http.ts'
import { formOf, serveWeb } from './_web.ts'

/** Fields of a form. */
export type Fields = Readonly<Record<string, string>>

/** Calls a procedure as the framework's client would, with the headers of `request`. */
export type Call = (name: string, request: Request, info: unknown, input?: Fields) => Promise<Response>

/** What forms and pages of an app do with their client. */
export function startRpc(
  more: AuthConfig | undefined,
  apiOf: (more?: AuthConfig) => TrpcApi,
  callOf: (auth: TrpcApi) => Call,
): Promise<TestServer> {
  const { fetch: routes } = createAuth(bindingConfig(more)).use(fetchBinding())
  const call = callOf(apiOf(more))
  const guarded = routes.protect((request, _session, info) => call('guarded', request, info))
  return serveWeb(async (request, hostname) => {
    const info = { remoteAddr: { hostname } }
    if (routes.matches(request)) return routes.handler(request, info)
    const { pathname } = new URL(request.url)
    if (pathname === '/page') return call('page', request, info)
    if (pathname === '/guarded') return guarded(request, info)
    if (pathname !== '/login' && pathname !== '/logout') return new Response('the host', { status: 404 })
    const answer = await call(pathname.slice(1), request, info, pathname === '/login' ? await formOf(request) : undefined)
    if (!answer.ok) return answer
    const headers = new Headers(answer.headers)
    headers.set('location', ((await answer.json()) as { url: string }).url)
    return new Response(null, { status: 303, headers })
  })
}

/** What the framework makes of our errors. */
export function testErrors(call: Call): void {
  const request = (origin = 'http://app.example'): Request => new Request('http://app.example/', { headers: { origin } })
  it('no session is 401, a wrong password 401, another origin 403', async () => {
    expect((await call('guarded', request(), undefined)).status).toBe(401)
    const wrong = await call('login', request(), undefined, { username: 'ada', password: 'wrong' })
    expect([wrong.status, wrong.headers.getSetCookie()]).toEqual([401, []])
    expect((await call('login', request('https://evil.example'), undefined, { username: 'ada', password: 'right' })).status).toBe(403)
  })
}
