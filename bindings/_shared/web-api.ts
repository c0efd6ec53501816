/** What `auth.<framework>` offers where requests are web requests. They differ in a seam only; `node-api.ts` builds on it. */
import { type Awaitable, type HandleOptions, hostRequestOf, HttpError, type Kernel, type Session, setHostRequest } from 'authkernel/kernel'
import {
  runCheck,
  type GuardOptions,
  readForGuard,
  createRefusal,
  type SignInOptions,
  signInResponse,
  signOutResponse,
  updateResponse,
} from './actions.ts'
import { cookiesOf } from './set-cookie.ts'

/** The first argument of a binding's functions: how to know it, and what to tell a caller who gave something else. */
export interface Argument {
  /** Members that it has. */
  has: readonly string[]
  /** A member that only another kind of request has. */
  not?: string
  /** `Give Express's request: auth.express.session(req).` */
  say: string
}

/** How a framework's event is read and answered. */
export interface WebSeam<E extends object> {
  /** What events are; default: any object. */
  argument?: Argument
  /** A factory's options may be a function of the event. */
  kernel(event: E): Awaitable<Kernel>
  request(event: E): Awaitable<Request>
  /** What a guard sends users away from, and back to; default: the request. */
  page?(event: E): Request
  options?(event: E): HandleOptions
  /** Where the handler that is running is mounted; undefined: at the base path of the options. Guards run elsewhere and are not asked. */
  mount?(event: E, basePath: string): string | undefined
  /** Adds the Set-Cookie headers to the response to come. */
  cookies?(event: E, headers: Headers): void
  /** False: the response is on its way, or may not have cookies; the session is then read without extending it (D51). */
  writable?(event: E): boolean
  /** Where what is known of an event is kept; default: beside it. */
  memory?(event: E): EventMemory
}
/** What is known of one event. */
export interface EventMemory {
  /** The request that the event had first: some frameworks make one at each question. */
  first?: Request
  /** The session, or the reading of it. */
  session?: Promise<Session | null> | undefined
  /** Headers of the answer that signed in or out. */
  changes?: Headers
}
/** The API without the framework's own words. */
export interface WebApi<E extends object> {
  /** Answers every route of authkernel, and paths that are none with 400. */
  answer(event: E): Promise<Response>
  /** As `answer`; undefined: the path is neither below the base path nor one at the origin's root that a plugin answers. */
  below(event: E): Promise<Response | undefined>
  /** As `answer`; undefined: the path at the origin's root is not answered by a plugin. */
  root(event: E): Promise<Response | undefined>
  /** As `answer`; undefined: the path is no route of authkernel or of a plugin. */
  route(event: E): Promise<Response | undefined>
  /** Whether `below`, `route` or `root` answers the event. Reads no body. */
  isOwn(event: E, how: 'below' | 'route' | 'root'): Promise<boolean>
  /** The session, read once per event. Rejects when the store is down (D38). */
  session(event: E): Promise<Session | null>
  /** The session; a Response: there is none, and this is the rejection. */
  guard(event: E, options?: GuardOptions): Promise<Session | Response>
  /** The redirect that signs in, with its cookies. Rejects with `AuthError`s, or through the entry `handler` answers with their page. */
  signIn(event: E, provider?: string, options?: SignInOptions, entry?: 'dispatch' | 'handler'): Promise<Response>
  signOut(event: E, options?: { redirectTo?: string | undefined }, entry?: 'dispatch' | 'handler'): Promise<Response>
  /** The session after an update, as JSON, with its cookies. */
  update(event: E, data: unknown): Promise<Response>
}

/** An event as the kernel takes it. */
interface KernelCall {
  kernel: Kernel
  request: Request
  options: HandleOptions
}

