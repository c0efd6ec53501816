/** Fastify 4 and 5: `app.register(auth.fastify.plugin, { prefix: '/auth' })`. */
import type { HandleOptions, Plugin, Session } from 'authkernel/kernel'
import { type SignInOptions } from './_actions.ts'
import { type GuardOptions, createFace } from './_face.ts'
import { type NodeRequest, type NodeResponse, answered, toRequest, toStream } from './_node.ts'

export { AuthError, CredentialsSignin, customFetch } from 'authkernel/kernel'

/** The parts of a Fastify request that are used here. */
export interface FastifyRequestLike {
  raw: NodeRequest
  originalUrl: string
  body?: unknown
  ip: string
  protocol: string
  hostname: string
  /** Fastify 5. */
  host?: string
}
/** The parts of a Fastify reply that are used here. */
export interface FastifyReplyLike {
  raw: NodeResponse
  code(status: number): unknown
  header(name: string, value: string | string[]): unknown
  send(body?: unknown): unknown
}
/** The parts of a Fastify instance that are used here. */
export interface FastifyLike {
  prefix: string
  removeAllContentTypeParsers(): void
  addContentTypeParser(type: string, parser: (request: unknown, payload: unknown, done: (error: null) => void) => void): unknown
  all(path: string, handler: (request: FastifyRequestLike, reply: FastifyReplyLike) => Promise<unknown>): unknown
}

/** What `auth.fastify` offers. */
export interface FastifyFace {
  /** The routes of authkernel, encapsulated: the parsers of the rest of the app stay. Its `prefix` is the base path. */
  plugin(instance: FastifyLike): Promise<void>
  /** The session; a refreshed cookie goes out with `reply`. */
  session(request: FastifyRequestLike, reply: FastifyReplyLike): Promise<Session | null>
  /** A `preHandler`: browsers without a session are sent to the sign-in page and back, others get 401 JSON. */
  requireSession(options?: GuardOptions): (request: FastifyRequestLike, reply: FastifyReplyLike) => Promise<unknown>
  signIn(request: FastifyRequestLike, reply: FastifyReplyLike, provider?: string, options?: SignInOptions): Promise<unknown>
  signOut(request: FastifyRequestLike, reply: FastifyReplyLike, options?: { redirectTo?: string | undefined }): Promise<unknown>
}

/** Puts `fastify` on `auth`. `trustProxy`: give the same as to Fastify, which does not tell. */
export function fastifyBinding({ trustProxy = false }: { trustProxy?: boolean } = {}): Plugin<{ fastify: FastifyFace }> {
  return {
    name: 'fastify',
    setup(kernel) {
      const replies = new WeakMap<FastifyRequestLike, FastifyReplyLike>()
      const options = (request: FastifyRequestLike): HandleOptions => ({ clientAddress: request.ip, trustForwarded: trustProxy })
      const cookies = (request: FastifyRequestLike, headers: Headers): void => addCookies(replies.get(request), headers)
      const face = createFace<FastifyRequestLike>(kernel, {
        request: (request) => toRequest(raw(request), request5(request)),
        options,
        cookies,
      })
      const session: FastifyFace['session'] = (request, reply) => face.session(replies.set(request, reply) && request)
      return {
        fastify: {
          session,
          async plugin(instance) {
            instance.removeAllContentTypeParsers()
            // The kernel reads the stream, within its own limit.
            instance.addContentTypeParser('*', (_request, _payload, done) => done(null))
            instance.all('/*', async (request, reply) => {
              const basePath = instance.prefix || undefined
              return send(
                reply,
                await answered(raw(request), reply.raw, request5(request), (web) =>
                  kernel.doors.handler(web, { ...options(request), basePath }),
                ),
              )
            })
          },
          requireSession: (guard) => async (request, reply) => {
            await session(request, reply)
            const refusal = await face.guard(request, guard)
            return refusal && send(reply, refusal)
          },
          signIn: async (request, reply, provider, how) => send(reply, await face.signIn(request, provider, how)),
          signOut: async (request, reply, how) => send(reply, await face.signOut(request, how)),
        },
      }
    },
  }
}

function send(reply: FastifyReplyLike, response: Response): unknown {
  reply.code(response.status)
  for (const [name, value] of response.headers) if (name !== 'set-cookie') reply.header(name, value)
  addCookies(reply, response.headers)
  return reply.send(response.body ? toStream(response.body) : '')
}

function addCookies(reply: FastifyReplyLike | undefined, headers: Headers): void {
  const list = headers.getSetCookie()
  if (reply && list.length > 0 && !reply.raw.headersSent) reply.header('set-cookie', list)
}

function raw(request: FastifyRequestLike): NodeRequest {
  return Object.assign(request.raw, { originalUrl: request.originalUrl, body: request.body })
}

/** Version 4 has the port in `hostname`, version 5 in `host`. */
function request5(request: FastifyRequestLike): { protocol: string; host: string | undefined } {
  return { protocol: request.protocol, host: request.host ?? (request.hostname || undefined) }
}
