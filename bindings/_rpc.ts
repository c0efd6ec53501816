/** What tRPC and oRPC share: a context with the session, and sign-in and sign-out that answer where to go. They differ in their errors. */
import { AuthError, type Awaitable, HttpError, type Kernel, type Session } from 'authkernel/kernel'
import type { SignInOptions } from './_shared/actions.ts'
import { addressFrom } from './_shared/edge.ts'
import type { NodeRequest, NodeResponse } from './_shared/node-request.ts'
import { createWebApi } from './_shared/web-api.ts'

/** What an adapter knows of a call: a web request and headers of the response, or the objects of Node. */
export interface RpcCall {
  req: Request | NodeRequest
  /** Without it, and without Node's response, no cookie goes out. */
  resHeaders?: Headers | undefined
  /** Node's response; that of a WebSocket takes no cookies. */
  res?: unknown
  /** What the runtime says of the client: Bun's server, Deno's info. */
  info?: unknown
}
/** The context of procedures. */
export interface RpcContext {
  session: Session | null
  /** Signs in, and says where the browser goes next. Rejects with an error of the framework: its `cause` is `CredentialsSignin` or another `AuthError`. */
  signIn(provider?: string, options?: SignInOptions): Promise<{ url: string }>
  signOut(options?: { redirectTo?: string | undefined }): Promise<{ url: string }>
}
/** What procedures for signed-in users have in their context. */
export interface RpcApi {
  /** The context of a call. */
  createContext(call: RpcCall): Promise<RpcContext>
  /** The session. Throws the framework's error: `UNAUTHORIZED` without one, `FORBIDDEN` where `check` does not say `true`. */
  requireSession(context: Pick<RpcContext, 'session'>, check?: (session: Session) => Awaitable<boolean>): Promise<Session>
}
/** Codes that both frameworks know. */
export type RpcCode = 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'SERVICE_UNAVAILABLE' | 'INTERNAL_SERVER_ERROR'

const codes: Readonly<Record<number, RpcCode>> = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  429: 'TOO_MANY_REQUESTS',
  503: 'SERVICE_UNAVAILABLE',
}

/** The API; `createError` makes the framework's error. */
export function rpcApi(
  name: string,
  kernel: (call: RpcCall) => Awaitable<Kernel>,
  createError: (code: RpcCode, cause?: Error) => Promise<Error>,
): RpcApi {
  const api = createWebApi<RpcCall>({
    argument: { has: ['req'], say: `${name} binding: give what the adapter gives: \`auth.${name}.createContext({ req, resHeaders })\`.` },
    kernel,
    request: requestOf,
    options: (call) => ({ clientAddress: addressOf(call) }),
    cookies: appendCookies,
    writable: ({ resHeaders, res }) => resHeaders !== undefined || isWritable(res),
  })
  const translate = async (error: unknown): Promise<never> => {
    if (error instanceof AuthError || error instanceof HttpError)
      throw await createError(codes[error.status] ?? 'INTERNAL_SERVER_ERROR', error)
    throw error
  }
  const follow = (call: RpcCall, response: Response): { url: string } => {
    appendCookies(call, response.headers)
    return { url: response.headers.get('location') ?? '/' }
  }
  return {
    async createContext(call) {
      return {
        session: await api.session(call).catch(translate),
        signIn: async (provider, options) => follow(call, await api.signIn(call, provider, options).catch(translate)),
        signOut: async (options) => follow(call, await api.signOut(call, options).catch(translate)),
      }
    },
    async requireSession({ session }, check) {
      if (!session?.user) throw await createError('UNAUTHORIZED')
      if (check && (await check(session)) !== true) throw await createError('FORBIDDEN')
      return session
    },
  }
}

/** Procedures have read the body; what is asked here needs none. */
async function requestOf({ req }: RpcCall): Promise<Request> {
  if (isWeb(req)) return req
  const { toRequest } = await import('./_shared/node-request.ts')
  return toRequest(req)
}

function addressOf({ req, info }: RpcCall): string | undefined {
  return isWeb(req) ? addressFrom(info, req) : addressFrom({ incoming: req }, new Request('http://localhost'))
}

function appendCookies({ resHeaders, res }: RpcCall, headers: Headers): void {
  for (const cookie of headers.getSetCookie()) {
    if (resHeaders) resHeaders.append('set-cookie', cookie)
    else if (isWritable(res)) res.appendHeader('set-cookie', cookie)
  }
}

function isWeb(req: RpcCall['req']): req is Request {
  return req.headers instanceof Headers
}

function isWritable(res: unknown): res is NodeResponse & { appendHeader(name: string, value: string): void } {
  return typeof res === 'object' && res !== null && 'appendHeader' in res && 'headersSent' in res && res.headersSent === false
}
