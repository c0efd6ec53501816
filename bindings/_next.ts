/** What Next knows of the running request, and may still be told: `headers()`, `cookies()`, `redirect()`. */
import { setHostRequest } from 'authkernel/kernel'
import { cookiesOf, type SetCookie } from './_shared/set-cookie.ts'

/** What `cookies()` gives; `set` throws while a page is drawn. */
export interface CookieStore {
  getAll(): { name: string; value: string }[]
  set(name: string, value: string, options: SetCookie['options']): unknown
}
/** A request as the kernel wants it, and where its cookies go. */
export interface Scope {
  request: Request
  /** What a configuration function is given; undefined: Next gave none. */
  source: Request | undefined
  /** Undefined: the response may not have cookies. */
  write: ((headers: Headers) => void) | undefined
}

const scopes = new WeakMap<CookieStore, Scope>()

/** The request that a server component, an action or a route handler runs in. */
export async function currentScope(): Promise<Scope> {
  // Nothing of a session may be part of what is prerendered. With `cacheComponents` Next says so by stopping here, before the time is asked.
  const { connection } = await import('next/server')
  await connection?.()
  const next = await import('next/headers')
  const [given, store] = await Promise.all([next.headers(), next.cookies()])
  let scope = scopes.get(store)
  if (!scope) {
    const headers = new Headers(given)
    // The store knows what an action has set meanwhile; the header does not. But the store has one of two cookies of a name, and hides that there were two.
    const sent = (headers.get('cookie') ?? '').split(/; */)
    const nameOf = (pair: string): string => pair.split('=', 1)[0] ?? ''
    const doubled = sent.filter((pair, at) => sent.some((other, place) => place !== at && nameOf(other) === nameOf(pair)))
    const known = store.getAll().map(({ name, value }) => `${name}=${encodeURIComponent(value)}`)
    headers.set('cookie', [...known, ...doubled].join('; '))
    scope = {
      request: setHostRequest(new Request(requestUrlOf(headers, '/'), { headers }), store),
      source: undefined,
      write: isWritable(store) ? cookieWriter(store) : undefined,
    }
    scopes.set(store, scope)
  }
  return scope
}

/** The request with the host that the browser named: Next puts its own listening address into the URL. */
export function withBrowserHost(request: Request & { nextUrl?: { href: string } }): Request {
  const url = new URL(request.nextUrl?.href ?? request.url)
  const address = requestUrlOf(request.headers, url.pathname + url.search, url)
  if (address === request.url) return request
  const { method, headers, body, signal } = request
  const init: RequestInit & { duplex: 'half' } = { method, headers, signal, duplex: 'half' }
  if (body) init.body = body
  return setHostRequest(new Request(address, init), request)
}

/** A request of the Pages Router, and where its cookies go. */
export function nodeScope(
  req: { headers: Readonly<Record<string, string | string[] | undefined>> },
  res: { headersSent?: boolean; appendHeader(name: string, value: string[]): unknown },
): Scope {
  const headers = new Headers()
  for (const [name, value] of Object.entries(req.headers))
    for (const item of value === undefined ? [] : [value].flat()) headers.append(name, item)
  const write = (found: Headers): void => {
    const cookies = found.getSetCookie()
    if (cookies.length > 0) res.appendHeader('set-cookie', cookies)
  }
  const request = setHostRequest(new Request(requestUrlOf(headers, '/'), { headers }), req)
  return { request, source: undefined, write: res.headersSent ? undefined : write }
}

/** Goes there, by Next's own throw. */
export async function redirectByNext(location: string): Promise<never> {
  const { redirect } = await import('next/navigation')
  return redirect(location)
}

/** Lets a request of the proxy pass. */
export async function passRequest(): Promise<Response> {
  const { NextResponse } = await import('next/server')
  return NextResponse.next()
}

/** The protocol is Next's own view: it writes x-forwarded-proto when no proxy before it did. The host is the Host header (D34). */
function requestUrlOf(headers: Headers, path: string, fallback?: URL): string {
  const said = headers.get('x-forwarded-proto')?.split(',')[0]?.trim()
  const protocol = said === 'http' || said === 'https' ? `${said}:` : (fallback?.protocol ?? 'http:')
  const address = `${protocol}//${headers.get('host') ?? fallback?.host ?? 'localhost'}`
  // Joined as text: a path of two slashes would name a host.
  return new URL((URL.canParse(address) ? new URL(address).origin : 'http://localhost') + path).href
}

/**
 * Whether cookies may be set here. Next tells only by throwing: a read-only store rejects, a writable one fails on the missing name before it
 * has changed anything.
 */
function isWritable(store: CookieStore): boolean {
  try {
    // Without a name, on purpose.
    store.set(...([] as unknown as Parameters<CookieStore['set']>))
    return false
  } catch (error) {
    return error instanceof TypeError
  }
}

function cookieWriter(store: CookieStore): (headers: Headers) => void {
  return (headers) => {
    // Next encodes values again.
    for (const { name, value, options } of cookiesOf(headers)) store.set(name, decodeURIComponent(value), options)
    scopes.delete(store)
  }
}
