import { createAuth } from 'authkernel'
import { fetchBinding } from 'authkernel/bindings/fetch'
import { serve } from 'srvx'
import { codeOf, config } from './auth.ts'
import { account, assets, home, members } from './site.ts'

const auth = createAuth(config).use(fetchBinding())
await auth.ready()

type Route = (request: Request) => Response | Promise<Response>
const page = (markup: string, status = 200): Response =>
  new Response(markup, { status, headers: { 'content-type': 'text/html; charset=utf-8' } })
const fieldsOf = async (request: Request): Promise<Record<string, unknown>> => Object.fromEntries(await request.formData())
const routes: Record<string, Route> = {
  'GET /': auth.fetch.withSession((_request, session) => page(home(session))),
  'GET /protected': auth.fetch.protect((_request, session) => page(members(session))),
  'GET /account': auth.fetch.protect((_request, session) => page(account(session))),
  'POST /sign-in': signIn,
  'POST /sign-out': (request) => auth.fetch.signOut(request, { redirectTo: '/' }),
  'GET /page': auth.fetch.withSession((_request, session) => Response.json(session)),
  'GET /guarded': auth.fetch.protect((_request, session) => Response.json(session)),
  'POST /login': async (request) => auth.fetch.signIn(request, 'credentials', { fields: await fieldsOf(request), redirectTo: '/in' }),
  'POST /logout': (request) => auth.fetch.signOut(request, { redirectTo: '/out' }),
}

/** `export default { fetch: answer }` on Bun, Deno and workers. */
async function answer(request: Request): Promise<Response> {
  if (auth.fetch.matches(request)) return auth.fetch.handler(request)
  const { pathname } = new URL(request.url)
  const asset = assets[pathname]
  if (asset) return new Response(asset.body, { headers: { 'content-type': asset.type } })
  const route = routes[`${request.method} ${pathname.replace(/^(\/sign-in)\/.*/, '$1')}`]
  return route ? route(request) : new Response('Not found', { status: 404 })
}

serve({
  hostname: '127.0.0.1',
  port: Number(process.env.PORT ?? 3000),
  fetch: answer,
  error(error) {
    console.error(error)
    return new Response('The server has written down why.', { status: 500 })
  },
})

async function signIn(request: Request): Promise<Response> {
  const provider = new URL(request.url).pathname.split('/')[2]
  const fields = await fieldsOf(request)
  try {
    return await auth.fetch.signIn(request, provider, { fields, redirectTo: '/' })
  } catch (error) {
    return page(home(null, codeOf(error)), 401)
  }
}
