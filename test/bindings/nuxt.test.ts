/**
 * Nuxt's server as Nitro puts it together of h3 1: a middleware for every request, then a router. `test/playground/nuxt.slow.test.ts` builds an app
 * with Nuxt itself.
 */
import { type AuthConfig, createAuth, type Session } from 'authkernel'
import { NuxtAuth, nuxtBinding, type NuxtApi } from 'authkernel/bindings/nuxt'
import type { Plugin } from 'authkernel/kernel'
import { bindingConfig, testBinding } from 'authkernel/testing'
import { H3, serve as serveH3 } from 'h3'
import { type App, createApp, createRouter, defineEventHandler, readBody, toNodeListener, toWebHandler } from 'h3v1'
import { expect, it } from 'vitest'
import { ask, Jar, serve, signIn } from './_http.ts'
import { formOf, serveWeb } from './_web.ts'

type Context = { auth(): Promise<Session | null> }

function nitro(auth: NuxtApi): App {
  const app = createApp()
  app.use(defineEventHandler((event) => auth.handler(event)))
  const router = createRouter()
  router.get(
    '/page',
    defineEventHandler(async (event) => Response.json(await (event.context as unknown as Context).auth())),
  )
  router.get(
    '/guarded',
    defineEventHandler((event) => auth.requireSession(event)),
  )
  router.post(
    '/login',
    defineEventHandler(async (event) =>
      auth.signIn(event, 'credentials', { fields: (await readBody(event)) as Record<string, string>, redirectTo: '/in' }),
    ),
  )
  router.post(
    '/logout',
    defineEventHandler((event) => auth.signOut(event, { redirectTo: '/out' })),
  )
  // Nuxt's renderer: every other path is a page.
  router.use(
    '/**',
    defineEventHandler((event) => new Response(`page ${event.path}`, { status: event.path === '/auth/welcome' ? 200 : 404 })),
  )
  app.use(router)
  return app
}

const nuxt = (more?: AuthConfig, plugins: readonly Plugin[] = []): NuxtApi => {
  const auth = createAuth(bindingConfig(more)).use(nuxtBinding())
  for (const plugin of plugins) auth.use(plugin)
  return auth.nuxt
}

testBinding({ name: 'nuxt', rootRoutes: true, start: (more, plugins) => serve(toNodeListener(nitro(nuxt(more, plugins)))) })
testBinding({ name: 'NuxtAuth, options by a function', start: (more) => serve(toNodeListener(nitro(NuxtAuth(() => bindingConfig(more))))) })
testBinding({
  name: "nuxt by Nitro's presets for workers",
  start: (more) => {
    const handler = toWebHandler(nitro(nuxt(more)))
    return serveWeb((request, peer) => handler(Object.defineProperty(request, 'ip', { value: peer, configurable: true })))
  },
})
testBinding({
  name: 'nuxt on h3 2',
  start: async (more) => {
    const auth = nuxt(more)
    const app = new H3({ silent: true })
    app.use((event) => auth.handler(event))
    app.get('/page', async (event) => Response.json(await (event.context as unknown as Context).auth()))
    app.get('/guarded', async (event) => Response.json(await auth.requireSession(event)))
    app.post('/login', async (event) => auth.signIn(event, 'credentials', { fields: await formOf(event.req), redirectTo: '/in' }))
    app.post('/logout', (event) => auth.signOut(event, { redirectTo: '/out' }))
    const server = serveH3(app, { port: 0, hostname: '127.0.0.1', silent: true })
    await server.ready()
    return { origin: new URL(server.url!).origin, close: () => server.close(true) }
  },
})

it('pages of the app below the base path are pages, and a function of the event is asked once per request', async () => {
  let asked = 0
  const server = await serve(toNodeListener(nitro(NuxtAuth(() => (asked++, bindingConfig())))))
  try {
    expect((await ask(server.port, '/auth/welcome')).text).toBe('page /auth/welcome')
    asked = 0
    await ask(server.port, '/page')
    expect(asked).toBe(1)
    const jar = new Jar()
    await signIn(server.port, '/auth', jar)
    asked = 0
    await ask(server.port, '/auth/signout', { method: 'POST', headers: { cookie: jar.header }, body: 'csrfToken=x' })
    expect(asked).toBe(1)
  } finally {
    await server.close()
  }
})

it('a refusal is foreseen: h3 does not log it, and tells nothing but it', async () => {
  const errors: unknown[] = []
  const app = createApp({ onError: (error) => void errors.push(error.unhandled) })
  const auth = nuxt()
  app.use(defineEventHandler((event) => auth.requireSession(event)))
  const server = await serve(toNodeListener(app))
  try {
    const refused = await ask(server.port, '/', { headers: { accept: 'application/json' } })
    expect([refused.status, refused.json().statusMessage, errors]).toEqual([401, 'Unauthorized', [false]])
    const sent = await ask(server.port, '/there', { headers: { accept: 'text/html' } })
    expect([sent.status, sent.headers.location]).toEqual([
      302,
      `${server.origin}/auth/signin?callbackUrl=${encodeURIComponent(`${server.origin}/there`)}`,
    ])
  } finally {
    await server.close()
  }
})
