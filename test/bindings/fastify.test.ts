/** Fastify. */
import { createAuth } from 'authkernel'
import { FastifyAuth, fastifyBinding, type FastifyApi } from 'authkernel/bindings/fastify'
import fastify, { type FastifyInstance } from 'fastify'
import { expect, it } from 'vitest'
import { config } from './_auth.ts'
import { probe, testFamily } from './_family.ts'
import { ask, type TestServer } from './_http.ts'

type Fields = Record<string, string>

testFamily('fastify', (options) => host(createAuth(config(options)).use(probe).use(fastifyBinding()).fastify))
testFamily('FastifyAuth, options by a function of the request', (options) => host(FastifyAuth(() => config(options), probe)))

async function host(api: FastifyApi): Promise<TestServer> {
  const app = fastify()
  // A parser of the host's own: the routes of authkernel must not see it.
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
    done(null, Object.fromEntries(new URLSearchParams(String(body)))),
  )
  await app.register(api.plugin, { prefix: '/auth' })
  app.get('/page', async (request, reply) => JSON.stringify(await api.session(request, reply)))
  app.get('/guarded', { preHandler: api.requireSession() }, (request, reply) => api.session(request, reply))
  app.post('/login', (request, reply) => api.signIn(request, reply, 'credentials', { fields: request.body as Fields, redirectTo: '/in' }))
  app.post('/logout', (request, reply) => api.signOut(request, reply, { redirectTo: '/out' }))
  app.setNotFoundHandler((_request, reply) => reply.code(404).send('the host'))
  return listen(app)
}

it('trustProxy of Fastify makes https cookies; the prefix is the base path, nested ones too', async () => {
  const auth = createAuth(config()).use(probe).use(fastifyBinding())
  const app = fastify({ trustProxy: true })
  await app.register(async (inner) => inner.register(auth.fastify.plugin, { prefix: '/auth' }), { prefix: '/api' })
  const server = await listen(app)
  const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'app.example', 'x-forwarded-for': '203.0.113.7' }
  expect((await ask(server.port, '/api/auth/probe', { headers })).json()).toEqual({
    url: 'https://app.example/api/auth/probe',
    address: '203.0.113.7',
  })
  expect((await ask(server.port, '/api/auth/csrf', { headers })).cookies.join()).toContain('__Host-authkernel.csrf-token')
  await server.close()
})

it('a prefix may end in a slash, and hold parameters', async () => {
  const auth = createAuth(config()).use(probe).use(fastifyBinding())
  const app = fastify()
  await app.register(auth.fastify.plugin, { prefix: '/auth/' })
  await app.register(auth.fastify.plugin, { prefix: '/t/:tenant/auth' })
  const server = await listen(app)
  for (const path of ['/auth/probe', '/t/acme/auth/probe', '/t/a%2Fb/auth/probe'])
    expect((await ask(server.port, path)).json()).toEqual({ url: server.origin + path, address: '127.0.0.1' })
  await server.close()
})

it("without a prefix, other paths are the app's: its routes, and its own 404", async () => {
  const auth = createAuth(config()).use(fastifyBinding())
  const app = fastify()
  app.setNotFoundHandler((_request, reply) => reply.code(404).send('the host'))
  app.get('/here', () => 'here')
  await app.register(auth.fastify.plugin)
  const server = await listen(app)
  const answers = await Promise.all(['/auth/session', '/here', '/there', '/authors'].map((path) => ask(server.port, path)))
  expect(answers.map(({ status, text }) => [status, text])).toEqual([
    [200, 'null'],
    [200, 'here'],
    [404, 'the host'],
    [404, 'the host'],
  ])
  await server.close()
})

async function listen(app: FastifyInstance): Promise<TestServer> {
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  return { origin, port: Number(new URL(origin).port), server: app.server, close: () => app.close() }
}
