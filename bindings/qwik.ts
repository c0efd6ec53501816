/** Qwik City 1: `export const { onRequest, useSession, useSignIn, useSignOut } = QwikAuth$((event) => config)` in `src/routes/plugin@auth.ts`. */
import { implicit$FirstArg, inlinedQrl } from '@builder.io/qwik'
import { globalActionQrl, routeLoaderQrl } from '@builder.io/qwik-city'
import { type Auth, type AuthConfig, setEnvDefaults as setDefaults } from 'authkernel'
import { customFetch as kernelFetch, type Awaitable, type Plugin, type Session } from 'authkernel/kernel'
import type { GuardOptions, SignInOptions } from './_actions.ts'
import { checkSignIn, checkSignOut, type Failure, type SignInInput, type SignOutInput, validator } from './_qwik-input.ts'
import type { SetCookie } from './_set-cookie.ts'

export { AuthError, CredentialsSignin } from 'authkernel/kernel'
export type { GuardOptions, SignInOptions } from './_actions.ts'
export type { Failure, SignInInput, SignOutInput } from './_qwik-input.ts'

/** The symbol for a provider's own fetch; undefined in the browser, which has no providers (row 316). */
export const customFetch: typeof kernelFetch | undefined = typeof window === 'undefined' ? kernelFetch : undefined

/** The parts of a request event that are used here. */
export interface QwikEvent {
  request: Request
  url: URL
  env: { get(name: string): string | undefined }
  cookie: { set(name: string, value: string, options: SetCookie['options']): void }
  sharedMap: Map<string, unknown>
  headersSent?: boolean
  clientConn?: { ip?: string | undefined }
  send(response: Response): unknown
  redirect(status: 302, location: string): unknown
}
/** A function of Qwik's, as far as it is used here. */
export interface Qrl<T> {
  resolve(): Promise<T>
}
/** What `useSignIn()` and `useSignOut()` give a component: Qwik's ActionStore. */
export interface QwikActionStore<I, R> {
  readonly actionPath: string
  readonly isRunning: boolean
  readonly submitted: boolean
  readonly status?: number
  readonly formData: FormData | undefined
  readonly value: R | undefined
  readonly submit: (input: I | FormData | SubmitEvent) => Promise<{ readonly status?: number; readonly value: R }>
}
/** A global action. */
export interface QwikAction<I, R> {
  (): QwikActionStore<I, R>
}
/** A route loader. */
export interface QwikLoader<T> {
  (): Readonly<{ value: T }>
}
/** A validator of an action's input. */
export interface QwikValidator {
  validate(
    event: unknown,
    input: unknown,
  ): Promise<{ success: true; data: unknown } | { success: false; status: number; error: Omit<Failure<string>, 'failed'> }>
}
/** The result of an action whose input was right (rows 311, 377). */
export interface Success {
  readonly failed?: undefined
  readonly fieldErrors?: undefined
  readonly formErrors?: undefined
}

/** What `auth.qwik` offers. Everything that ends a request throws what Qwik wants to be thrown. */
export interface QwikFace {
  /** Answers the routes of authkernel; for other paths it puts the session into `sharedMap`, where `useSession` finds it. */
  onRequest(event: QwikEvent): Promise<void>
  /** The session, read once per request. Rejects when the store is down (D38). */
  session(event: QwikEvent): Promise<Session | null>
  /** The session, for loaders and `onRequest`. Without one it throws the redirect to the sign-in page and back; 401 for what is no page. */
  requireSession(event: QwikEvent, options?: GuardOptions): Promise<Session>
  /** For actions of one's own: throws Qwik's redirect, or the `AuthError`. With `errors: 'page'` it redirects to the page that shows the error. */
  signIn(event: QwikEvent, provider?: string, options?: SignInOptions & { errors?: 'throw' | 'page' }): Promise<never>
  signOut(event: QwikEvent, options?: { redirectTo?: string | undefined; errors?: 'throw' | 'page' }): Promise<never>
}
/** What `QwikAuth$` returns. */
export interface QwikAuth {
  onRequest: (event: QwikEvent) => Promise<void>
  useSession: QwikLoader<Session | null>
  useSignIn: QwikAction<SignInInput, Success | Failure<keyof SignInInput>>
  useSignOut: QwikAction<SignOutInput, Success | Failure<keyof SignOutInput>>
}
/** Options, or an `auth` with `qwikBinding()`, for each request. */
export type QwikSource = (event: QwikEvent) => Awaitable<AuthConfig | Auth<{ qwik: QwikFace }>>

/** Puts `qwik` on `auth`; `QwikAuth$(() => auth)` makes the loader and the actions. */
export function qwikBinding(): Plugin<{ qwik: QwikFace }> {
  return {
    name: 'qwik',
    setup(kernel) {
      const face = once(async () => (await import('./_qwik.ts')).qwikFace(() => kernel))
      const qwik: QwikFace = {
        onRequest: async (event) => (await face()).onRequest(event),
        session: async (event) => (await face()).session(event),
        requireSession: async (event, options) => (await face()).requireSession(event, options),
        signIn: async (event, provider, options) => (await face()).signIn(event, provider, options),
        signOut: async (event, options) => (await face()).signOut(event, options),
      }
      return { qwik }
    },
  }
}

/** `QwikAuth$` as Qwik's optimizer calls it. */
export function QwikAuthQrl(source: QwikSource): QwikAuth {
  const server = once(async () => (await import('./_qwik.ts')).faceOf(source))
  const face = async (event: QwikEvent): Promise<QwikFace> => (await server())(event)
  const useSession = routeLoaderQrl(
    inlinedQrl((event: QwikEvent) => (event.sharedMap.get('session') ?? null) as Session | null, 'useSession_authkernelSession'),
    { id: 'authkernel-session' },
  )
  const useSignIn = globalActionQrl<SignInInput, Success, Failure<keyof SignInInput>>(
    inlinedQrl(async ({ providerId, redirectTo, options, authorizationParams }: SignInInput, event: QwikEvent) => {
      const { redirectTo: other, ...fields } = options ?? {}
      return (await face(event)).signIn(event, providerId, { redirectTo: other ?? redirectTo, fields, authorizationParams, errors: 'page' })
    }, 'useSignIn_authkernelSignIn'),
    { id: 'authkernel-sign-in', validation: [validator(checkSignIn)] },
  )
  const useSignOut = globalActionQrl<SignOutInput, Success, Failure<keyof SignOutInput>>(
    inlinedQrl(
      async ({ redirectTo }: SignOutInput, event: QwikEvent) => (await face(event)).signOut(event, { redirectTo, errors: 'page' }),
      'useSignOut_authkernelSignOut',
    ),
    { id: 'authkernel-sign-out', validation: [validator(checkSignOut)] },
  )
  return { useSession, useSignIn, useSignOut, onRequest: async (event) => (await face(event)).onRequest(event) }
}

/** The face of a configuration that is made for each request (rows 48, 305). The function stays on the server. */
export const QwikAuth$: (source: QwikSource) => QwikAuth = /* @__PURE__ */ implicit$FirstArg(QwikAuthQrl)

/** Fills options that are undefined from the environment of an event: `setEnvDefaults(event.env, config)`. Writes to `config`. */
export function setEnvDefaults(env: QwikEvent['env'], config: AuthConfig): void {
  setDefaults((name) => env.get(name), config)
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => (made ??= make())
}
