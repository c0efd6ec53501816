/** oRPC itself, over its adapters for fetch and for Node. */
import { createAuth, type Session } from 'authkernel'
import { OrpcAuth, type OrpcApi, type OrpcContext, orpcBinding } from 'authkernel/bindings/orpc'
import { bindingConfig, testBinding } from 'authkernel/testing'
import { ORPCError, os } from '@orpc/server'
import { RPCHandler } from '@orpc/server/fetch'
import { RPCHandler as NodeRPCHandler } from '@orpc/server/node'
import { ResponseHeadersPlugin, type ResponseHeadersPluginContext } from '@orpc/server/plugins'
import { expect, it } from 'vitest'
import { ask, serve } from './_http.ts'
import { type Call, type Fields, startRpc, testErrors } from './_rpc.ts'

const base = os.$context<OrpcContext & ResponseHeadersPluginContext>()

function orpcRouter(auth: OrpcApi) {
  const signedIn = base.use(async ({ context, next }) => next({ context: { session: await auth.requireSession(context) } }))
  const admin = base.use(async ({ context, next }) =>
    next({ context: { session: await auth.requireSession(context, ({ user }) => user?.name === 'Root') } }),
  )
  return {
    page: base.handler(({ context }) => context.session),
    guarded: signedIn.handler(({ context }): Session => context.session),
    admin: admin.handler(() => 'in'),
    login: base.handler(({ context, input }) => context.signIn('credentials', { fields: input as Fields, redirectTo: '/in' })),
    logout: base.handler(({ context }) => context.signOut({ redirectTo: '/out' })),
  }
}

function callOrpc(auth: OrpcApi): Call {
  const handler = new RPCHandler(orpcRouter(auth), { plugins: [new ResponseHeadersPlugin()] })
  return async (name, request, info, input) => {
    const headers = new Headers(request.headers)
    headers.set('content-type', 'application/json')
    headers.delete('content-length')
    const req = new Request(new URL(`/rpc/${name}`, request.url), { method: 'POST', headers, body: JSON.stringify({ json: input }) })
    const resHeaders = new Headers()
    const context = { ...(await auth.createContext({ req, resHeaders, info })), resHeaders }
    const { response } = await handler.handle(req, { prefix: '/rpc', context })
    const { json } = (await response!.json()) as { json: unknown }
    return Response.json(json, response!)
  }
}

testBinding({
  name: 'orpc',
  // Guesses count per kernel, and the routes and the procedures of this app have one each.
  address: 'unknown',
  start: (more) => startRpc(more, (options) => createAuth(bindingConfig(options)).use(orpcBinding()).orpc, callOrpc),
})

testErrors(callOrpc(OrpcAuth(() => bindingConfig())))

it('`check` rejects a user who may not', async () => {
  const session = { user: { name: 'Ada' }, expires: '' }
  const { requireSession } = OrpcAuth(bindingConfig())
  await expect(requireSession({ session }, () => false)).rejects.toSatisfy(
    (error) => error instanceof ORPCError && error.code === 'FORBIDDEN',
  )
})

it('Node: the context takes the objects of Node', async () => {
  const { orpc } = createAuth(bindingConfig()).use(orpcBinding())
  const handler = new NodeRPCHandler(orpcRouter(orpc))
  const server = await serve((req, res) => {
    void orpc.createContext({ req, res }).then((context) => handler.handle(req, res, { context }))
  })
  try {
    const post = (path: string) => ask(server.port, path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })
    expect([(await post('/guarded')).status, (await post('/page')).json()]).toEqual([401, { json: null }])
  } finally {
    await server.close()
  }
})
