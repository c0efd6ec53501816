/** What server code does with web requests, in every binding: sign in, sign out, reject. */
import { assertOptions, type Awaitable, type HandleOptions, HttpError, type Kernel, type Session, setHostRequest } from 'authkernel/kernel'

/** What server code says when it signs a user in. */
export interface SignInOptions {
  /** Where to end up: a path or a URL on the own origin; default: the page that sent the form (Referer). */
  redirectTo?: string | undefined
  /** Fields of the provider's form: `email`, or what `authorize` is given. */
  fields?: Readonly<Record<string, unknown>> | undefined
  /** Sent on to an OAuth provider: `{ prompt: 'login' }` (D11). */
  authorizationParams?: Readonly<Record<string, string>> | string | URLSearchParams | undefined
}

/** Options of a guard. */
export interface GuardOptions {
  /** Path of the host's choice for users without a session; default: the sign-in page, which leads back (row 371). */
  redirectTo?: string | undefined
  /**
   * Asked about a user with a session. A `Response` is sent instead of the page, as `auth.stepUp.require(request)` answers one. `true` or a session allows the action. Anything else gets status 403, so that a forgotten `return` rejects. `request` has no body.
   */
  check?: ((request: Request, session: Session) => Awaitable<Response | Session | boolean | null | undefined | void>) | undefined
}

/**
 * Starts a sign-in for the request at hand, as its browser would: `origin` mode checks where the request comes from (D30).
 * Without a provider, or with an unknown one, the answer leads to the sign-in page. Throws `AuthError`s: `CredentialsSignin`, `AccessDenied` …,
 * through the entry `handler` it answers with the redirect to the page that shows them.
 */
export async function signInResponse(
  kernel: Kernel,
  request: Request,
  options: HandleOptions,
  provider: string | undefined,
  given: SignInOptions = {},
  entry: 'dispatch' | 'handler' = 'dispatch',
): Promise<Response> {
  assertOptions('signIn', given, { redirectTo: true, fields: true, authorizationParams: true })
  const { redirectTo, fields, authorizationParams } = given
  const ctx = await kernel.contextOf(request, options)
  const callbackUrl = redirectTo ?? request.headers.get('referer') ?? '/'
  const found = (await ctx.providers()).find(({ id }) => id === provider)
  if (!found) return ctx.page('signIn', { callbackUrl })
  const post = ctx.flow(found).form?.(found).post ?? 'signin'
  const query = new URLSearchParams(authorizationParams).toString()
  const url = `${ctx.base}/${post}/${encodeURIComponent(found.id)}${query === '' ? '' : `?${query}`}`
  return kernel.entryPoints[entry](createActionRequest(request, url, { ...fields, callbackUrl }), { ...options, csrf: 'origin' })
}

/** Ends the session of the request at hand. Throws `SignOutError` when the store could not. */
export async function signOutResponse(
  kernel: Kernel,
  request: Request,
  options: HandleOptions,
  given: { redirectTo?: string | undefined } = {},
  entry: 'dispatch' | 'handler' = 'dispatch',
): Promise<Response> {
  assertOptions('signOut', given, { redirectTo: true })
  const { redirectTo } = given
  const { base } = await kernel.contextOf(request, options)
  const callbackUrl = redirectTo ?? request.headers.get('referer') ?? '/'
  return kernel.entryPoints[entry](createActionRequest(request, `${base}/signout`, { callbackUrl }), { ...options, csrf: 'origin' })
}

/** Sends data to the `jwt` or `session` callback (trigger `update`); the answer is the session as JSON. */
export async function updateResponse(kernel: Kernel, request: Request, options: HandleOptions, data: unknown): Promise<Response> {
  const { base } = await kernel.contextOf(request, options)
  return kernel.entryPoints.dispatch(createActionRequest(request, `${base}/session`, { data }), { ...options, csrf: 'origin' })
}

/** What a guard found; an `HttpError` of the reading, such as a missing nonce, is for `refusal` to answer. */
export function readForGuard(reading: Promise<Session | null>): Promise<Session | HttpError | null> {
  return reading.catch((error: unknown) => {
    if (error instanceof HttpError) return error
    throw error
  })
}

/** The error for apps whose access token gives no access (RFC 6750 section 3); undefined: the request has none, or no plugin knows them. */
export async function createChallenge(
  kernel: Kernel,
  request: Request,
  options: HandleOptions,
  error?: HttpError,
): Promise<Response | undefined> {
  if (!/^(Bearer|DPoP) /i.test(request.headers.get('authorization') ?? '')) return undefined
  const ctx = await kernel.contextOf(request, options)
  return ctx.app.services.appTokens?.challenge?.(ctx, error)
}

/**
 * For requests without a session: browsers are sent to the sign-in page and back, everything else gets 401 JSON. Throws `found` when it is an error that is
 * not about a token.
 */
export async function createRefusal(
  kernel: Kernel,
  request: Request,
  options: HandleOptions,
  guard: GuardOptions = {},
  found: Session | HttpError | null = null,
): Promise<Response> {
  assertGuard(guard)
  const { redirectTo } = guard
  const error = found instanceof HttpError ? found : undefined
  const challenge = await createChallenge(kernel, request, options, error)
  if (challenge) return challenge
  if (error) throw error
  const headers = { 'Cache-Control': 'private, no-store', Vary: 'Accept, Cookie' }
  if (!request.headers.get('accept')?.includes('text/html')) return Response.json({ error: 'Unauthorized' }, { status: 401, headers })
  if (redirectTo !== undefined) return new Response(null, { status: 302, headers: { ...headers, Location: redirectTo } })
  const ctx = await kernel.contextOf(request, options)
  // A form that was posted cannot be posted again by a redirect: back to the page it was on.
  const repeatable = request.method === 'GET' || request.method === 'HEAD'
  const page = ctx.page('signIn', { callbackUrl: repeatable ? ctx.url.href : (request.headers.get('referer') ?? ctx.origin) })
  return new Response(null, { status: 302, headers: { ...headers, Location: page.headers.get('location') ?? ctx.base } })
}

/** What a signed-in user gets instead of the page; undefined: nothing. `toRequest` is called where there is a `check`. */
export async function runCheck(
  toRequest: () => Awaitable<Request>,
  session: Session,
  guard: GuardOptions = {},
): Promise<Response | undefined> {
  assertGuard(guard)
  const { check } = guard
  if (!check) return undefined
  const request = await toRequest()
  const answer = await check(request, session)
  if (answer instanceof Response) return answer
  if (answer) return undefined
  const headers = { 'Cache-Control': 'private, no-store', Vary: 'Accept, Cookie' }
  if (!request.headers.get('accept')?.includes('text/html')) return Response.json({ error: 'Forbidden' }, { status: 403, headers })
  return new Response('Forbidden', { status: 403, headers: { ...headers, 'Content-Type': 'text/plain; charset=utf-8' } })
}

/** A misspelt `check` would let every request pass. */
export function assertGuard(guard: GuardOptions | undefined): void {
  assertOptions('The guard', guard ?? {}, { redirectTo: true, check: true })
}

function createActionRequest(request: Request, url: string, body: Readonly<Record<string, unknown>>): Request {
  const headers = new Headers(request.headers)
  // They described another body; and a client's wish for JSON is not that of the code that called.
  for (const name of ['content-length', 'content-encoding', 'transfer-encoding', 'x-auth-return-redirect']) headers.delete(name)
  headers.set('content-type', 'application/json')
  return setHostRequest(new Request(url, { method: 'POST', headers, body: JSON.stringify(body) }), request)
}
