/** A host of each framework whose package is installed, with the handler mounted without a path: what is not ours is the host's. */
import { type AuthConfig, createAuth } from 'authkernel'
import { expressBinding } from 'authkernel/bindings/express'
import { fastifyBinding } from 'authkernel/bindings/fastify'
import { fetchBinding } from 'authkernel/bindings/fetch'
import { h3Binding } from 'authkernel/bindings/h3'
import { type HonoAuthEnv, honoBinding } from 'authkernel/bindings/hono'
import { koaBinding } from 'authkernel/bindings/koa'
import { nodeBinding } from 'authkernel/bindings/node'
import type { Plugin } from 'authkernel/kernel'
import express from 'express'
import fastify from 'fastify'
import { H3, serve as serveH3 } from 'h3'
import { Hono } from 'hono'
import Koa from 'koa'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { fieldsOf } from './_family.ts'
import { route, serve } from './_http.ts'
import { formOf, serveWeb } from './_web.ts'

interface Running {
  origin: string
  close(): Promise<void>
}
/** Routes of each: those of the contract of bindings, and `/`, which says "home". Others: 404 "the host". */
export type MountedHost = (config: AuthConfig, plugins?: readonly Plugin[]) => Promise<Running>

const provider = 'credentials'

function authOf(config: AuthConfig, plugins: readonly Plugin[] = []): ReturnType<typeof createAuth> {
  const auth = createAuth(config)
  for (const plugin of plugins) auth.use(plugin)
  return auth
}

async function onExpress(config: AuthConfig, plugins?: readonly Plugin[]): Promise<Running> {
  const auth = authOf(config, plugins).use(expressBinding()).express
  const app = express()
  app.use(auth.handler)
  app.get('/', (_req, res) => void res.send('home'))
  app.get('/page', auth.middleware, (_req, res) => void res.json(res.locals.session))
  app.get('/guarded', auth.requireSession, (_req, res) => void res.json(res.locals.session))
  app.post(
    '/login',
    route(async (req: express.Request) => auth.signIn(req, provider, { fields: await fieldsOf(req), redirectTo: '/in' })),
  )
  app.post(
    '/logout',
    route((req: express.Request) => auth.signOut(req, { redirectTo: '/out' })),
  )
  app.use((_req, res) => void res.status(404).send('the host'))
  app.use((error: { status?: number }, _req: express.Request, res: express.Response, _next: express.NextFunction) => {
    res.status(error.status ?? 500).end()
  })
  return serve(app)
}

async function onKoa(config: AuthConfig, plugins?: readonly Plugin[]): Promise<Running> {
  const auth = authOf(config, plugins).use(koaBinding()).koa
  const app = new Koa()
  app.silent = true
  app.use(auth.handler)
  app.use(async (ctx) => {
    if (ctx.path === '/') return void (ctx.body = 'home')
    if (ctx.path === '/page') return void Object.assign(ctx, { body: JSON.stringify(await auth.session(ctx)) })
    if (ctx.path === '/guarded') return auth.requireSession()(ctx, async () => void (ctx.body = ctx.state.session))
    if (ctx.path === '/login') return auth.signIn(ctx, provider, { fields: await fieldsOf(ctx.req), redirectTo: '/in' })
    if (ctx.path === '/logout') return auth.signOut(ctx, { redirectTo: '/out' })
    Object.assign(ctx, { status: 404, body: 'the host' })
  })
  return serve(app.callback())
}

async function onNode(config: AuthConfig, plugins?: readonly Plugin[]): Promise<Running> {
  const auth = authOf(config, plugins).use(nodeBinding()).node
  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<unknown> => {
    if (await auth.handler(req, res)) return
    const { pathname } = new URL(req.url ?? '/', 'http://localhost')
    if (pathname === '/') return res.end('home')
    if (pathname === '/page') return res.end(JSON.stringify(await auth.session(req, res)))
    if (pathname === '/login') return auth.signIn(req, res, provider, { fields: await fieldsOf(req), redirectTo: '/in' })
    if (pathname === '/logout') return auth.signOut(req, res, { redirectTo: '/out' })
    if (pathname !== '/guarded') return res.writeHead(404).end('the host')
    const session = await auth.requireSession(req, res)
    return session && res.end(JSON.stringify(session))
  }
  return serve((req, res) => void answer(req, res).catch((error: { status?: number }) => res.writeHead(error.status ?? 500).end()))
}

