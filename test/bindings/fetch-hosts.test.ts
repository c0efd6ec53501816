/** Cloudflare, Netlify and Vercel: plain fetch, with the address of the client as each host tells it. */
import type { AuthConfig } from 'authkernel'
import { createAuth } from 'authkernel'
import { CloudflareAuth, cloudflareBinding } from 'authkernel/bindings/cloudflare'
import type { FetchApi, LazyFetchApi } from 'authkernel/bindings/fetch'
import { NetlifyAuth, netlifyBinding } from 'authkernel/bindings/netlify'
import { VercelAuth, vercelBinding } from 'authkernel/bindings/vercel'
import { bindingConfig, testBinding } from 'authkernel/testing'
import { setHostRequest } from 'authkernel/kernel'
import { formOf, serveWeb } from './_web.ts'

type Api = FetchApi | LazyFetchApi

/** The app; `enter` does to a request what the edge of the host does, and gives the second argument of the function. */
function start(auth: Api, enter: (headers: Headers, peer: string) => unknown) {
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

const hosts: Record<
  string,
  [eager: (more?: AuthConfig) => Api, lazy: (more?: AuthConfig) => Api, enter: (headers: Headers, peer: string) => unknown]
> = {
  cloudflare: [
    (more) => createAuth(bindingConfig(more)).use(cloudflareBinding()).cloudflare,
    (more) => CloudflareAuth(() => bindingConfig(more)),
    (headers, peer) => (headers.set('cf-connecting-ip', peer), { AUTH_SECRET: 's' }),
  ],
  netlify: [
    (more) => createAuth(bindingConfig(more)).use(netlifyBinding()).netlify,
    (more) => NetlifyAuth(() => bindingConfig(more)),
    (_headers, ip) => ({ ip, geo: {} }),
  ],
  vercel: [
    (more) => createAuth(bindingConfig(more)).use(vercelBinding()).vercel,
    (more) => VercelAuth(() => bindingConfig(more)),
    (headers, peer) => void headers.set('x-real-ip', peer),
  ],
}

for (const [name, [eager, lazy, enter]] of Object.entries(hosts)) {
  testBinding({ name, start: (more) => start(eager(more), enter) })
  testBinding({ name: `${name}, options by a function`, start: (more) => start(lazy(more), enter) })
}
