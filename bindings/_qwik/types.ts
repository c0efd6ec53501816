/** Types of the Qwik binding: structural, so that Qwik's own are no part of ours. */
import type { Auth, AuthConfig } from 'authkernel'
import type { Awaitable, Session } from 'authkernel/kernel'
import type { GuardOptions, SignInOptions } from '../_shared/actions.ts'
import type { SetCookie } from '../_shared/set-cookie.ts'

/** Input of `useSignIn`; in a form: `providerId`, `redirectTo`, `options.email`, `authorizationParams.prompt`. */
export interface SignInInput {
  /** Absent: the sign-in page. */
  providerId?: string | undefined
  /** Default: the page of the form. */
  redirectTo?: string | undefined
  /** Fields of the provider's form, and another place for `redirectTo`. */
  options?: ({ redirectTo?: string | undefined } & Readonly<Record<string, unknown>>) | undefined
  /** Sent on to an OAuth provider. */
  authorizationParams?: string | URLSearchParams | Readonly<Record<string, string>> | undefined
}
/** Input of `useSignOut`. */
export interface SignOutInput {
  redirectTo?: string | undefined
}
/** The result of an action whose input was wrong. */
export interface Failure<K extends string> {
  readonly failed: true
  readonly fieldErrors: { readonly [key in K]?: string[] | undefined }
  readonly formErrors: string[]
}
/** The parts of a request event that are used here. */
export interface QwikEvent {
  request: Request
  url: URL
  env: { get(name: string): string | undefined }
  cookie: { set(name: string, value: string, options: SetCookie['options']): void }
  sharedMap: Map<string, unknown>
  /** Of the response. */
  headers: Headers
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
  readonly submit: QwikSubmit<(input: I | FormData | SubmitEvent) => Promise<{ readonly status?: number; readonly value: R }>>
}
/** A function of Qwik's that components may call: its QRL. */
export type QwikSubmit<F> = F & {
  __brand__QRL__: F
  resolve(): Promise<F>
  resolved: F | undefined
  getCaptured(): unknown[] | null
  getSymbol(): string
  getHash(): string
  dev: { file: string; lo: number; hi: number } | null
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

/** What `auth.qwik` offers. */
export interface QwikApi {
  /** Answers the routes of authkernel; for other paths it puts the session into `sharedMap`, where `useSession` finds it. */
  onRequest(event: QwikEvent): Promise<void>
  /** The session, read once per request. Rejects when the store is down (D38). */
  session(event: QwikEvent): Promise<Session | null>
  /** The session, for loaders and `onRequest`. Without one it throws the redirect to the sign-in page and back; 401 for what is no page. */
  requireSession(event: QwikEvent, options?: GuardOptions): Promise<Session>
  /**
   * For actions of one's own: `return await auth.qwik.signIn(event, 'acme')`. Redirects, by a throw or, for Qwik's router, by returning.
   * Rejects with the `AuthError`; with `errors: 'page'` it redirects to the page that shows the error.
   */
  signIn(event: QwikEvent, provider?: string, options?: SignInOptions & { errors?: 'throw' | 'page' }): Promise<void>
  signOut(event: QwikEvent, options?: { redirectTo?: string | undefined; errors?: 'throw' | 'page' }): Promise<void>
}
/** What `QwikAuth$` returns. */
export interface QwikAuth {
  onRequest: (event: QwikEvent) => Promise<void>
  useSession: QwikLoader<Session | null>
  useSignIn: QwikAction<SignInInput, Success | Failure<keyof SignInInput>>
  useSignOut: QwikAction<SignOutInput, Success | Failure<keyof SignOutInput>>
}
/** A session with the Set-Cookie headers that reading it gave, under the name that @auth/qwik gives the type (row 307). */
export type GetSessionResult = Promise<{ data: Session | null; cookie: string[] }>
/** Options of every binding. */
export type QwikAuthConfig = AuthConfig
/** Options, or an `auth` with `qwikBinding()`, for each request. */
export type QwikSource = (event: QwikEvent) => Awaitable<AuthConfig | Auth<{ qwik: QwikApi }>>
