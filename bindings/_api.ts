/** What `auth.<framework>` offers in every Node framework: handler, session, guard, sign-in, sign-out. They differ in a seam only. */
import { type Awaitable, type HandleOptions, HttpError, type Kernel, type Session } from 'authkernel/kernel'
import { type Argument, assertArgument } from './_argument.ts'
import { checked, readForGuard, refusal, type GuardOptions, type SignInOptions, signInResponse, signOutResponse } from './_actions.ts'
import { answered, type NodeRequest, type NodeResponse, toRequest } from './_node.ts'
import { type Edge, pathOf } from './_target.ts'

/** How a framework's request is read and answered; `C` is what its routes get. */
export interface Seam<C> {
  /** What callers must give. `given`: the part of `from` that is checked; default: all of it. */
  argument?: Argument & { given?(from: C): unknown }
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
  /** The session; null: there is none, and the refusal is sent. */
  guard(from: C, options?: GuardOptions): Promise<Session | null>
  /** Signs in and answers with the redirect. Rejects with `CredentialsSignin` and other `AuthError`s. */
  signIn(from: C, provider?: string, options?: SignInOptions): Promise<void>
  /** Signs out and answers with the redirect; default target: the page that sent the form. */
  signOut(from: C, options?: { redirectTo?: string | undefined }): Promise<void>
}

/** The API over the kernel's entry points. */
export function createApi<C>(seam: Seam<C>): Api<C> {
  const sessions = new WeakMap<NodeRequest, Promise<Session | null>>()
  const { argument } = seam
  const reqOf = (from: C): NodeRequest => {
    if (argument) assertArgument(argument.given ? argument.given(from) : from, argument)
    return seam.req(from)
  }
  const web = (from: C): Request => toRequest(reqOf(from), seam.edge(from))

  async function read(from: C): Promise<Session | null> {
    const { entryPoints } = await seam.kernel(from)
    const { session, headers } = await entryPoints.read(web(from), seam.options(from))
    const res = seam.res(from)
    if (res && !res.headersSent) seam.cookies(from, headers)
    return session
  }
  async function session(from: C): Promise<Session | null> {
    const req = reqOf(from)
    let reading = sessions.get(req)
    if (!reading) sessions.set(req, (reading = read(from)))
    return reading
  }
  async function send(from: C, answer: Promise<Response>): Promise<void> {
    const response = await answer
    // Whoever asks again in this request gets what is true now.
    sessions.delete(seam.req(from))
    await seam.send(from, response)
  }

  async function answer(from: C, { entryPoints }: Kernel, req: NodeRequest, basePath?: string): Promise<void> {
    const work = (request: Request): Promise<Response> => entryPoints.handler(request, { ...seam.options(from), basePath })
    await seam.send(from, await answered(req, seam.res(from), seam.edge(from), work))
  }

  return {
    request: web,
    session,
    user: async (from) => (await session(from))?.user ?? null,
    async handle(from) {
      const req = reqOf(from)
      const kernel = await seam.kernel(from)
      const [place, basePath] = [kernel.placeOf(pathOf(req)), seam.mount?.(from)]
      if (basePath === undefined && place === undefined) return false
      // A path at the root lies below no mount, whatever the handler's own route is.
      await answer(from, kernel, req, place === 'root' ? undefined : basePath)
      return true
    },
    async root(from) {
      const req = reqOf(from)
      const kernel = await seam.kernel(from)
      if (kernel.placeOf(pathOf(req)) !== 'root') return false
      await answer(from, kernel, req)
      return true
    },
    async guard(from, options) {
      const found = await readForGuard(session(from))
      if (!(found instanceof HttpError) && found?.user) {
        const instead = await checked(() => web(from), found, options)
        if (!instead) return found
        await send(from, Promise.resolve(instead))
        return null
      }
      await seam.send(from, await refusal(await seam.kernel(from), web(from), seam.options(from), options, found))
      return null
    },
    async signIn(from, provider, options) {
      reqOf(from)
      const kernel = await seam.kernel(from)
      await send(from, signInResponse(kernel, web(from), seam.options(from), provider, options))
    },
    async signOut(from, options) {
      reqOf(from)
      const kernel = await seam.kernel(from)
      await send(from, signOutResponse(kernel, web(from), seam.options(from), options))
    },
  }
}
