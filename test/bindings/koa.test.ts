/** Koa. */
import { createAuth } from 'authkernel'
import { KoaAuth, koaBinding, type KoaApi } from 'authkernel/bindings/koa'
import Koa from 'koa'
import { expect, it } from 'vitest'
import { config } from './_auth.ts'
import { fieldsOf, probe, testFamily } from './_family.ts'
import { ask, serve, type TestServer } from './_http.ts'

testFamily('koa', (options) => host(createAuth(config(options)).use(probe).use(koaBinding()).koa))
testFamily('KoaAuth, options by a function of the request', (options) => host(KoaAuth(() => config(options), probe)))

function host(api: KoaApi): Promise<TestServer> {
  const app = new Koa()
  app.silent = true
  app.use(api.handler)
  app.use(async (ctx, next) => {
    switch (ctx.path) {
      case '/page':
        return api.middleware(ctx, async () => {
          ctx.type = 'json'
          ctx.body = JSON.stringify(ctx.state.session)
        })
      case '/guarded':
        return api.requireSession()(ctx, async () => void (ctx.body = ctx.state.session))
      case '/login':
        return api.signIn(ctx, 'credentials', { fields: await fieldsOf(ctx.req), redirectTo: '/in' })
      case '/logout':
        return api.signOut(ctx, { redirectTo: '/out' })
      default:
        return next()
    }
  })
  app.use((ctx) => {
    ctx.status = 404
    ctx.body = 'the host'
  })
  return serve(app.callback())
}

it('what a body parser left in ctx.request.body is used, and app.proxy makes https cookies', async () => {
  const auth = createAuth(config()).use(probe).use(koaBinding())
  const app = new Koa()
  app.proxy = true
  app.use(async (ctx, next) => {
    if (ctx.method === 'POST') Object.assign(ctx.request, { body: await fieldsOf(ctx.req) })
    await next()
    ctx.set('x-host', 'was here')
  })
  app.use(auth.koa.handler)
  const server = await serve(app.callback())
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'app.example',
    'x-forwarded-for': '203.0.113.7',
  }
  const answer = await ask(server.port, '/auth/signout', { method: 'POST', headers, body: 'csrfToken=x' })
  expect([answer.headers.location, answer.headers['x-host']]).toEqual(['https://app.example/auth/signin?error=MissingCSRF', 'was here'])
  expect((await ask(server.port, '/auth/probe', { headers })).json()).toEqual({
    url: 'https://app.example/auth/probe',
    address: '203.0.113.7',
  })
  await server.close()
})
