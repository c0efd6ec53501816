/** h3 2 and 1, Nitro and Nuxt: `app.all('/auth/**', auth.h3.handler)`, or `H3Auth(config)`. */
import type { Awaitable, Kernel, Plugin, Session } from 'authkernel/kernel'
import { assertArgument } from './_argument.ts'
import type { GuardOptions, SignInOptions } from './_actions.ts'
import { type ConfigSource, kernelsOf } from './_configs.ts'
import { mountedAt } from './_mounted.ts'
import type { NodeRequest, NodeResponse } from './_node.ts'
import type { Edge } from './_target.ts'
import { createWebApi } from './_web.ts'

export { AuthError, CredentialsSignin, customFetch } from 'authkernel/kernel'
export type { GuardOptions, SignInOptions } from './_actions.ts'

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
  /** Every route of authkernel; the wildcard route it is mounted at is the base path. Paths at the origin's root that plugins answer are answered, too. Others: undefined, so that a middleware passes them on. */
  handler(event: AnyH3Event): Promise<Response | undefined>
  /** Puts the session into `event.context.session`; a refreshed cookie goes out with the response. */
  middleware(event: AnyH3Event): Promise<void>
  /** Lets people with a session pass. Others: browsers are sent to the sign-in page and back, everything else gets 401 JSON. */
  requireSession(options?: GuardOptions): (event: AnyH3Event) => Promise<Response | undefined>
  /** The session, read once per request. Rejects when the store is down (D38). */
  session(event: AnyH3Event): Promise<Session | null>
  /** The answer that signs in; return it. Rejects with `CredentialsSignin` and other `AuthError`s. */
  signIn(event: AnyH3Event, provider?: string, options?: SignInOptions): Promise<Response>
  /** The answer that signs out; return it. */
  signOut(event: AnyH3Event, options?: { redirectTo?: string | undefined }): Promise<Response>
}

/** Puts `h3` on `auth`. */
export function h3Binding(): Plugin<{ h3: H3Api }> {
  return { name: 'h3', setup: (kernel) => ({ h3: h3Api(() => kernel) }) }
}

/** The API of a configuration, or of a function of the event: workers have their secrets in the event. */
export function H3Auth(config: ConfigSource<H3Event>, ...plugins: readonly Plugin[]): H3Api {
  return h3Api(kernelsOf('h3', config, { plugins }))
}

function h3Api(kernel: (event: H3Event) => Awaitable<Kernel>): H3Api {
  const api = createWebApi<H3Event>({
    kernel,
    request: ({ req }) => req,
    options: ({ req }) => ({ clientAddress: req.ip }),
    mount: ({ req, context: { matchedRoute } }, basePath) =>
      mountedAt(matchedRoute?.route ?? matchedRoute?.path, new URL(req.url).pathname, basePath),
    cookies: ({ res }, headers) => {
      for (const cookie of headers.getSetCookie()) res.headers.append('set-cookie', cookie)
    },
  })
  return {
    session: async (event) => api.session(await modern(event)),
    signIn: async (event, provider, options) => api.signIn(await modern(event), provider, options),
    signOut: async (event, options) => api.signOut(await modern(event), options),
    async handler(event) {
      assertEvent(event)
      if (isModern(event)) return api.below(event)
      const given = event.web?.request
      if (given && !given.bodyUsed) return api.below(translated(event, given))
      const { answered } = await import('./_node.ts')
      const { req, res } = event.node
      await keepBody(req)
      const pass = new Response()
      const response = await answered(req, res, edgeOf(event), async (request) => (await api.below(translated(event, request))) ?? pass)
      return response === pass ? undefined : response
    },
    async middleware(event) {
      const { context } = await modern(event)
      context.session = await api.session(await modern(event))
    },
    requireSession: (options) => async (event) => {
      const found = await api.guard(await modern(event), options)
      if (found instanceof Response) return found
      event.context.session = found
      return undefined
    },
  }
}

const translations = new WeakMap<H3EventOfNode, H3Event>()

/** The event as h3 2 has it. Only Node has events of version 1, so only there `node:` modules are loaded. */
async function modern(event: AnyH3Event): Promise<H3Event> {
  assertEvent(event)
  if (isModern(event)) return event
  const { toRequest } = await import('./_node.ts')
  let known = translations.get(event)
  if (!known) translations.set(event, (known = translated(event, toRequest(event.node.req, edgeOf(event)))))
  return known
}

function translated({ node: { req, res }, context }: H3EventOfNode, request: H3Event['req']): H3Event {
  // The shell has an empty address. Defined, for requests of some servers have a getter there.
  const ip = { value: req.socket.remoteAddress || request.ip, configurable: true }
  return {
    req: Object.defineProperty(request, 'ip', ip),
    res: { headers: { append: (name, value) => void (res.headersSent || res.appendHeader(name, value)) } },
    context,
  }
}

/** A body that h3's own `readBody` has read is where it keeps it. */
async function keepBody(req: NodeRequest): Promise<void> {
  req.rawBody ??= await Reflect.get(req, Symbol.for('h3RawBody'))
  req.body ??= Reflect.get(req, Symbol.for('h3ParsedBody'))
}

/** A web request tells more of its address than the shell that h3 makes of it. */
function edgeOf({ web }: H3EventOfNode): Edge {
  const url = web?.url ?? (web?.request && new URL(web.request.url))
  return url ? { protocol: url.protocol.slice(0, -1), host: url.host } : {}
}

function assertEvent(event: AnyH3Event): void {
  const say = "h3 binding: give h3's event: `auth.h3.session(event)`."
  assertArgument(event, { has: ['context'], say })
  // Version 2 has a `node`, too: undefined on other runtimes.
  assertArgument(('node' in event && event.node) || event, { has: ['req'], say })
}

/** Version 1 has a `req`, too: Node's. */
function isModern(event: AnyH3Event): event is H3Event {
  return 'req' in event && typeof event.req.headers.get === 'function'
}
/** @deprecated `H3Api` */
export type H3Face = H3Api
