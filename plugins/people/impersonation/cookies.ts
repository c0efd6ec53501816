/** Sessions in cookies that are not those of the request: kept, opened, and put into one answer. */
import type { Context, Kernel } from 'authkernel/kernel'

/** The same request with other cookies: settings, tenant and origin are found as for the first one. */
export function contextWith(kernel: Kernel, { request }: Context, cookies: string): Promise<Context> {
  const headers = new Headers(request.headers)
  for (const name of ['cookie', 'authorization', 'x-api-key', 'content-type', 'content-length']) headers.delete(name)
  if (cookies !== '') headers.set('cookie', cookies)
  return kernel.contextOf(new Request(request.url, { headers }))
}

/** The session of stored cookies in the browser that is here: its other cookies are those of the request. */
export function contextBehind(kernel: Kernel, ctx: Context, stored: string): Promise<Context> {
  const { name } = ctx.cookies.sessionToken
  const known = new Set(stored.split('; ').map(nameOf))
  const others = (ctx.request.headers.get('cookie') ?? '').split(/; */).filter((line) => {
    const own = nameOf(line)
    return line !== '' && own !== name && !own.startsWith(`${name}.`) && !known.has(own)
  })
  return contextWith(kernel, ctx, [stored, ...others].filter((line) => line !== '').join('; '))
}

/** What a browser would send after an answer of this context. */
export function cookiesOf(kernel: Kernel, ctx: Context): string {
  return linesOf(kernel, ctx)
    .filter((line) => !isDeletion(line))
    .map((line) => line.split(';')[0])
    .join('; ')
}

/** A redirect with the cookies of `now`; of `before`, which the browser had, what `now` does not write is deleted. */
export function redirectWith(kernel: Kernel, target: string, now: Context, before: Context): Response {
  const lines = linesOf(kernel, now)
  const written = new Set(lines.map(nameOf))
  const stale = linesOf(kernel, before).filter((line) => isDeletion(line) && !written.has(nameOf(line)))
  const headers = new Headers({ Location: target, 'Cache-Control': 'private, no-store' })
  for (const line of [...stale, ...lines]) headers.append('Set-Cookie', line)
  return new Response(null, { status: 302, headers })
}

function linesOf(kernel: Kernel, ctx: Context): string[] {
  return kernel.answer(ctx, new Response(null)).headers.getSetCookie()
}
function nameOf(line: string): string {
  return line.slice(0, line.indexOf('='))
}
function isDeletion(line: string): boolean {
  return /;\s*Max-Age=0(?:;|$)/i.test(line)
}
