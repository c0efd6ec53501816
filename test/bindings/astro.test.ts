/** Astro, with contexts made by hand: pages get another one than the middleware, of the same request. */
import { type AuthConfig, createAuth } from 'authkernel'
import { AstroAuth, type AstroApi, astroBinding, type AstroContext } from 'authkernel/bindings/astro'
import type { Plugin } from 'authkernel/kernel'
import { bindingConfig, testBinding } from 'authkernel/testing'
import { expect, it } from 'vitest'
import { formOf, serveWeb } from './_web.ts'

async function app(auth: AstroApi, request: Request, clientAddress: string): Promise<Response> {
  const locals: { auth?: () => Promise<unknown> } = {}
  const context = (): AstroContext => ({ request, locals, clientAddress, isPrerendered: false })
  return auth.onRequest(context(), async () => {
    switch (new URL(request.url).pathname) {
      case '/page':
        return Response.json(await locals.auth!())
      case '/guarded': {
        const found = await auth.requireSession(context())
        return found instanceof Response ? found : Response.json(found)
      }
      case '/login':
        return auth.signIn(context(), 'credentials', { fields: await formOf(request), redirectTo: '/in' })
      case '/logout':
        return auth.signOut(context(), { redirectTo: '/out' })
      default:
        return new Response('the host', { status: 404 })
    }
  })
}

function apiOf(more?: AuthConfig, plugins: readonly Plugin[] = []): AstroApi {
  const auth = createAuth(bindingConfig(more))
  for (const plugin of plugins) auth.use(plugin)
  return auth.use(astroBinding()).astro
}
const serve = (auth: AstroApi) => serveWeb((request, peer) => app(auth, request, peer))

testBinding({ name: 'astro', rootRoutes: true, start: (more, plugins) => serve(apiOf(more, plugins)) })
testBinding({ name: 'astro, options by a function of the context', start: (more) => serve(AstroAuth(() => bindingConfig(more))) })

it('pages that are written at build time have no session, and no client to ask for', async () => {
  const context = {
    request: new Request('http://localhost/auth/session'),
    locals: {},
    isPrerendered: true,
    get clientAddress(): string {
      throw new Error('There is no client.')
    },
  }
  const auth = apiOf({ session: { updateAge: 0 } })
  const page = await auth.onRequest(context, async () => new Response(JSON.stringify(await auth.session(context))))
  expect([await page.text(), page.headers.getSetCookie()]).toEqual(['null', []])
})

it('a session that is read while the page streams extends nothing, and breaks nothing', async () => {
  const auth = apiOf({ session: { updateAge: 0 } })
  const context: AstroContext = { request: new Request('http://app.example/'), locals: {} }
  const page = await auth.onRequest(context, async () => new Response('page'))
  expect([await auth.session(context), page.headers.getSetCookie()]).toEqual([null, []])
})
