/** Elysia 1 on Bun and Node: `new Elysia().onRequest(auth.elysia.handler)`, or `ElysiaAuth(config)`. */
import { assertOptions, type Awaitable, type Kernel, type NoOptions, type Plugin, type Session } from 'authkernel/kernel'
import type { GuardOptions, SignInOptions } from './_shared/actions.ts'
import { addressFrom } from './_shared/edge.ts'
import { type ConfigSource, kernelsOf } from './_shared/kernels.ts'
import { createWebApi } from './_shared/web-api.ts'

export { AuthError, CredentialsSignin, customFetch } from 'authkernel/kernel'
export type { GuardOptions, SignInOptions } from './_shared/actions.ts'

/** The parts of Elysia's context that are used here. */
export interface ElysiaContext {
  request: Request
  /** Headers of the response to come. Elysia keeps several cookies in a list. */
  set: { headers: Record<string, unknown> }
  /** Bun's server; tells the address of the client. */
  server?: unknown
}

/** What `auth.elysia` offers. */
export interface ElysiaApi {
  /** Every route of authkernel, for `onRequest`, which runs before a body is parsed. Also paths at the origin's root that plugins answer. Others go on. */
  handler(context: ElysiaContext): Promise<Response | undefined>
  /** For `resolve` or `derive`: puts `session` into the context. A refreshed cookie goes out with the response. */
  resolve(context: ElysiaContext): Promise<{ session: Session | null }>
  /** For `beforeHandle`: lets signed-in users pass. Others: browsers are sent to the sign-in page and back, everything else gets 401 JSON. */
  requireSession(options?: GuardOptions): (context: ElysiaContext) => Promise<Response | undefined>
  /** The session, read once per request. Rejects when the store is down. */
  session(context: ElysiaContext): Promise<Session | null>
  /** The answer that signs in; return it. Rejects with `CredentialsSignin` and other `AuthError`s. */
  signIn(context: ElysiaContext, provider?: string, options?: SignInOptions): Promise<Response>
  /** The answer that signs out; return it. */
  signOut(context: ElysiaContext, options?: { redirectTo?: string | undefined }): Promise<Response>
}

/** Puts `elysia` on `auth`. */
export function elysiaBinding(options: NoOptions = {}): Plugin<{ elysia: ElysiaApi }> {
  assertOptions('elysiaBinding', options, {})
  return { name: 'elysia', setup: (kernel) => ({ elysia: elysiaApi(() => kernel) }) }
}

/** The API of a configuration, or of a function of the context. */
export function ElysiaAuth(config: ConfigSource<ElysiaContext>, ...plugins: readonly Plugin[]): ElysiaApi {
  return elysiaApi(kernelsOf('elysia', config, { plugins }))
}

function elysiaApi(kernel: (context: ElysiaContext) => Awaitable<Kernel>): ElysiaApi {
  const api = createWebApi<ElysiaContext>({
    argument: { has: ['request', 'set'], say: "elysia binding: give Elysia's context: `auth.elysia.session(context)`." },
    kernel,
    request: ({ request }) => request,
    options: ({ request, server }) => ({ clientAddress: addressFrom(server, request) }),
    cookies: ({ set }, headers) => appendSetCookies(set.headers, headers.getSetCookie()),
  })
  return {
    handler: api.route,
    session: api.session,
    signIn: api.signIn,
    signOut: api.signOut,
    resolve: async (context) => ({ session: await api.session(context) }),
    requireSession: (options) => async (context) => {
      const found = await api.guard(context, options)
      return found instanceof Response ? found : undefined
    },
  }
}

/** Beside those that the app has set. */
function appendSetCookies(headers: Record<string, unknown>, cookies: readonly string[]): void {
  if (cookies.length === 0) return
  const known = headers['set-cookie']
  headers['set-cookie'] = [...(Array.isArray(known) ? known : known === undefined ? [] : [known]), ...cookies]
}
