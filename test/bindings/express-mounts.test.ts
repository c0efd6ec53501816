/** Every way to mount the handler, in both Expresses, with and without body parsers before it (rows 292 to 294, D23). */
import { createAuth } from 'authkernel'
import { ExpressAuth, expressBinding, getSession, type ExpressHandler } from 'authkernel/bindings/express'
import { authjsCompatPlugin } from 'authkernel/plugins/authjs-compat'
import express5, { type Request, type Response } from 'express'
import express4 from 'express4'
import { afterEach, describe, expect, it } from 'vitest'
import { config } from './_auth.ts'
import { ask, Jar, serve, route, signIn, type TestServer } from './_http.ts'

type App = ReturnType<typeof express5>
type Mount = (app: App, router: () => ReturnType<typeof express5.Router>, handler: ExpressHandler, create: () => App) => void

const any: [string, string, Mount][] = [
  ["app.use('/auth')", '/auth', (app, _router, handler) => app.use('/auth', handler)],
  ["app.use('/auth/')", '/auth', (app, _router, handler) => app.use('/auth/', handler)],
  ['app.use() at the root', '/auth', (app, _router, handler) => app.use(handler)],
  ["app.use('/api/auth')", '/api/auth', (app, _router, handler) => app.use('/api/auth', handler)],
  ["router.use('/auth') in app.use('/api')", '/api/auth', (app, router, handler) => app.use('/api', router().use('/auth', handler))],
  ['three routers deep', '/a/b/auth', (app, router, handler) => app.use('/a', router().use('/b', router().use('/auth', handler)))],
  ["an app of its own in app.use('/api')", '/api/auth', (app, _router, handler, create) => app.use('/api', create().use('/auth', handler))],
  ["app.use('/:tenant/auth')", '/acme/auth', (app, _router, handler) => app.use('/:tenant/auth', handler)],
  [
    'one pattern per depth',
    '/auth',
    (app, _router, handler) => {
      app.all('/auth/:action', handler)
      app.all('/auth/:action/:provider', handler)
    },
  ],
]
const only4: [string, string, Mount][] = [
  ["app.use('/auth/*')", '/auth', (app, _router, handler) => app.use('/auth/*', handler)],
  ["app.all('/auth/*')", '/auth', (app, _router, handler) => app.all('/auth/*', handler)],
  ["app.all('/auth*')", '/auth', (app, _router, handler) => app.all('/auth*', handler)],
  ["app.get and app.post('/auth/*')", '/auth', (app, _router, handler) => app.get('/auth/*', handler).post('/auth/*', handler)],
  ["router.all('/*') in app.use('/api/auth')", '/api/auth', (app, router, handler) => app.use('/api/auth', router().all('/*', handler))],
  ["app.use('/api/auth/*')", '/api/auth', (app, _router, handler) => app.use('/api/auth/*', handler)],
]
const only5: [string, string, Mount][] = [
  ["app.use('/auth/*splat')", '/auth', (app, _router, handler) => app.use('/auth/*splat', handler)],
  ["app.use('/auth/{*splat}')", '/auth', (app, _router, handler) => app.use('/auth/{*splat}', handler)],
  ["app.all('/auth/*splat')", '/auth', (app, _router, handler) => app.all('/auth/*splat', handler)],
  ["app.all('/auth/{*splat}')", '/auth', (app, _router, handler) => app.all('/auth/{*splat}', handler)],
  ["app.get and app.post('/auth/*any')", '/auth', (app, _router, handler) => app.get('/auth/*any', handler).post('/auth/*any', handler)],
  [
    "router.all('/*splat') in app.use('/api/auth')",
    '/api/auth',
    (app, router, handler) => app.use('/api/auth', router().all('/*splat', handler)),
  ],
  ["app.use('/:tenant/auth/*splat')", '/acme/auth', (app, _router, handler) => app.use('/:tenant/auth/*splat', handler)],
]
const versions = [
  ['Express 5', express5, [...any, ...only5]],
  ['Express 4', express4 as unknown as typeof express5, [...any, ...only4]],
] as const
const parsers = [
  ['no parser', () => {}],
  ['json() and urlencoded()', (app: App, express: typeof express5) => app.use(express.json(), express.urlencoded({ extended: true }))],
  ['urlencoded(), not extended', (app: App, express: typeof express5) => app.use(express.urlencoded({ extended: false }))],
  ['raw()', (app: App, express: typeof express5) => app.use(express.raw({ type: '*/*' }))],
  ['text()', (app: App, express: typeof express5) => app.use(express.text({ type: '*/*' }))],
] as const

