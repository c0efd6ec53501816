/** Sessions that a browser does not show: their cookies are kept on the server, opened in the place of its own, and put into one answer. */
import type { Context } from '../contract/context.ts'
import type { Kernel } from '../contract/plugin.ts'
import { setHostRequest } from '../http/messages.ts'
import type { KernelContext } from '../registry/snapshot.ts'

// Headers that belong to the body, or say who is signed in.
const notOfTheSession = ['cookie', 'authorization', 'content-type', 'content-length']

/**
 * The same request with the session of `stored` cookies instead of the browser's own. Settings, tenant, origin and the other cookies are those of the request. With
 * `''` the request is signed out; with null the session is the browser's own, in a context that collects its cookies separately.
 */
export function contextBehind(kernel: Pick<Kernel, 'contextOf'>, ctx: Context, stored: string | null): Promise<Context> {
  const { request, cookies } = ctx
  const headers = new Headers(request.headers)
  const { compiled, presented } = ctx as KernelContext
  for (const name of [...notOfTheSession, ...compiled.credentials.map(({ header }) => header)]) headers.delete(name)
  // A request with a credential in a header has no cookies, here neither.
  const hasCookies = presented.length === 0
  const sent = hasCookies ? (request.headers.get('cookie') ?? '').split(/; */).filter((pair) => pair !== '') : []
  const { name } = cookies.sessionToken
  const known = new Set((stored ?? '').split('; ').map(nameOf))
  const isOther = (pair: string): boolean => {
    const own = nameOf(pair)
    return own !== name && !own.startsWith(`${name}.`) && !known.has(own)
  }
  const all = stored === null ? sent : [...(stored === '' ? [] : [stored]), ...sent.filter(isOther)]
  if (all.length > 0) headers.set('cookie', all.join('; '))
  return kernel.contextOf(setHostRequest(new Request(request.url, { headers }), request))
}

/** What a browser would send after an answer of this context: to be stored sealed. */
export function cookiesToStore(kernel: Pick<Kernel, 'answer'>, ctx: Context): string {
  return linesOf(kernel, ctx)
    .filter((line) => !isDeletion(line))
    .map((line) => line.split(';')[0])
    .join('; ')
}

/** A redirect with the cookies of `now`; of `before`, which the browser had, what `now` does not write is deleted. */
export function redirectBehind(kernel: Pick<Kernel, 'answer'>, target: string, now: Context, before: Context): Response {
  const lines = linesOf(kernel, now)
  const written = new Set(lines.map(nameOf))
  const stale = linesOf(kernel, before).filter((line) => isDeletion(line) && !written.has(nameOf(line)))
  const headers = new Headers({ Location: target, 'Cache-Control': 'private, no-store' })
  for (const line of [...stale, ...lines]) headers.append('Set-Cookie', line)
  return new Response(null, { status: 302, headers })
}

function linesOf(kernel: Pick<Kernel, 'answer'>, ctx: Context): string[] {
  return kernel.answer(ctx, new Response(null)).headers.getSetCookie()
}
function nameOf(line: string): string {
  return line.slice(0, line.indexOf('='))
}
function isDeletion(line: string): boolean {
  return /;\s*Max-Age=0(?:;|$)/i.test(line)
}
