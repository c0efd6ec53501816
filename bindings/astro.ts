/** Astro 5 with a server: `export const onRequest = auth.astro.onRequest` in `src/middleware.ts`. */
import { assertOptions, type Awaitable, type Kernel, type NoOptions, type Plugin, type Session } from 'authkernel/kernel'
import type { GuardOptions, SignInOptions } from './_shared/actions.ts'
import { type ConfigSource, kernelsOf } from './_shared/kernels.ts'
import { createPendingCookies } from './_shared/pending-cookies.ts'
import { createWebApi, type EventMemory } from './_shared/web-api.ts'

export { AuthError, CredentialsSignin, customFetch } from 'authkernel/kernel'
export type { GuardOptions, SignInOptions } from './_shared/actions.ts'

/** The parts of `Astro` and of the context of endpoints, actions and middleware that are used here. */
export interface AstroContext {
  request: Request
  locals: object
  /** Throws where there is no client. */
  readonly clientAddress?: string
  /** True while pages are written at build time. */
  isPrerendered?: boolean
}

/** What `auth.astro` offers. */
export interface AstroApi {
  /** The middleware: every route of authkernel, and the paths at the origin's root that plugins answer. Puts `auth()` on `locals`; a refreshed cookie goes out with the response. */
  onRequest(context: AstroContext, next: () => Promise<Response>): Promise<Response>
  /** The session, read once per request. Rejects when the store is down. */
  session(context: AstroContext): Promise<Session | null>
  /** The session; a `Response` is the rejection, for the page or endpoint to return: to the sign-in page and back, 401 JSON for programs. */
  requireSession(context: AstroContext, options?: GuardOptions): Promise<Session | Response>
  /** The answer that signs in; return it. Rejects with `CredentialsSignin` and other `AuthError`s. */
  signIn(context: AstroContext, provider?: string, options?: SignInOptions): Promise<Response>
  /** The answer that signs out; return it. */
  signOut(context: AstroContext, options?: { redirectTo?: string | undefined }): Promise<Response>
}

/**
 * Puts `astro` on `auth`.
 * @experimental The API may change in a minor version.
 */
export function astroBinding(options: NoOptions = {}): Plugin<{ astro: AstroApi }> {
  assertOptions('astroBinding', options, {})
  return { name: 'astro', setup: (kernel) => ({ astro: astroApi(() => kernel) }) }
}

/**
 * The API of a configuration, or of a function of the context.
 * @experimental The API may change in a minor version.
 */
export function AstroAuth(config: ConfigSource<AstroContext>, ...plugins: readonly Plugin[]): AstroApi {
  return astroApi(kernelsOf('astro', config, { plugins }))
}

function astroApi(kernel: (context: AstroContext) => Awaitable<Kernel>): AstroApi {
  const pending = createPendingCookies<Request>()
  const memories = new WeakMap<Request, EventMemory>()
  const api = createWebApi<AstroContext>({
    argument: { has: ['request', 'locals'], say: "astro binding: give Astro's context: `auth.astro.session(Astro)`." },
    kernel,
    request: ({ request }) => request,
    options: (context) => ({ clientAddress: clientAddressOf(context) }),
    cookies: ({ request }, headers) => pending.add(request, headers),
    writable: ({ request }) => pending.isOpen(request),
    // Pages, endpoints and actions get contexts of their own; all have the request of the middleware.
    memory({ request }) {
      const memory = memories.get(request) ?? {}
      memories.set(request, memory)
      return memory
    },
  })
  return {
    session: api.session,
    requireSession: api.guard,
    signIn: api.signIn,
    signOut: api.signOut,
    async onRequest(context, next) {
      Object.assign(context.locals, { auth: () => api.session(context) })
      if (context.isPrerendered) return next()
      return (await api.route(context)) ?? pending.collect(context.request, next)
    },
  }
}

function clientAddressOf(context: AstroContext): string | undefined {
  try {
    return context.clientAddress
  } catch {
    return undefined
  }
}
