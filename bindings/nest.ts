/** NestJS 11 and 12: `app.use(auth.nest.handler)`, `@UseGuards(auth.nest.guard())`, and the session for a decorator of parameters. */
import { assertOptions, type Awaitable, type Kernel, type NoOptions, type Plugin, type Session } from 'authkernel/kernel'
import type { GuardOptions, SignInOptions } from './_shared/actions.ts'
import { type ConfigSource, kernelsOf } from './_shared/kernels.ts'
import { createApi } from './_shared/node-api.ts'
import { appendCookies, type NodeRequest, type NodeResponse, peerAddress, sendResponse } from './_shared/node-request.ts'

export { AuthError, CredentialsSignin, customFetch } from 'authkernel/kernel'
export type { GuardOptions, SignInOptions } from './_shared/actions.ts'

/** The parts of Nest's execution context that are used here. */
export interface NestContext {
  getType(): string
  switchToHttp(): { getRequest(): unknown; getResponse(): unknown }
  switchToWs(): { getClient(): unknown }
  getArgByIndex(index: number): unknown
}
/** A request with its response: what `@Req()` and `@Res()` give. */
export interface NestExchange {
  req: object
  res: object
}
/** What `@UseGuards` and `useGlobalGuards` take. */
export interface NestGuard {
  canActivate(context: NestContext): Promise<boolean>
}

/** What `auth.nest` offers. */
export interface NestApi {
  /** Every route of authkernel, and the paths at the origin's root that plugins answer: `app.use(auth.nest.handler)`, before Nest parses bodies. */
  handler(req: NodeRequest, res: NodeResponse, next: (error?: unknown) => void): Promise<void>
  /**
   * Lets signed-in users pass. Over HTTP, browsers are sent to the sign-in page and back, and programs get 401. In GraphQL it throws an `HttpException`, on a WebSocket a
   * `WsException`.
   */
  guard(options?: GuardOptions): NestGuard
  /** The session, for `createParamDecorator` and controllers: read once per request, and on a WebSocket with each message. */
  session(of: NestContext | NestExchange): Promise<Session | null>
  /** Sends the answer that signs in. Rejects with `CredentialsSignin` and other `AuthError`s. */
  signIn(exchange: NestExchange, provider?: string, options?: SignInOptions): Promise<void>
  /** Sends the answer that signs out. */
  signOut(exchange: NestExchange, options?: { redirectTo?: string | undefined }): Promise<void>
  /** Remembers the request that opened a WebSocket: call it in `handleConnection(client, request)` of a gateway. Socket.IO needs no call. */
  connect(client: object, request: object): void
}

/**
 * Puts `nest` on `auth`.
 * @experimental The API may change in a minor version.
 */
export function nestBinding(options: NoOptions = {}): Plugin<{ nest: NestApi }> {
  assertOptions('nestBinding', options, {})
  return { name: 'nest', setup: (kernel) => ({ nest: nestApi(() => kernel) }) }
}

/**
 * The API of a configuration, or of a function of the request and the response.
 * @experimental The API may change in a minor version.
 */
export function NestAuth(config: ConfigSource<NestExchange>, ...plugins: readonly Plugin[]): NestApi {
  return nestApi(kernelsOf('nest', config, { plugins }))
}

/** A request with what is to become of a rejection: Nest's own filters send it. */
interface Exchange {
  req: NodeRequest
  res?: NodeResponse | undefined
  rejection?: Response
  isGuarded?: boolean
}

function nestApi(kernel: (exchange: NestExchange) => Awaitable<Kernel>): NestApi {
  const handshakes = new WeakMap<object, object>()
  const api = createApi<Exchange>({
    argument: { has: ['req'], say: 'nest binding: give the execution context, or `{ req, res }`: `auth.nest.session(context)`.' },
    kernel: (exchange) => kernel(exchange as NestExchange),
    req: ({ req }) => req,
    res: ({ res }) => res,
    edge: () => ({}),
    options: ({ req }) => ({ clientAddress: peerAddress(req) }),
    async send(exchange, response) {
      if (exchange.isGuarded) exchange.rejection = response
      else if (exchange.res) await sendResponse(exchange.res, response)
    },
    cookies({ res }, headers) {
      if (res) appendCookies(res, headers)
    },
  })

  function exchangeOf(of: NestContext | NestExchange): Exchange {
    if (typeof of !== 'object' || of === null || !('getType' in of)) return rawExchange(of)
    if (of.getType() === 'http') return rawExchange({ req: of.switchToHttp().getRequest(), res: of.switchToHttp().getResponse() })
    // GraphQL: the third argument of a resolver is its context.
    if (of.getType() === 'graphql') return rawExchange(of.getArgByIndex(2))
    const client = of.switchToWs().getClient() as { request?: object }
    const request = handshakes.get(client) ?? client.request
    if (!request)
      throw new Error(
        'nest binding: the request of this WebSocket is not known: call `auth.nest.connect(client, request)` in `handleConnection`.',
      )
    // A new object: the session of a message is not that of the one before.
    return { req: Object.create(request) as NodeRequest }
  }

  return {
    connect: (client, request) => void handshakes.set(client, request),
    session: async (of) => api.session(exchangeOf(of)),
    signIn: async (exchange, provider, options) => api.signIn(rawExchange(exchange), provider, options),
    signOut: async (exchange, options) => api.signOut(rawExchange(exchange), options),
    async handler(req, res, next) {
      try {
        if (!(await api.handle({ req, res }))) next()
      } catch (error) {
        next(error)
      }
    },
    guard: (options) => ({
      async canActivate(context) {
        const exchange: Exchange = { ...exchangeOf(context), isGuarded: true }
        await api.guard(exchange, options)
        if (!exchange.rejection) return true
        throw await createException(context, exchange, exchange.rejection)
      },
    }),
  }
}

/** Fastify's objects hold those of Node; Express's are those of Node. */
function rawExchange(of: unknown): Exchange {
  if (typeof of !== 'object' || of === null || !('req' in of)) return of as Exchange
  return { req: rawOf(of.req) as NodeRequest, res: 'res' in of ? (rawOf(of.res) as NodeResponse) : undefined }
}

function rawOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'raw' in value ? value.raw : value
}

/** Nest's filters know errors by their class, and write the status and the body. The headers are there before. */
async function createException(context: NestContext, { res }: Exchange, rejection: Response): Promise<Error> {
  const say = rejection.status === 403 ? 'Forbidden' : 'Unauthorized'
  if (context.getType() === 'ws') {
    const { WsException } = await import('@nestjs/websockets')
    return new WsException(say)
  }
  const { HttpException } = await import('@nestjs/common')
  // A resolver shares its response with others: its error says it all.
  if (context.getType() === 'graphql' || !res) return new HttpException(say, rejection.status < 400 ? 401 : rejection.status)
  for (const [name, value] of rejection.headers) if (name !== 'set-cookie' && name !== 'content-type') res.setHeader(name, value)
  appendCookies(res, rejection.headers)
  return new HttpException({ error: say }, rejection.status)
}
