/** h3: events of version 2, which have a web request, and of version 1, which have Node's or a shell of it. */
import { HttpError, type Session, setHostRequest } from 'authkernel/kernel'
import { assertArgument, createWebApi } from './web-api.ts'
import type { GuardOptions, SignInOptions } from './actions.ts'
import type { Kernels } from './kernels.ts'
import { mountedAt } from './mount.ts'
import type { NodeRequest, NodeResponse } from './node-request.ts'
import type { Edge } from './edge.ts'

/** The parts of an event's context that are used here; `session` is set by `middleware` and `requireSession`. */
export interface H3Context {
  session?: Session | null
  matchedRoute?: { route?: string; path?: string } | undefined
}
/** The parts of an event of h3 2 that are used here. */
export interface H3Event {
  /** `ip`: known on every runtime. */
  req: Request & { ip?: string | undefined }
  res: { headers: Pick<Headers, 'append'> }
  context: H3Context
}
/** The parts of an event of h3 1 that are used here: Nitro 2 and Nuxt. */
export interface H3EventOfNode {
  node: { req: NodeRequest; res: NodeResponse }
  context: H3Context
  /** Under `toWebHandler`: Node's request is then an empty shell. */
  web?: { request?: Request; url?: URL } | undefined
}
/** An event of either version. */
export type AnyH3Event = H3Event | H3EventOfNode

/** What `auth.h3` offers. */
export interface H3Api {
  /** Every route of authkernel; the wildcard route it is mounted at is the base path. Also handles paths at the origin's root that plugins answer. Others: undefined, so that a middleware passes them on. */
  handler(event: AnyH3Event): Promise<Response | undefined>
  /** The paths at the origin's root that plugins answer, alone: for apps that mount `handler` at a path. */
  root(event: AnyH3Event): Promise<Response | undefined>
  /** Puts the session into `event.context.session`; a refreshed cookie goes out with the response. */
  middleware(event: AnyH3Event): Promise<void>
  /** Lets signed-in users pass. Others: browsers are sent to the sign-in page and back, everything else gets 401 JSON. */
  requireSession(options?: GuardOptions): (event: AnyH3Event) => Promise<Response | undefined>
  /** The session, read once per request. Rejects when the store is down (D38). */
  session(event: AnyH3Event): Promise<Session | null>
  /** The answer that signs in; return it. Rejects with `CredentialsSignin` and other `AuthError`s. */
  signIn(event: AnyH3Event, provider?: string, options?: SignInOptions): Promise<Response>
  /** The answer that signs out; return it. */
  signOut(event: AnyH3Event, options?: { redirectTo?: string | undefined }): Promise<Response>
}

/**
 * The API over a kernel, or over one for each event. `own`: paths that `handler` answers; `below`: all below the base path, `route`: routes only,
 * since the app has other pages below it.
 */
export function h3Api(
  kernel: Kernels<H3Event>,
  own: 'below' | 'route' = 'below',
  say = "h3 binding: give h3's event: `auth.h3.session(event)`.",
): H3Api {
  const api = createWebApi<H3Event>({
    // A function of the event is asked once, although the event with the body is another one.
    kernel: (event) => kernel(shells.get(event) ?? event),
    request: ({ req }) => req,
    options: ({ req }) => ({ clientAddress: req.ip }),
    mount: ({ req, context: { matchedRoute } }, basePath) =>
      mountedAt(matchedRoute?.route ?? matchedRoute?.path, new URL(req.url).pathname, basePath),
    cookies: ({ res }, headers) => {
      for (const cookie of headers.getSetCookie()) res.headers.append('set-cookie', cookie)
    },
  })
  const open = async (event: AnyH3Event): Promise<H3Event> => {
    assertEvent(event, say)
    return toModernEvent(event)
  }
  const answer = async (event: AnyH3Event, how: 'below' | 'route' | 'root'): Promise<Response | undefined> => {
    assertEvent(event, say)
    if (isModern(event)) return api[how](event)
    const given = event.web?.request
    if (given && !given.bodyUsed) return api[how](translateEvent(event, given))
    const { answerWeb } = await import('./node-request.ts')
    const { req, res } = event.node
    const shell = await open(event).catch(keepHttpError)
    // Before the body is opened: that of another path is for the app to read.
    if (!(shell instanceof HttpError) && !(await api.isOwn(shell, how))) return undefined
    await restoreBody(req)
    return answerWeb(req, res, edgeOf(event), (request) => {
      const whole = translateEvent(event, request)
      if (!(shell instanceof HttpError)) shells.set(whole, shell)
      return api.answer(whole)
    })
  }
  return {
    session: async (event) => api.session(await open(event)),
    signIn: async (event, provider, options) => api.signIn(await open(event), provider, options),
    signOut: async (event, options) => api.signOut(await open(event), options),
    handler: (event) => answer(event, own),
    root: (event) => answer(event, 'root'),
    async middleware(event) {
      const { context } = await open(event)
      context.session = await api.session(await open(event))
    },
    requireSession: (options) => async (event) => {
      const found = await api.guard(await open(event), options)
      if (found instanceof Response) return found
      event.context.session = found
      return undefined
    },
  }
}

/** Events without their body, by the event with it. */
const shells = new WeakMap<H3Event, H3Event>()
const translations = new WeakMap<H3EventOfNode, H3Event>()

/** The event as h3 2 has it. Only Node has events of version 1, so only there `node:` modules are loaded. */
async function toModernEvent(event: AnyH3Event): Promise<H3Event> {
  if (isModern(event)) return event
  const { toRequest } = await import('./node-request.ts')
  let known = translations.get(event)
  if (!known) translations.set(event, (known = translateEvent(event, toRequest(event.node.req, edgeOf(event)))))
  return known
}

function translateEvent({ node: { req, res }, context, web }: H3EventOfNode, request: H3Event['req']): H3Event {
  const given: H3Event['req'] = web?.request ?? request
  // The shell has an empty address. Defined, for requests of some servers have a getter there.
  const ip = { value: req.socket.remoteAddress || given.ip, configurable: true }
  return {
    // Of one event: under `toWebHandler` its own request, which the shell knows nothing of.
    req: Object.defineProperty(setHostRequest(request, web?.request ?? req), 'ip', ip),
    res: { headers: { append: (name, value) => void (res.headersSent || res.appendHeader(name, value)) } },
    context,
  }
}

/** What is no request to this host is answered with 400. */
function keepHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error
  throw error
}

/** A body that h3's own `readBody` has read is where it keeps it. */
async function restoreBody(req: NodeRequest): Promise<void> {
  req.rawBody ??= await Reflect.get(req, Symbol.for('h3RawBody'))
  req.body ??= Reflect.get(req, Symbol.for('h3ParsedBody'))
}

/** A web request tells more of its address than the shell that h3 makes of it. */
function edgeOf({ web }: H3EventOfNode): Edge {
  const url = web?.url ?? (web?.request && new URL(web.request.url))
  return url ? { protocol: url.protocol.slice(0, -1), host: url.host } : {}
}

function assertEvent(event: AnyH3Event, say: string): void {
  assertArgument(event, { has: ['context'], say })
  // Version 2 has a `node`, too: undefined on other runtimes.
  assertArgument(('node' in event && event.node) || event, { has: ['req'], say })
}

/** Version 1 has a `req`, too: Node's. */
function isModern(event: AnyH3Event): event is H3Event {
  return 'req' in event && typeof event.req.headers.get === 'function'
}
