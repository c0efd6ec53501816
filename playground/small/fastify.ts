import formbody from '@fastify/formbody'
import { createAuth } from 'authkernel'
import { fastifyBinding } from 'authkernel/bindings/fastify'
import Fastify, { type FastifyReply } from 'fastify'
import { codeOf, config } from './auth.ts'
import { account, assets, home, members } from './site.ts'

const auth = createAuth(config).use(fastifyBinding())
await auth.ready()

const app = Fastify()
app.register(auth.fastify.plugin, { prefix: '/auth' })
app.register(formbody)
const page = (reply: FastifyReply, markup: string, status = 200) => reply.code(status).type('text/html').send(markup)
const guard = { preHandler: auth.fastify.requireSession() }

for (const [path, { type, body }] of Object.entries(assets)) app.get(path, (_request, reply) => reply.type(type).send(body))
app.get('/', async (request, reply) => page(reply, home(await auth.fastify.session(request, reply))))
app.get('/protected', guard, async (request, reply) => page(reply, members((await auth.fastify.session(request, reply))!)))
app.get('/account', guard, async (request, reply) => page(reply, account((await auth.fastify.session(request, reply))!)))

app.post<{ Params: { provider: string }; Body: Record<string, string> }>('/sign-in/:provider', async (request, reply) => {
  try {
    return await auth.fastify.signIn(request, reply, request.params.provider, { fields: request.body, redirectTo: '/' })
  } catch (error) {
    return page(reply, home(null, codeOf(error)), 401)
  }
})
app.post('/sign-out', (request, reply) => auth.fastify.signOut(request, reply, { redirectTo: '/' }))

app.get('/page', async (request, reply) => reply.send(JSON.stringify(await auth.fastify.session(request, reply))))
app.get('/guarded', guard, async (request, reply) => reply.send(await auth.fastify.session(request, reply)))
app.post<{ Body: Record<string, string> }>('/login', (request, reply) =>
  auth.fastify.signIn(request, reply, 'credentials', { fields: request.body, redirectTo: '/in' }),
)
app.post('/logout', (request, reply) => auth.fastify.signOut(request, reply, { redirectTo: '/out' }))

await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT ?? 3000) })