async function onFastify(config: AuthConfig, plugins?: readonly Plugin[]): Promise<Running> {
  const auth = authOf(config, plugins).use(fastifyBinding()).fastify
  const app = fastify()
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
    done(null, Object.fromEntries(new URLSearchParams(String(body)))),
  )
  await app.register(auth.plugin)
  app.get('/', () => 'home')
  app.get('/page', async (request, reply) => JSON.stringify(await auth.session(request, reply)))
  app.get('/guarded', { preHandler: auth.requireSession() }, (request, reply) => auth.session(request, reply))
  app.post('/login', (request, reply) =>
    auth.signIn(request, reply, provider, { fields: request.body as Record<string, string>, redirectTo: '/in' }),
  )
  app.post('/logout', (request, reply) => auth.signOut(request, reply, { redirectTo: '/out' }))
  app.setNotFoundHandler((_request, reply) => reply.code(404).send('the host'))
  return { origin: await app.listen({ port: 0, host: '127.0.0.1' }), close: () => app.close() }
}

async function onFetch(config: AuthConfig, plugins?: readonly Plugin[]): Promise<Running> {
  const auth = authOf(config, plugins).use(fetchBinding()).fetch
  const page = auth.withSession((_request, session) => Response.json(session))
  const guarded = auth.protect((_request, session) => Response.json(session))
  return serveWeb(async (request, hostname) => {
    const info = { remoteAddr: { hostname } }
    if (auth.matches(request)) return auth.handler(request, info)
    const { pathname } = new URL(request.url)
    if (pathname === '/') return new Response('home')
    if (pathname === '/page') return page(request, info)
    if (pathname === '/guarded') return guarded(request, info)
    if (pathname === '/login') return auth.signIn(request, provider, { fields: await formOf(request), redirectTo: '/in' }, info)
    if (pathname === '/logout') return auth.signOut(request, { redirectTo: '/out' }, info)
    return new Response('the host', { status: 404 })
  })
}

async function onHono(config: AuthConfig, plugins?: readonly Plugin[]): Promise<Running> {
  const auth = authOf(config, plugins).use(honoBinding()).hono
  const app = new Hono<HonoAuthEnv>()
  app.use(auth.handler)
  app.get('/', (c) => c.text('home'))
  app.get('/page', auth.middleware, (c) => c.json(c.var.session))
  app.get('/guarded', auth.requireSession(), (c) => c.json(c.var.session))
  app.post('/login', async (c) => auth.signIn(c, provider, { fields: await c.req.parseBody(), redirectTo: '/in' }))
  app.post('/logout', (c) => auth.signOut(c, { redirectTo: '/out' }))
  app.notFound((c) => c.text('the host', 404))
  return serveWeb(async (request, remoteAddress) => app.fetch(request, { incoming: { socket: { remoteAddress } } }))
}

async function onH3(config: AuthConfig, plugins?: readonly Plugin[]): Promise<Running> {
  const auth = authOf(config, plugins).use(h3Binding()).h3
  const app = new H3({ silent: true })
  app.use((event) => auth.handler(event))
  app.get('/', () => 'home')
  app.get('/page', async (event) => Response.json(await auth.session(event)))
  app.get('/guarded', async (event) => (await auth.requireSession()(event)) ?? Response.json(event.context['session']))
  app.post('/login', async (event) => auth.signIn(event, provider, { fields: await formOf(event.req), redirectTo: '/in' }))
  app.post('/logout', (event) => auth.signOut(event, { redirectTo: '/out' }))
  app.all('/**', () => new Response('the host', { status: 404 }))
  const server = serveH3(app, { port: 0, hostname: '127.0.0.1', silent: true })
  await server.ready()
  return { origin: new URL(server.url!).origin, close: () => server.close(true) }
}

export const mountedHosts: Readonly<Record<string, MountedHost>> = {
  express: onExpress,
  fastify: onFastify,
  fetch: onFetch,
  h3: onH3,
  hono: onHono,
  koa: onKoa,
  node: onNode,
}
