/** A binding for Acorn, a framework that does not exist: what `docs/writing-a-binding.md` explains. */
import type { Plugin, Session } from 'authkernel/kernel'
import {
  type ConfigSource,
  createWebApi,
  type GuardOptions,
  type Kernels,
  kernelsOf,
  type SignInOptions,
} from 'authkernel/bindings/toolkit'

/** The parts of Acorn's context that are used here. */
export interface AcornContext {
  request: Request
  ip: string
  /** Headers of the response to come. */
  headers: Headers
  state: { session?: Session | null }
}
/** Acorn calls handlers one after the other, until one answers. */
export type AcornHandler = (context: AcornContext) => Promise<Response | undefined>

/** What `auth.acorn` offers. */
export interface AcornApi {
  /** Every route of authkernel; other paths go on to the next handler. */
  handler: AcornHandler
  /** Puts the session into `context.state.session`. */
  middleware: AcornHandler
  /** Lets people with a session pass. */
  requireSession(options?: GuardOptions): AcornHandler
  /** The session, read once per request. Rejects when the store is down. */
  session(context: AcornContext): Promise<Session | null>
  /** The answer that signs in. Rejects with `CredentialsSignin` and other `AuthError`s. */
  signIn(context: AcornContext, provider?: string, options?: SignInOptions): Promise<Response>
  signOut(context: AcornContext, options?: { redirectTo?: string }): Promise<Response>
}

/** Puts `acorn` on `auth`. */
export function acornBinding(): Plugin<{ acorn: AcornApi }> {
  return { name: 'acorn', setup: (kernel) => ({ acorn: acornApi(() => kernel) }) }
}

/** The same from options, or from a function of the context. */
export function AcornAuth(config: ConfigSource<AcornContext>, ...plugins: readonly Plugin[]): AcornApi {
  return acornApi(kernelsOf('acorn', config, { plugins }))
}

function acornApi(kernel: Kernels<AcornContext>): AcornApi {
  const api = createWebApi<AcornContext>({
    kernel,
    request: ({ request }) => request,
    options: ({ ip }) => ({ clientAddress: ip }),
    cookies: ({ headers }, found) => {
      for (const cookie of found.getSetCookie()) headers.append('set-cookie', cookie)
    },
  })
  return {
    handler: api.route,
    session: api.session,
    signIn: api.signIn,
    signOut: api.signOut,
    async middleware(context) {
      context.state.session = await api.session(context)
      return undefined
    },
    requireSession: (options) => async (context) => {
      const found = await api.guard(context, options)
      if (found instanceof Response) return found
      context.state.session = found
      return undefined
    },
  }
}
