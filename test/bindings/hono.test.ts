/** Hono itself, without a server. The contract of bindings runs on it in `mounted.test.ts`, too. */
import { type AuthConfig, createAuth } from 'authkernel'
import { type HonoAuthEnv, type HonoApi, HonoAuth, honoBinding } from 'authkernel/bindings/hono'
import { bindingConfig, testBinding } from 'authkernel/testing'
import { Hono } from 'hono'
import { expect, it } from 'vitest'
import { serveWeb } from './_web.ts'

const api = (more?: AuthConfig): HonoApi => createAuth(bindingConfig(more)).use(honoBinding()).hono

testBinding({
  name: 'hono, options by a function of the context, below a wildcard',
  start: (more) => {
    const hono = HonoAuth(() => bindingConfig(more))
    const app = new Hono<HonoAuthEnv>()
    app.use('/auth/*', hono.handler)
    app.get('/page', async (c) => c.json(await hono.session(c)))
    app.get('/guarded', hono.requireSession(), (c) => c.json(c.var.session))
    app.post('/login', async (c) => hono.signIn(c, 'credentials', { fields: await c.req.parseBody(), redirectTo: '/in' }))
    app.post('/logout', (c) => hono.signOut(c, { redirectTo: '/out' }))
    return serveWeb(async (request, remoteAddress) => app.fetch(request, { incoming: { socket: { remoteAddress } } }))
  },
})

it('the wildcard route it is mounted at is the base path', async () => {
  const hono = api()
  for (const [path, pattern] of [
    ['/api/auth/providers', '/api/auth/*'],
    ['/t/acme/auth/providers', '/t/:tenant/auth/*'],
    ['/api/auth/providers', '/api/auth/:rest{.+}'],
    ['/auth/providers', '*'],
    ['/auth/providers', '/*'],
  ] as const) {
    const answer = await new Hono().use(pattern, hono.handler).request(`http://app.example${path}`)
    const providers = (await answer.json()) as Record<string, { signinUrl: string }>
    expect(providers.credentials!.signinUrl).toBe(`http://app.example${path.replace('/providers', '')}/signin/credentials`)
  }
  const nested = new Hono().route('/api', new Hono().use('/auth/*', hono.handler))
  expect(await (await nested.request('/api/auth/session')).text()).toBe('null')
  const app = new Hono().use(hono.handler).notFound((c) => c.text('the host', 404))
  expect(await (await app.request('/elsewhere')).text()).toBe('the host')
  expect(await (await app.request('/auth/a-page-of-the-host')).text()).toBe('the host')
})

it('the options win over a wider mount', async () => {
  const app = new Hono().use('/api/*', api({ basePath: '/api/auth' }).handler)
  expect((await app.request('http://app.example/api/auth/csrf')).status).toBe(200)
})

it('a body that a middleware has parsed is made anew', async () => {
  const hono = api()
  const signIn = async (kind: 'parseBody' | 'formData' | 'text' | 'json', body: BodyInit, type?: string): Promise<Response> => {
    const app = new Hono()
    app.use(async (c, next) => {
      if (c.req.method === 'POST') await (c.req[kind] as () => Promise<unknown>)()
      await next()
    })
    app.use('/auth/*', hono.handler)
    const headers = { cookie, origin: 'http://app.example', ...(type && { 'content-type': type }) }
    return app.request('http://app.example/auth/callback/credentials', { method: 'POST', body, headers })
  }
  const csrf = await new Hono().use(hono.handler).request('http://app.example/auth/csrf')
  const { csrfToken } = (await csrf.json()) as { csrfToken: string }
  const cookie = csrf.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ')
  const fields = { csrfToken, username: 'ada', password: 'right' }
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  for (const answer of [
    await signIn('parseBody', form),
    await signIn('formData', form),
    await signIn('parseBody', new URLSearchParams(fields)),
    await signIn('text', new URLSearchParams(fields)),
    await signIn('json', JSON.stringify(fields), 'application/json'),
  ]) {
    expect([answer.status, answer.headers.get('location')]).toEqual([302, 'http://app.example'])
    expect(answer.headers.getSetCookie().join()).toContain('authkernel.session-token=')
  }
})

it('a body that a middleware has read and not kept is an error that says what to do', async () => {
  const errors: string[] = []
  const app = new Hono().use(async (c, next) => {
    await c.req.raw.text()
    await next()
  })
  app.use('/auth/*', api().handler)
  app.onError((error, c) => (errors.push(error.message), c.text('', 500)))
  await app.request('/auth/signout', { method: 'POST', body: 'a=b' })
  expect(errors.join()).toMatch(/mount its handler first/)
})

it('a session that is read after the response is made extends nothing', async () => {
  const hono = api({ session: { updateAge: 0 } })
  const read: unknown[] = []
  const app = new Hono()
  app.use(async (c, next) => {
    await next()
    read.push(await hono.session(c))
  })
  app.get('/', (c) => c.text('home'))
  const answer = await app.request('/')
  expect([read, answer.headers.getSetCookie()]).toEqual([[null], []])
})

it('an error that the app does not catch has the status of the routes, and reaches `onError` as it is', async () => {
  const hono = api({ adapter: broken, session: { strategy: 'database' }, providers: [] })
  const down = await new Hono()
    .get('/', async (c) => c.json(await hono.session(c)))
    .request('/', {
      headers: { cookie: 'authkernel.session-token=x' },
    })
  expect([down.status, await down.text()]).toEqual([503, 'Internal Server Error'])
  const caught = new Hono().post('/', (c) => api().signIn(c, 'credentials', { fields: { username: 'ada', password: 'wrong' } }))
  caught.onError((error, c) => c.text(error.name, 418))
  const answer = await caught.request('http://app.example/', { method: 'POST', headers: { origin: 'http://app.example' } })
  expect([answer.status, await answer.text()]).toEqual([418, 'CredentialsSignin'])
})

const fails = (): Promise<never> => Promise.reject(new Error('The store is down.'))
const broken = {
  createUser: fails,
  getUser: fails,
  getUserByEmail: fails,
  getUserByAccount: fails,
  updateUser: fails,
  linkAccount: fails,
  createSession: fails,
  getSessionAndUser: fails,
  updateSession: fails,
  deleteSession: fails,
}