/** The API over the kernel's entry points. */
export function createWebApi<E extends object>(seam: WebSeam<E>): WebApi<E> {
  const argument = seam.argument ?? { has: [], say: "Give the framework's event or context." }
  const check = (event: E): void => assertArgument(event, argument)
  const memoryOf = seam.memory ?? rememberBeside<E>()

  async function open(event: E): Promise<KernelCall> {
    check(event)
    const kernel = await seam.kernel(event)
    const request = await seam.request(event)
    // One that was made of the host's own object stands for that already.
    if (hostRequestOf(request) === request) setHostRequest(request, (memoryOf(event).first ??= request))
    return { kernel, request, options: seam.options?.(event) ?? {} }
  }
  async function openRoute(event: E): Promise<KernelCall> {
    const { kernel, request, options } = await open(event)
    // A path at the root lies below no mount, whatever the handler's own route is.
    const root = kernel.placeOf(new URL(request.url).pathname) === 'root'
    return { kernel, request, options: root ? options : { ...options, basePath: seam.mount?.(event, kernel.config.basePath) } }
  }
  async function readSession(event: E): Promise<Session | null> {
    const { kernel, request, options } = await open(event)
    const { changes } = memoryOf(event)
    // What is true now. Extending what the request brought along would undo a sign-out.
    if (changes) return kernel.entryPoints.session(updateRequestCookies(request, changes), options)
    if (!seam.cookies || seam.writable?.(event) === false) return kernel.entryPoints.session(request, options)
    const { session, headers } = await kernel.entryPoints.read(request, options)
    seam.cookies(event, headers)
    return session
  }
  async function session(event: E): Promise<Session | null> {
    check(event)
    return (memoryOf(event).session ??= readSession(event))
  }

  async function noteChange(event: E, answer: Promise<Response>): Promise<Response> {
    const response = await answer
    Object.assign(memoryOf(event), { session: undefined, changes: response.headers })
    return response
  }

  return {
    session,
    async answer(event) {
      return answerOpened(await openRoute(event))
    },
    async below(event) {
      const found = await openRoute(event)
      return (await isBelow(found)) ? answerOpened(found) : undefined
    },
    async isOwn(event, how) {
      const found = await openRoute(event)
      if (how === 'root') return isRoot(found)
      return how === 'below' ? isBelow(found) : found.kernel.matches(found.request, found.options)
    },
    async root(event) {
      const found = await open(event)
      return isRoot(found) ? answerOpened(found) : undefined
    },
    async route(event) {
      const found = await openRoute(event)
      return (await found.kernel.matches(found.request, found.options)) ? answerOpened(found) : undefined
    },
    async guard(event, how) {
      const found = await readForGuard(session(event))
      const pageRequest = async (): Promise<Request> => seam.page?.(event) ?? (await open(event)).request
      if (found instanceof HttpError || !found?.user) {
        const { kernel, options } = await open(event)
        return createRefusal(kernel, await pageRequest(), options, how, found)
      }
      const instead = await runCheck(pageRequest, found, how)
      // The check may have changed who is signed in.
      if (instead) memoryOf(event).session = undefined
      return instead ?? found
    },
    async signIn(event, provider, how, entry) {
      const { kernel, request, options } = await open(event)
      return noteChange(event, signInResponse(kernel, request, options, provider, how, entry))
    },
    async signOut(event, how, entry) {
      const { kernel, request, options } = await open(event)
      return noteChange(event, signOutResponse(kernel, request, options, how, entry))
    },
    async update(event, data) {
      const { kernel, request, options } = await open(event)
      return noteChange(event, updateResponse(kernel, request, options, data))
    },
  }
}

function rememberBeside<E extends object>(): (event: E) => EventMemory {
  const memories = new WeakMap<E, EventMemory>()
  return (event) => {
    const known = memories.get(event)
    if (known) return known
    const memory = {}
    memories.set(event, memory)
    return memory
  }
}

function answerOpened({ kernel, request, options }: KernelCall): Promise<Response> {
  return kernel.entryPoints.handler(assertUnread(request), options)
}

function isRoot({ kernel, request }: KernelCall): boolean {
  return kernel.placeOf(new URL(request.url).pathname) === 'root'
}

async function isBelow({ kernel, request, options }: KernelCall): Promise<boolean> {
  return kernel.placeOf(new URL(request.url).pathname, options.basePath ?? (await basePathOf(kernel, request))) !== undefined
}

/** That of the tenant; of the options while the hook `settings` rejects the request. */
async function basePathOf(kernel: Kernel, request: Request): Promise<string> {
  try {
    return (await kernel.contextOf(request)).basePath
  } catch (error) {
    if (error instanceof HttpError) return kernel.config.basePath
    throw error
  }
}

/** The request as the browser would send it after a response. Of several lines of one name the last one counts. */
function updateRequestCookies(request: Request, set: Headers): Request {
  const fresh = new Map(cookiesOf(set).map(({ name, value, options }) => [name, options.maxAge === 0 ? '' : value]))
  const headers = new Headers(request.headers)
  const kept = (headers.get('cookie') ?? '').split(/; */).filter((pair) => pair !== '' && !fresh.has(pair.split('=', 1)[0] ?? ''))
  headers.set('cookie', [...[...fresh].map(([name, value]) => `${name}=${value}`), ...kept].join('; '))
  return setHostRequest(new Request(request.url, { headers }), request)
}

function assertUnread(request: Request): Request {
  if (!request.bodyUsed) return request
  throw new Error(
    `The body of ${request.method} ${new URL(request.url).pathname} was read before authkernel: mount its handler first, or read a clone.`,
  )
}

/** Throws TypeError for what is not what the framework hands on. */
export function assertArgument(given: unknown, { has, not, say }: Argument): void {
  const missing = typeof given === 'object' && given !== null ? has.find((member) => !(member in given)) : ''
  if (missing === undefined) {
    if (not === undefined || !(not in (given as object))) return
    throw new TypeError(`${say} The argument has \`${not}\`, so it is another kind of request.`)
  }
  throw new TypeError(`${say} The argument ${missing === '' ? `is ${given === null ? 'null' : typeof given}` : `has no \`${missing}\``}.`)
}
