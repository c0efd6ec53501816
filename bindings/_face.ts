/** What server code of every Node framework may do: session, guard, sign-in, sign-out. The frameworks differ in a seam only. */
import type { HandleOptions, Kernel, Session } from 'authkernel/kernel'
import { type SignInOptions, signInResponse, signOutResponse } from './_actions.ts'

/** How a framework's request is read; `C` is the object its routes get. */
export interface Seam<C> {
  /** Without its body. */
  request(from: C): Request
  options(from: C): HandleOptions
  /** Adds the Set-Cookie headers to the response, as long as that is possible. */
  cookies(from: C, headers: Headers): void
}
/** Options of a guard. */
export interface GuardOptions {
  /** Path of the host's choice for people without a session; default: the sign-in page, which leads back (row 371). */
  redirectTo?: string | undefined
}
/** What bindings turn into their framework's own words. */
export interface Face<C> {
  session(from: C): Promise<Session | null>
  user(from: C): Promise<NonNullable<Session['user']> | null>
  /** The answer for people without a session; undefined: let them pass. */
  guard(from: C, options?: GuardOptions): Promise<Response | undefined>
  signIn(from: C, provider?: string, options?: SignInOptions): Promise<Response>
  signOut(from: C, options?: { redirectTo?: string | undefined }): Promise<Response>
}

/** The face over the kernel's doors. A session is read once per request. */
export function createFace<C extends object>(kernel: Kernel, seam: Seam<C>): Face<C> {
  const sessions = new WeakMap<C, Promise<Session | null>>()
  const session = (from: C): Promise<Session | null> => {
    let reading = sessions.get(from)
    if (!reading) sessions.set(from, (reading = read(kernel, seam, from)))
    return reading
  }
  return {
    session,
    user: async (from) => (await session(from))?.user ?? null,
    guard: async (from, options) =>
      (await session(from))?.user ? undefined : refusal(kernel, seam.request(from), seam.options(from), options),
    async signIn(from, provider, options) {
      const response = await signInResponse(kernel, seam.request(from), seam.options(from), provider, options)
      sessions.delete(from)
      return response
    },
    async signOut(from, options) {
      const response = await signOutResponse(kernel, seam.request(from), seam.options(from), options?.redirectTo)
      sessions.delete(from)
      return response
    },
  }
}

/** Browsers are sent to the sign-in page and back, everything else gets 401 JSON. */
export async function refusal(
  kernel: Kernel,
  request: Request,
  options: HandleOptions,
  { redirectTo }: GuardOptions = {},
): Promise<Response> {
  const headers = { 'Cache-Control': 'private, no-store', Vary: 'Accept, Cookie' }
  if (!request.headers.get('accept')?.includes('text/html')) return Response.json({ error: 'Unauthorized' }, { status: 401, headers })
  if (redirectTo !== undefined) return new Response(null, { status: 302, headers: { ...headers, Location: redirectTo } })
  const ctx = await kernel.context(request, options)
  // A form that was posted cannot be posted again by a redirect: back to the page it was on.
  const repeatable = request.method === 'GET' || request.method === 'HEAD'
  const page = ctx.page('signIn', { callbackUrl: repeatable ? ctx.url.href : (request.headers.get('referer') ?? ctx.origin) })
  return new Response(null, { status: 302, headers: { ...headers, Location: page.headers.get('location') ?? ctx.base } })
}

async function read<C>(kernel: Kernel, seam: Seam<C>, from: C): Promise<Session | null> {
  const { session, headers } = await kernel.doors.read(seam.request(from), seam.options(from))
  seam.cookies(from, headers)
  return session
}
