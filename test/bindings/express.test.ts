/** The Express binding beyond mounting: cookies, errors, guards, server-side sign-in (rows 289 to 299, 340, 371 to 373, 378). */
import { createAuth, CredentialsSignin, SessionTokenError } from 'authkernel'
import type { AuthConfig, Session } from 'authkernel'
import * as binding from 'authkernel/bindings/express'
import { expressBinding, type ExpressApi, type ExpressRequest } from 'authkernel/bindings/express'
import { definePlugin, type Context } from 'authkernel/kernel'
import { memoryAdapter } from 'authkernel/plugins/memory'
import express5, { type NextFunction, type Request, type Response } from 'express'
import express4 from 'express4'
import { afterEach, describe, expect, it } from 'vitest'
import { config } from './_auth.ts'
import { ask, Jar, raw, route, serve, signIn, type TestServer } from './_http.ts'

type App = ReturnType<typeof express5>
interface Setup {
  options?: AuthConfig
  before?: (app: App) => unknown
  after?: (app: App, api: ExpressApi) => unknown
}

const servers: TestServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

for (const [version, express] of [
  ['Express 5', express5],
  ['Express 4', express4 as unknown as typeof express5],
] as const) {
  const start = async ({ options, before, after }: Setup = {}): Promise<TestServer & { errors: unknown[] }> => {
    const app = express()
    const errors: unknown[] = []
    const auth = createAuth(config(options)).use(probe).use(expressBinding())
    before?.(app)
    app.use('/auth', auth.express.handler)
    after?.(app, auth.express)
    app.use((error: unknown, _req: Request, res: Response, next: NextFunction) => {
      errors.push(error)
      if (res.headersSent) return next(error)
      res.status(res.statusCode >= 400 ? res.statusCode : 500).send(`host: ${error instanceof Error ? error.name : 'error'}`)
    })
    const server = await serve(app)
    servers.push(server)
    return { ...server, errors }
  }

  describe(version, () => {
    it('row 291: exports AuthError, CredentialsSignin, customFetch', () => {
      expect(Object.keys(binding)).toEqual(
        expect.arrayContaining(['AuthError', 'CredentialsSignin', 'customFetch', 'ExpressAuth', 'getSession']),
      )
    })

    it('row 295: several Set-Cookie headers survive, those of the host too', async () => {
      const { port } = await start({
        before: (app) => app.use((_req, res, next) => (res.cookie('host', '1').append('set-cookie', 'more=2'), next())),
      })
      const { cookies } = await ask(port, '/auth/csrf?callbackUrl=/there')
      expect(new Set(cookies.map((cookie) => cookie.split('=')[0]))).toEqual(
        new Set(['host', 'more', 'authkernel.csrf-token', 'authkernel.callback-url']),
      )
      expect(cookies).toHaveLength(4)
    })

    it('rows 296, 298: malformed JSON is 400 by the kernel, and next() is not called', async () => {
      let called = 0
      const { port, errors } = await start({ after: (app) => app.use((_req, _res, next) => (called++, next())) })
      const answer = await ask(port, '/auth/callback/credentials', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{',
      })
      expect([answer.status, answer.text]).toEqual([400, '"Bad request."'])
      await ask(port, '/auth/session')
      expect([called, errors]).toEqual([0, []])
    })

    it('row 296: what is not ours goes to next(error)', async () => {
      const failed = new Error('the body went elsewhere')
      const { port, errors } = await start({
        before: (app) =>
          app.use(
            (req, _res, next) => (
              Object.defineProperty(req, 'body', {
                get: () => {
                  throw failed
                },
              }),
              req.resume().on('end', next)
            ),
          ),
      })
      const answer = await ask(port, '/auth/signout', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })
      expect([answer.status, answer.text, errors]).toEqual([500, 'host: Error', [failed]])
    })

    it('a body that other middleware consumed is an error that says what to do', async () => {
      const { port, errors } = await start({ before: (app) => app.use((req, _res, next) => void req.resume().on('end', next)) })
      await ask(port, '/auth/signout', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'content-length': '2' },
        body: '{}',
      })
      expect(String(errors[0])).toContain('mount the auth handler first')
    })

    it('HEAD is refused without a body, and other methods too', async () => {
      const { port } = await start()
      const head = await ask(port, '/auth/session', { method: 'HEAD' })
      expect([head.status, head.text]).toEqual([400, ''])
      for (const method of ['PUT', 'DELETE', 'OPTIONS', 'TRACE']) expect((await ask(port, '/auth/session', { method })).status).toBe(400)
    })

    it('row 378: the session is null when there is none, and the handler fulfils with nothing', async () => {
      const results: unknown[] = []
      const { port } = await start({
        before: (app) =>
          app.use(
            '/direct',
            (req, res, next) =>
              void createAuth(config())
                .use(expressBinding())
                .express.handler(req, res, next)
                .then((value) => results.push(value)),
          ),
        after: (app, api) =>
          app.get(
            '/page',
            route(async (req: Request, res: Response) => res.json([await api.session(req), await api.user(req)])),
          ),
      })
      expect((await ask(port, '/page')).text).toBe('[null,null]')
      await ask(port, '/direct/session')
      expect(results).toEqual([undefined])
    })

    it('rows 297, 373: trust proxy makes https cookies and public URLs; without it the headers count for nothing', async () => {
      const proxied = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'app.example', 'x-forwarded-for': '203.0.113.7' }
      const trusting = await start({ before: (app) => app.set('trust proxy', 1) })
      const csrf = await ask(trusting.port, '/auth/csrf', { headers: proxied })
      expect(csrf.cookies.join('\n')).toMatch(/^__Host-authkernel\.csrf-token=.*; Secure/m)
      expect((await ask(trusting.port, '/auth/probe', { headers: proxied })).json()).toMatchObject({
        url: 'https://app.example/auth/probe',
        address: '203.0.113.7',
      })
      const jar = new Jar()
      expect((await signIn(trusting.port, '/auth', jar, 'form', proxied)).headers.location).toBe('https://app.example/after')
      expect([...jar.values.keys()]).toContain('__Secure-authkernel.session-token')

      const wary = await start()
      expect((await ask(wary.port, '/auth/csrf', { headers: proxied })).cookies.join('\n')).toMatch(/^authkernel\.csrf-token=/m)
      expect((await ask(wary.port, '/auth/probe', { headers: proxied })).json()).toMatchObject({
        url: `${wary.origin}/auth/probe`,
        address: '127.0.0.1',
      })
    })

    it('a refreshed cookie goes out with the page, once, however often the session is asked for (D51)', async () => {
      const { port } = await start({
        options: { session: { updateAge: 0 } },
        after: (app, api) =>
          app.use(api.middleware).get(
            '/page',
            api.requireSession(),
            route(async (req: Request, res: Response) => {
              await api.session(req)
              res.cookie('host', '1').json(await api.session(req))
            }),
          ),
      })
      const jar = new Jar()
      await signIn(port, '/auth', jar)
      const page = await ask(port, '/page', { headers: { cookie: jar.header } })
      expect(page.cookies.map((cookie) => cookie.split('=')[0])).toEqual(['authkernel.session-token', 'host'])
      expect(page.json().user?.name).toBe('Ada')
    })

    it('row 372: the middleware puts the session into res.locals', async () => {
      const { port } = await start({
        after: (app, api) =>
          app.use(api.middleware).get('/page', (_req, res) => {
            const session: Session | null | undefined = res.locals.session
            res.json(session)
          }),
      })
      expect((await ask(port, '/page')).text).toBe('null')
      const jar = new Jar()
      await signIn(port, '/auth', jar)
      expect((await ask(port, '/page', { headers: { cookie: jar.header } })).json().user?.name).toBe('Ada')
    })

    describe('rows 340, 371: requireSession', () => {
      const guarded = (): ReturnType<typeof start> =>
        start({
          after: (app, api) => {
            app.use('/bare', api.requireSession)
            app.use('/own', api.requireSession({ redirectTo: '/login' }))
            app.use('/made', api.requireSession())
            app.use((req, res) => void res.json({ at: req.originalUrl, session: res.locals.session }))
          },
        })

      it('sends browsers to the sign-in page and back', async () => {
        const { port, origin } = await guarded()
        for (const path of ['/bare/x?y=1&z=%20', '/made/x']) {
          const answer = await ask(port, path, { headers: { accept: 'text/html,*/*;q=0.8' } })
          expect([answer.status, answer.headers.location]).toEqual([
            302,
            `${origin}/auth/signin?callbackUrl=${encodeURIComponent(origin + path)}`,
          ])
          expect([answer.headers['cache-control'], answer.headers.vary]).toEqual(['private, no-store', 'Accept, Cookie'])
        }
        expect((await ask(port, '/own/x', { headers: { accept: 'text/html' } })).headers.location).toBe('/login')
      })

      it('sends a posted form back to its page, which can be shown again', async () => {
        const { port, origin } = await guarded()
        const headers = { accept: 'text/html', referer: `${origin}/form` }
        const answer = await ask(port, '/made/x', { method: 'POST', headers })
        expect([answer.status, answer.headers.location]).toEqual([
          302,
          `${origin}/auth/signin?callbackUrl=${encodeURIComponent(`${origin}/form`)}`,
        ])
      })

      it('answers programs 401 JSON', async () => {
        const { port } = await guarded()
        for (const accept of ['application/json', '*/*']) {
          const answer = await ask(port, '/own/x', { headers: { accept } })
          expect([answer.status, answer.json(), answer.headers['content-type']]).toEqual([
            401,
            { error: 'Unauthorized' },
            'application/json',
          ])
        }
      })

      it('lets users with a session pass', async () => {
        const { port } = await guarded()
        const jar = new Jar()
        await signIn(port, '/auth', jar)
        for (const path of ['/bare/x', '/own/x', '/made/x']) {
          expect((await ask(port, path, { headers: { cookie: jar.header } })).json()).toMatchObject({
            at: path,
            session: { user: { name: 'Ada' } },
          })
        }
      })

      it('never leads a path like //host to another host', async () => {
        const { port, origin } = await guarded()
        const { location = '' } = (await ask(port, '//evil.example/made/x', { headers: { accept: 'text/html' } })).headers
        expect(location === '' || new URL(String(location), origin).origin).not.toBe('http://evil.example')
      })
    })

    it('D38: a store that is down is an error of the page, with status 503', async () => {
      const adapter = { ...memoryAdapter(), getSessionAndUser: () => Promise.reject(new Error('down')) }
      const { port, errors } = await start({
        options: { adapter, session: { strategy: 'database' } },
        after: (app, api) => app.use(api.requireSession()).get('/page', (_req, res) => void res.send('page')),
      })
      const answer = await ask(port, '/page', { headers: { cookie: 'authkernel.session-token=abc' } })
      expect([answer.status, answer.text]).toEqual([503, 'host: SessionTokenError'])
      expect(errors[0]).toBeInstanceOf(SessionTokenError)
      expect((await ask(port, '/auth/session', { headers: { cookie: 'authkernel.session-token=abc' } })).status).toBe(503)
    })

    describe('sign-in and sign-out from server code', () => {
      const site = (): ReturnType<typeof start> =>
        start({
          before: (app) => app.use(express.urlencoded({ extended: false })),
          after: (app, api) => {
            app.post(
              '/login',
              route((req: Request) => api.signIn(req, 'credentials', { redirectTo: '/in', fields: req.body as Record<string, string> })),
            )
            app.post(
              '/start',
              route((req: Request) => api.signIn(req)),
            )
            app.post(
              '/logout',
              route((req: Request) => api.signOut(req, { redirectTo: '/out' })),
            )
          },
        })
      const form = 'application/x-www-form-urlencoded'

      it('signs in and out with the redirect and the cookies', async () => {
        const { port, origin } = await site()
        const jar = new Jar()
        const own = { origin, 'content-type': form }
        const signedIn = await ask(port, '/login', { method: 'POST', headers: own, body: 'username=ada&password=right' })
        jar.take(signedIn)
        expect([signedIn.status, signedIn.headers.location]).toEqual([302, `${origin}/in`])
        const read = async (): Promise<string> => (await ask(port, '/auth/session', { headers: { cookie: jar.header } })).text
        expect(await read()).toContain('Ada')
        const signedOut = await ask(port, '/logout', { method: 'POST', headers: { origin, cookie: jar.header } })
        jar.take(signedOut)
        expect([signedOut.headers.location, await read()]).toEqual([`${origin}/out`, 'null'])
      })

      it('rejects with CredentialsSignin, which the host may handle', async () => {
        const { port, origin, errors } = await site()
        const answer = await ask(port, '/login', {
          method: 'POST',
          headers: { origin, 'content-type': form },
          body: 'username=ada&password=wrong',
        })
        expect([answer.status, answer.cookies]).toEqual([500, []])
        expect(errors[0]).toBeInstanceOf(CredentialsSignin)
      })

      it('D30: refuses a form of another site, and one that does not say where it comes from', async () => {
        const { port } = await site()
        for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }, {}]) {
          const answer = await ask(port, '/login', {
            method: 'POST',
            headers: { ...headers, 'content-type': form },
            body: 'username=ada&password=right',
          })
          expect([answer.text, answer.cookies]).toEqual(['host: MissingCSRF', []])
        }
      })

      it('leads to the sign-in page without a provider', async () => {
        const { port, origin } = await site()
        const answer = await ask(port, '/start', { method: 'POST', headers: { origin, referer: `${origin}/here` } })
        expect(answer.headers.location).toBe(`${origin}/auth/signin?callbackUrl=${encodeURIComponent(`${origin}/here`)}`)
      })
    })

    it('an upgrade request, which never went through Express, has a session', async () => {
      let api: ExpressApi | undefined
      const { port, server } = await start({ after: (_app, given) => (api = given) })
      const jar = new Jar()
      await signIn(port, '/auth', jar)
      server.on('upgrade', (req, socket) => {
        void api?.session(req as ExpressRequest).then((session) => socket.end(`HTTP/1.1 200 OK\r\n\r\n${session?.user?.name}`))
      })
      const head = `GET /socket HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n`
      expect(await raw(port, `${head}Cookie: ${jar.header}\r\n\r\n`)).toContain('Ada')
      expect(await raw(port, `${head}\r\n`)).toContain('undefined')
    })

    it('a removed binding says so', async () => {
      const auth = createAuth(config()).use(expressBinding())
      const { handler } = auth.express
      auth.remove('express')
      expect(() => auth.express).toThrow('plugin express was removed')
      const { port, errors } = await start({ before: (app) => app.use('/old', handler) })
      await ask(port, '/old/session')
      expect(String(errors[0])).toContain('plugin express was removed')
    })
  })
}

const probe = definePlugin({
  name: 'probe',
  setup(kernel) {
    kernel.route({
      method: 'GET',
      path: '/probe',
      handler: ({ url, clientAddress }: Context) => globalThis.Response.json({ url: url.href, address: clientAddress }),
    })
  },
})