let server: TestServer
afterEach(() => server.close())

for (const [version, express, mounts] of versions) {
  describe(version, () => {
    for (const [name, base, mount] of mounts) {
      it(`rows 293, 294: ${name}`, async () => {
        const app = express()
        const auth = createAuth(config()).use(expressBinding())
        mount(app, express.Router, auth.express.handler, express)
        app.get(
          '/page',
          route(async (req: Request, res: Response) => res.json(await auth.express.session(req))),
        )
        app.use((_req, res) => void res.status(404).send('the host'))
        server = await serve(app)
        await journey(base)
        expect((await ask(server.port, '/elsewhere')).text).toBe('the host')
      })
    }

    for (const [name, parser] of parsers) {
      it(`row 292: ${name} before the handler`, async () => {
        const app = express()
        parser(app, express)
        app.use('/auth', createAuth(config()).use(expressBinding()).express.handler)
        server = await serve(app)
        for (const kind of ['form', 'json'] as const) {
          const jar = new Jar()
          expect((await signIn(server.port, '/auth', jar, kind)).headers.location).toBe(`${server.origin}/after`)
          expect((await session('/auth', jar)).user?.name).toBe('Ada')
        }
      })
    }

    it('rows 289, 290: ExpressAuth(config) and getSession(req, config)', async () => {
      const options = config()
      const before = structuredClone({ ...options, providers: undefined, logger: undefined })
      const app = express()
      app.use(version === 'Express 5' ? '/auth/*splat' : '/auth/*', ExpressAuth(options))
      app.get(
        '/page',
        route(async (req: Request, res: Response) => res.json(await getSession(req, options))),
      )
      server = await serve(app)
      expect((await ask(server.port, '/page')).text).toBe('null')
      await journey('/auth')
      expect({ ...options, providers: undefined, logger: undefined }).toEqual(before)
    })

    it('ExpressAuth(config, plugin): getSession(req, config) has the plugin too, and may be asked before', async () => {
      const options = config()
      const app = express()
      app.get(
        '/page',
        route(async (req: Request, res: Response) => res.json(await getSession(req, options))),
      )
      server = await serve(app)
      expect((await ask(server.port, '/page')).text).toBe('null')
      app.use('/auth', ExpressAuth(options, authjsCompatPlugin()))
      const jar = new Jar()
      await signIn(server.port, '/auth', jar)
      expect([...jar.values.keys()]).toContain('authjs.session-token')
      expect((await ask(server.port, '/page', { headers: { cookie: jar.header } })).json().user?.name).toBe('Ada')
    })
  })
}

async function journey(base: string): Promise<void> {
  const { port, origin } = server
  const providers = (await ask(port, `${base}/providers`)).json() as { credentials?: { callbackUrl: string } }
  expect(providers.credentials?.callbackUrl).toBe(`${origin}${base}/callback/credentials`)

  const jar = new Jar()
  const signedIn = await signIn(port, base, jar)
  expect([signedIn.status, signedIn.headers.location]).toEqual([302, `${origin}/after`])
  expect((await session(base, jar)).user?.name).toBe('Ada')
  expect((await ask(port, '/page', { headers: { cookie: jar.header } })).json().user?.name).toBe('Ada')

  // Unknown routes are the kernel's to refuse; its error page is below the same base.
  expect((await ask(port, `${base}/unknown`)).text).toBe('"Bad request."')
  for (const id of ['no%20body', 'no%2Fbody', '%E2%82%AC']) {
    const refused = await ask(port, `${base}/callback/${id}`)
    expect([id, refused.headers.location]).toEqual([id, `${origin}${base}/error?error=Configuration`])
  }
}

async function session(base: string, jar: Jar): Promise<ReturnType<Awaited<ReturnType<typeof ask>>['json']>> {
  const answer = await ask(server.port, `${base}/session`, { headers: { cookie: jar.header } })
  return answer.json()
}
