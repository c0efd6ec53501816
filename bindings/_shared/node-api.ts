/** What `auth.<framework>` offers in every Node framework: the API of web requests, over Node's own. They differ in a seam only. */
import type { Awaitable, HandleOptions, Kernel, Session } from 'authkernel/kernel'
import type { GuardOptions, SignInOptions } from './actions.ts'
import { type Edge, targetPath } from './edge.ts'
import { answerWeb, type NodeRequest, type NodeResponse, toRequest } from './node-request.ts'
import { type Argument, assertArgument, createWebApi, type EventMemory } from './web-api.ts'

/** How a framework's request is read and answered; `C` is what its routes get. */
export interface Seam<C> {
  /** What callers must give. `given`: the part of `from` that is checked; default: all of it. */
  argument?: Argument & { readArgument?(from: C): unknown }
  /** A factory's options may be a function of the request. */
  kernel(from: C): Awaitable<Kernel>
  req(from: C): NodeRequest
  /** Undefined where there is none: a WebSocket's upgrade request. */
  res(from: C): NodeResponse | undefined
  edge(from: C): Edge
  options(from: C): HandleOptions
  /** Where the handler is mounted; undefined: at the base path of the configuration. */
  mount?(from: C): string | undefined
  send(from: C, response: Response): unknown
  /** Adds the Set-Cookie headers to the response to come. */
  cookies(from: C, headers: Headers): void
}
/** The API without the framework's own words. */
export interface Api<C> {
  /** The web request, without its body: for APIs of other plugins, such as `auth.accounts`. */
  request(from: C): Request
  /** The session, read once per request; a refreshed cookie goes out with the response. Rejects when the store is down (D38). */
  session(from: C): Promise<Session | null>
  /** The signed-in user. */
  user(from: C): Promise<NonNullable<Session['user']> | null>
  /** Answers the routes of authkernel; false: the path is neither below the base path nor one at the origin's root that a plugin answers. */
  handle(from: C): Promise<boolean>
  /** Answers the paths at the origin's root that plugins answer; false: the path is none of them. */
  root(from: C): Promise<boolean>
  /** The session; null: there is none, and the rejection is sent. */
  guard(from: C, options?: GuardOptions): Promise<Session | null>
  /** Signs in and answers with the redirect. Rejects with `CredentialsSignin` and other `AuthError`s. */
  signIn(from: C, provider?: string, options?: SignInOptions): Promise<void>
  /** Signs out and answers with the redirect; default target: the page that sent the form. */
  signOut(from: C, options?: { redirectTo?: string | undefined }): Promise<void>
}

/** What the framework gave, with what is known of the request of Node: some frameworks make another object for each handler. */
interface NodeEvent<C> {
  readonly from: C
  readonly memory: EventMemory
}

/** The API over the kernel's entry points. */
export function createApi<C>(seam: Seam<C>): Api<C> {
  const memories = new WeakMap<NodeRequest, EventMemory>()
  const { argument } = seam
  const toWeb = (from: C): Request => toRequest(seam.req(from), seam.edge(from))
  const api = createWebApi<NodeEvent<C>>({
    kernel: ({ from }) => seam.kernel(from),
    request: ({ from }) => toWeb(from),
    options: ({ from }) => seam.options(from),
    memory: ({ memory }) => memory,
    cookies({ from }, headers) {
      const res = seam.res(from)
      if (res && !res.headersSent) seam.cookies(from, headers)
    },
  })

  function requestOf(from: C): NodeRequest {
    if (argument) assertArgument(argument.readArgument ? argument.readArgument(from) : from, argument)
    return seam.req(from)
  }
  function eventOf(from: C): NodeEvent<C> {
    const req = requestOf(from)
    const memory = memories.get(req) ?? {}
    memories.set(req, memory)
    return { from, memory }
  }
  // Node's body is opened for a route alone: that of another path is for the app to read.
  async function answer(from: C, { entryPoints }: Kernel, basePath?: string): Promise<void> {
    const work = (request: Request): Promise<Response> => entryPoints.handler(request, { ...seam.options(from), basePath })
    await seam.send(from, await answerWeb(seam.req(from), seam.res(from), seam.edge(from), work))
  }

  return {
    request: (from) => toWeb(eventOf(from).from),
    session: async (from) => api.session(eventOf(from)),
    user: async (from) => (await api.session(eventOf(from)))?.user ?? null,
    async handle(from) {
      const req = requestOf(from)
      const kernel = await seam.kernel(from)
      const [place, basePath] = [kernel.placeOf(targetPath(req)), seam.mount?.(from)]
      if (basePath === undefined && place === undefined) return false
      // A path at the root lies below no mount, whatever the handler's own route is.
      await answer(from, kernel, place === 'root' ? undefined : basePath)
      return true
    },
    async root(from) {
      const req = requestOf(from)
      const kernel = await seam.kernel(from)
      if (kernel.placeOf(targetPath(req)) !== 'root') return false
      await answer(from, kernel)
      return true
    },
    async guard(from, options) {
      const found = await api.guard(eventOf(from), options)
      if (!(found instanceof Response)) return found
      await seam.send(from, found)
      return null
    },
    async signIn(from, provider, options) {
      await seam.send(from, await api.signIn(eventOf(from), provider, options))
    },
    async signOut(from, options) {
      await seam.send(from, await api.signOut(eventOf(from), options))
    },
  }
}
