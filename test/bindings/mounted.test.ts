/** Handlers that are mounted without a path, in the frameworks themselves: which requests are ours, and what each framework does with our errors. */
import { createAuth } from 'authkernel'
import { expressBinding } from 'authkernel/bindings/express'
import { FastifyAuth, fastifyBinding } from 'authkernel/bindings/fastify'
import { h3Binding } from 'authkernel/bindings/h3'
import { honoBinding } from 'authkernel/bindings/hono'
import { koaBinding } from 'authkernel/bindings/koa'
import type { Plugin } from 'authkernel/kernel'
import { bindingConfig, testBinding } from 'authkernel/testing'
import express from 'express'
import fastify from 'fastify'
import { H3 } from 'h3'
import { Hono } from 'hono'
import Koa from 'koa'
import { describe, expect, it } from 'vitest'
import { mountedHosts } from './_mounted.ts'
import { ask, Jar, serve, signIn } from './_http.ts'

describe.each(Object.entries(mountedHosts))('%s', (name, start) => {
  testBinding({ name, rootRoutes: true, start: (more, plugins) => start(bindingConfig(more), plugins) })

  it("with the base path `/` the routes are at the root, and what is none of them is the host's", async () => {
    const host = await start(bindingConfig({ basePath: '/' }))
    const port = Number(new URL(host.origin).port)
    try {
      const answers = await Promise.all(['/session', '/', '/nowhere', '/authors/session'].map((path) => ask(port, path)))
      expect(answers.map(({ status, text }) => [status, text])).toEqual([
        [200, 'null'],
        [200, 'home'],
        [404, 'the host'],
        [404, 'the host'],
      ])
      const jar = new Jar()
      expect((await signIn(port, '', jar)).headers.location).toBe(`${host.origin}/after`)
      expect((await ask(port, '/page', { headers: { cookie: jar.header } })).json().user?.name).toBe('Ada')
    } finally {
      await host.close()
    }
  })

  it('a wrong password that the app does not catch is answered 401, a foreign form 403', async () => {
    const host = await start(bindingConfig())
    const port = Number(new URL(host.origin).port)
    const post = (password: string, origin: string) =>
      ask(port, '/login', {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', origin },
        body: `username=ada&password=${password}`,
      })
    try {
      const wrong = await post('wrong', host.origin)
      // Without error pages of its own: what the host makes of it.
      if (name === 'fetch') return expect(wrong.status).toBe(500)
      expect([wrong.status, wrong.cookies]).toEqual([401, []])
      expect(wrong.text).not.toMatch(/at .*\.ts/)
      expect((await post('right', 'https://evil.example')).status).toBe(403)
    } finally {
      await host.close()
    }
  })
})

const discovery: Plugin = {
  name: 'discovery',
  setup: (kernel) =>
    kernel.route({ method: 'GET', path: '/.well-known/discovery', at: 'root', handler: ({ base }) => Response.json({ base }) }),
}

describe('a handler that is mounted at a path', () => {
  it('Express: `root` answers root routes and hands on the rest; the handler at /.well-known is no mount there', async () => {
    for (const mount of ['root', 'handler'] as const) {
      const auth = createAuth(bindingConfig()).use(discovery).use(expressBinding())
      const app = express()
      app.use('/auth', auth.express.handler)
      if (mount === 'root') app.use(auth.express.root)
      else app.use('/.well-known/discovery', auth.express.handler)
      app.use((_req, res) => void res.status(404).send('the host'))
      const { port, origin, close } = await serve(app)
      expect((await ask(port, '/.well-known/discovery')).json()).toEqual({ base: `${origin}/auth` })
      for (const path of ['/.well-known/other', '/signin']) expect((await ask(port, path)).text).toBe('the host')
      await close()
    }
  })

  it('Hono, h3 and Koa: `root` answers root routes alone', async () => {
    const auth = createAuth(bindingConfig()).use(discovery).use(honoBinding()).use(h3Binding()).use(koaBinding())
    const hono = new Hono().use(auth.hono.root).notFound((c) => c.text('the host', 404))
    const h3 = new H3().use((event) => auth.h3.root(event)).all('/**', () => 'the host')
    const koa = new Koa().use(auth.koa.root).use((ctx) => void (ctx.body = 'the host'))
    const server = await serve(koa.callback())
    const asked = async (path: string): Promise<string[]> => [
      await (await hono.request(`http://app.example${path}`)).text(),
      await (await h3.request(`http://app.example${path}`)).text(),
      (await ask(server.port, path)).text,
    ]
    expect(await asked('/.well-known/discovery')).toEqual([
      JSON.stringify({ base: 'http://app.example/auth' }),
      JSON.stringify({ base: 'http://app.example/auth' }),
      JSON.stringify({ base: `${server.origin}/auth` }),
    ])
    for (const path of ['/auth/session', '/.well-known/other']) expect(await asked(path)).toEqual(['the host', 'the host', 'the host'])
    await server.close()
  })

  it.each(['fastify', 'FastifyAuth of a function'])('%s: `root` beside a prefixed plugin, and never below a prefix', async (name) => {
    const config = bindingConfig()
    const api =
      name === 'fastify' ? createAuth(config).use(discovery).use(fastifyBinding()).fastify : FastifyAuth(async () => config, discovery)
    const app = fastify()
    app.setNotFoundHandler((_request, reply) => reply.code(404).send('the host'))
    app.get('/.well-known/own', () => 'own')
    await app.register(api.plugin, { prefix: '/auth' })
    await app.register(api.root)
    const origin = await app.listen({ port: 0, host: '127.0.0.1' })
    const port = Number(new URL(origin).port)
    expect((await ask(port, '/.well-known/discovery')).json()).toEqual({ base: `${origin}/auth` })
    expect((await ask(port, '/.well-known/own')).text).toBe('own')
    expect((await ask(port, '/.well-known/other')).text).toBe('the host')
    await app.close()
    await expect(fastify().register(api.root, { prefix: '/auth' }).ready()).rejects.toThrow(/registered below "\/auth"/)
  })
})
