/** Nuxt 3 and 4, on h3: `export const auth = NuxtAuth(config)`, or `createAuth().use(nuxtBinding())`. */
import { assertOptions, type NoOptions, type Plugin, type Session } from 'authkernel/kernel'
import type { GuardOptions, SignInOptions } from './_shared/actions.ts'
import { type AnyH3Event, h3Api, type H3Event } from './_shared/h3.ts'
import { type ConfigSource, type Kernels, kernelsOf } from './_shared/kernels.ts'

export { AuthError, CredentialsSignin, customFetch } from 'authkernel/kernel'
export type { Account, DefaultSession, Profile, Session, User } from 'authkernel/kernel'
export type { GuardOptions, SignInOptions } from './_shared/actions.ts'
export type { AnyH3Event, H3Event, H3EventOfNode } from './_shared/h3.ts'

/** What `handler` puts on the context of every event. */
export interface NuxtAuthContext {
  /** The session, read once per request. Rejects when the store is down. */
  auth(): Promise<Session | null>
}

/** What `NuxtAuth` returns and `auth.nuxt` offers. For code of the server: `server/`, and plugins that run there. */
export interface NuxtApi {
  /**
   * For `server/middleware/auth.ts`: answers the routes of authkernel, and the paths at the origin's root that plugins answer. For other
   * requests it puts `auth()` on `event.context`. Pages of the app below the base path stay pages.
   */
  handler(event: AnyH3Event): Promise<Response | undefined>
  /** The session, as `event.context.auth()`. A refreshed cookie goes out with the response. Rejects when the store is down. */
  session(event: AnyH3Event): Promise<Session | null>
  /** The session. Without one: browsers that ask for a page are sent to the sign-in page and back, everything else gets 401, by a throw. */
  requireSession(event: AnyH3Event, options?: GuardOptions): Promise<Session>
  /** The answer that signs in; return it. Rejects with `CredentialsSignin` and other `AuthError`s. */
  signIn(event: AnyH3Event, provider?: string, options?: SignInOptions): Promise<Response>
  /** The answer that signs out; return it. */
  signOut(event: AnyH3Event, options?: { redirectTo?: string | undefined }): Promise<Response>
}

/** Puts `nuxt` on `auth`. */
export function nuxtBinding(options: NoOptions = {}): Plugin<{ nuxt: NuxtApi }> {
  assertOptions('nuxtBinding', options, {})
  return { name: 'nuxt', setup: (kernel) => ({ nuxt: nuxtApi(() => kernel) }) }
}

/** The API of a configuration, or of a function of the event: `NuxtAuth((event) => ({ secret: useRuntimeConfig(event).authSecret }))`. */
export function NuxtAuth(config: ConfigSource<H3Event>, ...plugins: readonly Plugin[]): NuxtApi {
  return nuxtApi(kernelsOf('nuxt', config, { plugins }))
}

function nuxtApi(kernel: Kernels<H3Event>): NuxtApi {
  const api = h3Api(kernel, 'route', "nuxt binding: give Nuxt's event: `auth.nuxt.session(event)`.")
  return {
    session: api.session,
    signIn: api.signIn,
    signOut: api.signOut,
    async handler(event) {
      const own = await api.handler(event)
      if (own) return own
      const context: NuxtAuthContext = { auth: () => api.session(event) }
      Object.assign(event.context, context)
      return undefined
    },
    async requireSession(event, options) {
      const refusal = await api.requireSession(options)(event)
      if (refusal) throw await createRefusalError(event, refusal)
      return event.context.session as Session
    },
  }
}

/** What to throw for a rejection. h3 1 takes status and headers from its event, version 2 from the error. */
async function createRefusalError(event: AnyH3Event, { status, headers }: Response): Promise<Error> {
  if ('node' in event && event.node?.res && !event.node.res.headersSent)
    for (const [name, value] of headers) if (name !== 'content-type') event.node.res.setHeader(name, value)
  return Object.assign(new UnauthorizedError(status === 401 ? 'Unauthorized' : 'Sign in first'), { statusCode: status, status, headers })
}

/** Of a class that h3 knows as foreseen: it is answered, and not logged as a bug. */
class UnauthorizedError extends Error {
  static readonly __h3_error__ = true
  readonly fatal = false
  readonly unhandled = false
  readonly statusMessage: string = this.message
  override readonly name: string = 'H3Error'
  toJSON(): Record<string, unknown> {
    return { message: this.message, statusCode: Reflect.get(this, 'statusCode') }
  }
}
