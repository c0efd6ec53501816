/** Elysia itself, without a server: what it parses, what it merges into responses, and what it tells of the client. */
import { type AuthConfig, createAuth } from 'authkernel'
import { ElysiaAuth, type ElysiaApi, elysiaBinding } from 'authkernel/bindings/elysia'
import type { Plugin } from 'authkernel/kernel'
import { bindingConfig, testBinding } from 'authkernel/testing'
import { Elysia } from 'elysia'
import { expect, it } from 'vitest'
import { serveWeb } from './_web.ts'

const apiOf = (more?: AuthConfig, plugins: readonly Plugin[] = []): ElysiaApi => {
  const auth = createAuth(bindingConfig(more))
  for (const plugin of plugins) auth.use(plugin)
  return auth.use(elysiaBinding()).elysia
}

/** The app; `peer` says what Bun's server would. */
function appOf(auth: ElysiaApi, peer: () => string) {
  const app = new Elysia()
    .onRequest(auth.handler)
    .use(new Elysia().resolve(auth.resolve).get('/page', ({ session }) => Response.json(session)))
    .get('/guarded', async (context) => Response.json(await auth.session(context)), { beforeHandle: auth.requireSession() })
    .post('/login', (context) => auth.signIn(context, 'credentials', { fields: fieldsOf(context.body), redirectTo: '/in' }))
    .post('/logout', (context) => auth.signOut(context, { redirectTo: '/out' }))
  Object.assign(app, { server: { requestIP: () => ({ address: peer() }) } })
  return app
}
const fieldsOf = (body: unknown): Record<string, unknown> => body as Record<string, unknown>

const start = (auth: ElysiaApi) => {
  let address = ''
  const app = appOf(auth, () => address)
  return serveWeb(async (request, peer) => {
    address = peer
    return app.fetch(request)
  })
}

testBinding({ name: 'elysia', rootRoutes: true, start: (more, plugins) => start(apiOf(more, plugins)) })
testBinding({ name: 'elysia, options by a function of the context', start: (more) => start(ElysiaAuth(() => bindingConfig(more))) })

it('cookies of the app and of a session that was extended go out side by side', async () => {
  const auth = apiOf({ session: { updateAge: 0 } })
  const app = new Elysia().onRequest(auth.handler).get('/', async (context) => {
    context.set.headers['set-cookie'] = 'own=1'
    await auth.session(context)
    await auth.session(context)
    return 'home'
  })
  const names = (response: Response): string[] => response.headers.getSetCookie().map((line) => line.split('=')[0]!)
  const cookie = (response: Response): string =>
    response.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ')
  const csrf = await app.handle(new Request('http://app.example/auth/csrf'))
  const { csrfToken } = (await csrf.json()) as { csrfToken: string }
  const signedIn = await app.handle(
    new Request('http://app.example/auth/callback/credentials', {
      method: 'POST',
      headers: { cookie: cookie(csrf) },
      body: new URLSearchParams({ csrfToken, username: 'ada', password: 'right' }),
    }),
  )
  const page = await app.handle(new Request('http://app.example/', { headers: { cookie: cookie(signedIn) } }))
  expect([await page.text(), names(page)]).toEqual(['home', ['own', 'authkernel.session-token']])
})

it('a wrong password that the app does not catch has the status of the error', async () => {
  const auth = apiOf()
  const app = new Elysia().post('/', (context) => auth.signIn(context, 'credentials', { fields: { username: 'ada', password: 'wrong' } }))
  const post = (origin: string) => app.handle(new Request('http://app.example/', { method: 'POST', headers: { origin } }))
  expect((await post('http://app.example')).status).toBe(401)
  expect((await post('https://evil.example')).status).toBe(403)
})
