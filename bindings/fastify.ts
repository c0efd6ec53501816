/** Fastify 4 and 5: `app.register(auth.fastify.plugin, { prefix: '/auth' })`. */
import { assertOptions, type NoOptions, type Plugin, type Session } from 'authkernel/kernel'
import { type ConfigSource, type Kernels, kernelsOf } from './_shared/kernels.ts'
import type { GuardOptions, SignInOptions } from './_shared/actions.ts'
import { createApi } from './_shared/node-api.ts'
import { type NodeRequest, type NodeResponse, toStream } from './_shared/node-request.ts'
import { targetPath } from './_shared/edge.ts'

export { AuthError, CredentialsSignin, customFetch } from 'authkernel/kernel'
export type { GuardOptions, SignInOptions } from './_shared/actions.ts'

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
  callNotFound(): unknown
}
/** The parts of a Fastify instance that are used here. */
export interface FastifyLike {
  prefix: string
  removeAllContentTypeParsers(): void
  addContentTypeParser(type: string, parser: (request: unknown, payload: unknown, done: (error: null) => void) => void): unknown
  all(path: string, handler: (request: FastifyRequestLike, reply: FastifyReplyLike) => Promise<unknown>): unknown
}

/** What `auth.fastify` offers. */
export interface FastifyApi {
  /** The routes of authkernel, encapsulated: the parsers of the rest of the app stay. Its `prefix` is the base path. */
  plugin(instance: FastifyLike): Promise<void>
  /**
   * Paths below `/.well-known/` at the origin's root that plugins answer: `app.register(auth.fastify.root)`, without a prefix. Needed where
   * `plugin` has a prefix; without one, it answers them.
   */
  root(instance: FastifyLike): Promise<void>
  /** The web request, without its body: for APIs of other plugins, such as `auth.accounts`. */
  request(request: FastifyRequestLike, reply: FastifyReplyLike): Request
  /** The session; a refreshed cookie goes out with `reply`. */
  session(request: FastifyRequestLike, reply: FastifyReplyLike): Promise<Session | null>
  /** A `preHandler`: browsers without a session are sent to the sign-in page and back, others get 401 JSON. */
  requireSession(options?: GuardOptions): (request: FastifyRequestLike, reply: FastifyReplyLike) => Promise<unknown>
  /** Signs in from a route of the host; return what it gives. Rejects with `CredentialsSignin` and other `AuthError`s. */
  signIn(request: FastifyRequestLike, reply: FastifyReplyLike, provider?: string, options?: SignInOptions): Promise<unknown>
  signOut(request: FastifyRequestLike, reply: FastifyReplyLike, options?: { redirectTo?: string | undefined }): Promise<unknown>
}
type Pair = readonly [request: FastifyRequestLike, reply: FastifyReplyLike, prefix?: string]

/** Puts `fastify` on `auth`. */
export function fastifyBinding(options: NoOptions = {}): Plugin<{ fastify: FastifyApi }> {
  assertOptions('fastifyBinding', options, {})
  return {
    name: 'fastify',
    setup: (kernel) => ({
      fastify: fastifyApi(
        () => kernel,
        () => kernel.entryPoints.rootPaths,
      ),
    }),
  }
}

/** The API of a configuration, or of a function of the request. */
export function FastifyAuth(config: ConfigSource<FastifyRequestLike>, ...plugins: readonly Plugin[]): FastifyApi {
  return fastifyApi(kernelsOf('fastify', config, { plugins }))
}

/** The API over a kernel, or over one for each request. */
function fastifyApi(kernels: Kernels<FastifyRequestLike>, rootPaths?: () => readonly string[]): FastifyApi {
  const api = createApi<Pair>({
    argument: {
      has: ['request', 'reply'],
      say: "fastify binding: give Fastify's request and reply: `auth.fastify.session(request, reply)`.",
      readArgument: ([request, reply]) => ({ ...(hasRaw(request) && { request }), ...(hasRaw(reply) && { reply }) }),
    },
    kernel: ([request]) => kernels(request),
    req: ([{ raw, originalUrl, body }]) => Object.assign(raw, { originalUrl, body }),
    res: ([, reply]) => reply.raw,
    // Fastify has applied its `trustProxy` to these. Version 4 has the port in `hostname`, version 5 in `host`.
    edge: ([{ protocol, host, hostname }]) => ({ protocol, host: host || hostname || undefined }),
    options: ([{ ip }]) => ({ clientAddress: ip }),
    mount: ([request, , prefix]) => mountOf(request, prefix),
    send: ([, reply], response) => void sendReply(reply, response),
    cookies: ([, reply], headers) => addCookies(reply, headers),
  })
  return {
    async root(instance) {
      if (instance.prefix !== '') {
        throw new Error(
          `fastify binding: \`auth.fastify.root\` is registered below "${instance.prefix}". Its paths are at the root: \`app.register(auth.fastify.root)\`.`,
        )
      }
      takeBodies(instance)
      // Exact paths where they are known: a wildcard would keep files of the host below "/.well-known/" from its own.
      for (const path of rootPaths?.() ?? ['/.well-known/*']) {
        instance.all(path, async (request, reply) => {
          if (!(await api.root([request, reply]))) reply.callNotFound()
          return reply
        })
      }
    },
    async plugin(instance) {
      takeBodies(instance)
      instance.all('/*', async (request, reply) =>
        api.handle([request, reply, instance.prefix]).then((known) => {
          // Registered without a prefix, the plugin sees every path of the app.
          if (!known) reply.callNotFound()
          return reply
        }),
      )
    },
    request: (request, reply) => api.request([request, reply]),
    session: (request, reply) => api.session([request, reply]),
    requireSession: (options) => async (request, reply) => ((await api.guard([request, reply], options)) ? undefined : reply),
    signIn: (request, reply, provider, options) => api.signIn([request, reply], provider, options).then(() => reply),
    signOut: (request, reply, options) => api.signOut([request, reply], options).then(() => reply),
  }
}

/** The kernel reads the stream, within its own limit. */
function takeBodies(instance: FastifyLike): void {
  instance.removeAllContentTypeParsers()
  instance.addContentTypeParser('*', (_request, _payload, done) => done(null))
}

function hasRaw(given: unknown): boolean {
  return typeof given === 'object' && given !== null && 'raw' in given
}

function sendReply(reply: FastifyReplyLike, response: Response): void {
  reply.code(response.status)
  for (const [name, value] of response.headers) if (name !== 'set-cookie') reply.header(name, value)
  addCookies(reply, response.headers)
  reply.send(response.body ? toStream(response.body) : '')
}

function addCookies(reply: FastifyReplyLike, headers: Headers): void {
  const list = headers.getSetCookie()
  if (list.length > 0) reply.header('set-cookie', list)
}

/** A prefix as the client sees it: it may end in a slash, and hold parameters. */
function mountOf({ raw }: FastifyRequestLike, prefix = ''): string | undefined {
  const count = prefix.replace(/(?<!\/)\/+$/, '').split('/').length
  return targetPath(raw).split('/').slice(0, count).join('/') || undefined
}
