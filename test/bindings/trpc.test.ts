/** tRPC itself, over its adapters for fetch and for Node. */
import { createAuth, type Session } from 'authkernel'
import { fetchBinding } from 'authkernel/bindings/fetch'
import { TrpcAuth, type TrpcApi, type TrpcContext, trpcBinding } from 'authkernel/bindings/trpc'
import { bindingConfig, testBinding } from 'authkernel/testing'
import { initTRPC } from '@trpc/server'
import { fetchRequestHandler } from '@trpc/server/adapters/fetch'
import { createHTTPHandler } from '@trpc/server/adapters/standalone'
import { expect, it } from 'vitest'
import { ask, Jar, serve, signIn } from './_http.ts'
import { type Call, type Fields, startRpc, testErrors } from './_rpc.ts'
import { serveWeb } from './_web.ts'

const t = initTRPC.context<TrpcContext>().create()

function trpcRouter(auth: TrpcApi) {
  const signedIn = t.procedure.use(async ({ ctx, next }) => next({ ctx: { session: await auth.requireSession(ctx) } }))
  const admin = t.procedure.use(async ({ ctx, next }) =>
    next({ ctx: { session: await auth.requireSession(ctx, ({ user }) => user?.name === 'Root') } }),
  )
  return t.router({
    page: t.procedure.query(({ ctx }) => ctx.session),
    // Typed: the session is there.
    guarded: signedIn.query(({ ctx }): Session => ctx.session),
    admin: admin.query(() => 'in'),
    login: t.procedure
      .input((value) => value as Fields)
      .mutation(({ ctx, input }) => ctx.signIn('credentials', { fields: input, redirectTo: '/in' })),
    logout: t.procedure.mutation(({ ctx }) => ctx.signOut({ redirectTo: '/out' })),
  })
}

function callTrpc(auth: TrpcApi): Call {
  const router = trpcRouter(auth)
  return async (name, request, info, input) => {
    const headers = new Headers(request.headers)
    headers.set('content-type', 'application/json')
    headers.delete('content-length')
    const mutation = name.startsWith('log')
    const init = mutation ? { method: 'POST', body: JSON.stringify(input ?? null) } : {}
    const req = new Request(new URL(`/trpc/${name}`, request.url), { ...init, headers })
    const answer = await fetchRequestHandler({
      endpoint: '/trpc',
      req,
      router,
      createContext: ({ resHeaders }) => auth.createContext({ req, resHeaders, info }),
    })
    const { result } = (await answer.json()) as { result?: { data: unknown } }
    return Response.json(result?.data ?? null, answer)
  }
}

testBinding({
  name: 'trpc',
  // Guesses count per kernel, and the routes and the procedures of this app have one each.
  address: 'unknown',
  start: (more) => startRpc(more, (options) => createAuth(bindingConfig(options)).use(trpcBinding()).trpc, callTrpc),
})

testErrors(callTrpc(TrpcAuth(() => bindingConfig())))

it('`check` rejects a user who may not', async () => {
  const session = { user: { name: 'Ada' }, expires: '' }
  const { requireSession } = TrpcAuth(bindingConfig())
  await expect(requireSession({ session }, () => false)).rejects.toMatchObject({ name: 'TRPCError', code: 'FORBIDDEN' })
  expect(await requireSession({ session }, ({ user }) => user?.name === 'Ada')).toBe(session)
})

it('Node: a batch reads the session once, and a refreshed cookie goes out', async () => {
  const reads: string[] = []
  const auth = createAuth(
    bindingConfig({ session: { updateAge: 0 }, callbacks: { session: ({ session }) => (reads.push('read'), session) } }),
  )
    .use(fetchBinding())
    .use(trpcBinding())
  const routes = await serveWeb((request) => auth.fetch.handler(request))
  const server = await serve(createHTTPHandler({ router: trpcRouter(auth.trpc), createContext: auth.trpc.createContext }))
  try {
    const jar = new Jar()
    await signIn(routes.port, '/auth', jar)
    reads.length = 0
    const answer = await ask(server.port, '/page,guarded?batch=1', { headers: { cookie: jar.header } })
    const results = JSON.parse(answer.text) as { result: { data: { user: { name: string } } } }[]
    expect(results.map(({ result }) => result.data.user.name)).toEqual(['Ada', 'Ada'])
    expect([reads, answer.cookies.map((line) => line.split('=')[0])]).toEqual([['read'], ['authkernel.session-token']])
    const out = await ask(server.port, '/logout', {
      method: 'POST',
      headers: { cookie: jar.header, origin: server.origin, 'content-type': 'application/json' },
    })
    expect([out.status, out.cookies.some((line) => /session-token=;/.test(line))]).toEqual([200, true])
  } finally {
    await Promise.all([routes.close(), server.close()])
  }
})
