/** Sign-in and sign-out from server code: what every binding's `signIn` and `signOut` do. */
import type { HandleOptions, Kernel } from 'authkernel/kernel'

/** What server code says when it signs somebody in. */
export interface SignInOptions {
  /** Where to end up: a path or a URL on the own origin; default: the page that sent the form (Referer). */
  redirectTo?: string | undefined
  /** Fields of the provider's form: `email`, or what `authorize` is given. */
  fields?: Readonly<Record<string, unknown>> | undefined
  /** Sent on to an OAuth provider: `{ prompt: 'login' }` (D11). */
  authorizationParams?: Readonly<Record<string, string>> | string | URLSearchParams | undefined
}

/**
 * Starts a sign-in for the request at hand, as its browser would: `origin` mode checks where the request comes from (D30).
 * Without a provider, or with an unknown one, the answer leads to the sign-in page. Throws `AuthError`s: `CredentialsSignin`, `AccessDenied` …
 */
export async function signInResponse(
  kernel: Kernel,
  request: Request,
  options: HandleOptions,
  provider: string | undefined,
  { redirectTo, fields, authorizationParams }: SignInOptions = {},
): Promise<Response> {
  const ctx = await kernel.context(request, options)
  const callbackUrl = redirectTo ?? request.headers.get('referer') ?? '/'
  const found = (await ctx.providers()).find(({ id }) => id === provider)
  if (!found) return ctx.page('signIn', { callbackUrl })
  const post = ctx.flow(found).form?.(found).post ?? 'signin'
  const query = new URLSearchParams(authorizationParams).toString()
  const url = `${ctx.base}/${post}/${encodeURIComponent(found.id)}${query === '' ? '' : `?${query}`}`
  return kernel.doors.dispatch(action(request, url, { ...fields, callbackUrl }), { ...options, csrf: 'origin' })
}

/** Ends the session of the request at hand. Throws `SignOutError` when the store could not. */
export async function signOutResponse(kernel: Kernel, request: Request, options: HandleOptions, redirectTo?: string): Promise<Response> {
  const { base } = await kernel.context(request, options)
  const callbackUrl = redirectTo ?? request.headers.get('referer') ?? '/'
  return kernel.doors.dispatch(action(request, `${base}/signout`, { callbackUrl }), { ...options, csrf: 'origin' })
}

function action(request: Request, url: string, body: Readonly<Record<string, unknown>>): Request {
  const headers = new Headers(request.headers)
  // They described another body; and a client's wish for JSON is not that of the code that called.
  for (const name of ['content-length', 'content-encoding', 'transfer-encoding', 'x-auth-return-redirect']) headers.delete(name)
  headers.set('content-type', 'application/json')
  return new Request(url, { method: 'POST', headers, body: JSON.stringify(body) })
}
