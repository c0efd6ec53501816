/** `requireSession({ check })`: a fresh proof, or a permission, before a page of the host (RFC 9470 for programs). */
import { createAuth } from 'authkernel'
import { expressBinding } from 'authkernel/bindings/express'
import { fetchBinding } from 'authkernel/bindings/fetch'
import { honoBinding } from 'authkernel/bindings/hono'
import { koaBinding } from 'authkernel/bindings/koa'
import { solidStartBinding } from 'authkernel/bindings/solid-start'
import { stepUpPlugin } from 'authkernel/plugins/step-up'
import { signedIn } from 'authkernel/testing'
import express from 'express'
import { Hono } from 'hono'
import Koa from 'koa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { baseConfig } from '../_setup.ts'
import { ask, serve, type TestServer } from './_http.ts'

const { runtime, ...base } = baseConfig()
const auth = createAuth({ ...base, runtime })
  .use(stepUpPlugin())
  .use(expressBinding())
  .use(koaBinding())
  .use(honoBinding())
  .use(fetchBinding())
  .use(solidStartBinding())
const fresh = { check: (request: Request) => auth.stepUp.require(request, { maxAge: 300 }) }
// A forgotten `return`, and a no.
const forgetful = { check: () => undefined }

const servers: TestServer[] = []
let cookie: string
beforeAll(async () => {
  cookie = await signedIn(auth, { id: 'ada', name: 'Ada' })
  const app = express()
  app.get('/pay', auth.express.requireSession(fresh), (_req, res) => void res.send(`paid by ${res.locals.session?.user?.name}`))
  app.get('/never', auth.express.requireSession(forgetful), (_req, res) => void res.send('paid'))
  const koa = new Koa()
  koa.use((ctx, next) => auth.koa.requireSession(ctx.path === '/pay' ? fresh : forgetful)(ctx as never, next))
  koa.use((ctx) => void (ctx.body = `paid by ${ctx.state['session']?.user?.name}`))
  servers.push(await serve(app), await serve(koa.callback()))
})
afterAll(async () => {
  for (const server of servers) await server.close()
})

const hono = new Hono()
hono.get('/pay', auth.hono.requireSession(fresh) as never, (context) =>
  context.text(`paid by ${(context.get('session' as never) as { user: { name: string } }).user.name}`),
)
hono.get('/never', auth.hono.requireSession(forgetful) as never, (context) => context.text('paid'))
const guarded = (options: object) => auth.fetch.protect((_request, session) => new Response(`paid by ${session.user?.name}`), options)
const pages: Record<
  string,
  (path: string, headers: Record<string, string>) => Promise<{ status: number; body: string; headers: Headers }>
> = {
  express: (path, headers) => node(0, path, headers),
  koa: (path, headers) => node(1, path, headers),
  hono: async (path, headers) => read(await hono.request(`http://localhost:3000${path}`, { headers })),
  fetch: async (path, headers) =>
    read(await guarded(path === '/pay' ? fresh : forgetful)(new Request(`http://localhost:3000${path}`, { headers }))),
  solidStart: async (path, headers) => {
    const event = {
      request: new Request(`http://localhost:3000${path}`, { headers }),
      clientAddress: '127.0.0.1',
      response: { headers: new Headers() },
      locals: {},
    }
    try {
      const session = await auth.solidStart.requireSession(event, path === '/pay' ? fresh : forgetful)
      return read(new Response(`paid by ${session.user?.name}`))
    } catch (thrown) {
      return read(thrown as Response)
    }
  },
}
async function node(at: number, path: string, headers: Record<string, string>) {
  const { status, text: body, headers: sent } = await ask(servers[at]!.port, path, { headers })
  return {
    status,
    body,
    headers: new Headers(
      Object.entries(sent).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value] as [string, string]] : [])),
    ),
  }
}
async function read(response: Response) {
  return { status: response.status, body: await response.text(), headers: response.headers }
}

describe.each(Object.keys(pages))('%s', (name) => {
  const ask = (path: string, more: Record<string, string> = {}) => pages[name]!(path, { cookie, ...more })

  it('lets a fresh proof pass, and refuses what says nothing', async () => {
    expect(await ask('/pay')).toMatchObject({ status: 200, body: 'paid by Ada' })
    expect(await ask('/never')).toMatchObject({ status: 403, body: '{"error":"Forbidden"}' })
    expect(await ask('/never', { accept: 'text/html' })).toMatchObject({ status: 403, body: 'Forbidden' })
    expect((await pages[name]!('/pay', {})).status).toBe(401)
  })

  it('an old proof leads people to the proof and back, and challenges programs', async () => {
    runtime.advance(600_000)
    try {
      const page = await ask('/pay', { accept: 'text/html' })
      expect([page.status, page.headers.get('location')]).toEqual([302, expect.stringMatching(/\/auth\/signin\?callbackUrl=.*%2Fpay$/)])
      const api = await ask('/pay')
      expect([api.status, api.headers.get('www-authenticate')]).toEqual([401, expect.stringContaining('insufficient_user_authentication')])
    } finally {
      runtime.advance(-600_000)
    }
  })
})
