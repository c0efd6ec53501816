/** Requests and responses that this library makes: answers in one form, and requests that stand for one of the host. */

// D40: nothing about a session may stay in a cache, a shared one least of all.
const noStore = { 'Cache-Control': 'private, no-store' }

// Made by the first answer: on Node the first `Headers` loads the whole of fetch.
let plain: Headers | undefined

/** A JSON answer, not to be cached unless `headers` says so. */
export function json(body: unknown, status = 200, headers?: Record<string, string>): Response {
  const text = JSON.stringify(body)
  if (headers) return new Response(text, { status, headers: { ...noStore, 'Content-Type': 'application/json', ...headers } })
  // A Response copies the headers that it is given, and on Node it copies `Headers` faster than an object.
  return new Response(text, { status, headers: (plain ??= new Headers({ ...noStore, 'Content-Type': 'application/json' })) })
}

/** Plain text, for hosts without pages. */
export function text(body: string, status = 200): Response {
  return new Response(body, {
    status,
    headers: { ...noStore, 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' },
  })
}

/** 302, the only redirect status of the library (RFC 9700 section 4.12: never 307). */
export function redirectTo(location: string, headers: Record<string, string> = {}): Response {
  return new Response(null, { status: 302, headers: { ...noStore, Location: location, ...headers } })
}

// Bindings and the kernel make a `Request` for each reading of one.
const sources = new WeakMap<Request, object>()

/**
 * Says that `request` was made of another one: of a web request, or of the host's own object, such as Node's `IncomingMessage`. What counts once for a request, such as a
 * DPoP proof, then counts once for both. `from` must be the request that came over the network, never something that several requests share. Returns `request`.
 */
export function setHostRequest<R extends Request>(request: R, from: object): R {
  const host = hostRequestOf(from)
  if (host !== request) sources.set(request, host)
  return request
}

/** The object that stands for the request of the host: the same for all web requests that were made of it. Not marked: the request itself. */
export function hostRequestOf(request: object): object {
  return sources.get(request as Request) ?? request
}

/** The request with fields as its body, as JSON: the stream of the original was read (row 215). For functions of hosts. */
export function withFields(request: Request, fields: Readonly<Record<string, unknown>>): Request {
  const headers = new Headers(request.headers)
  headers.set('content-type', 'application/json')
  headers.delete('content-length')
  return setHostRequest(new Request(request.url, { method: 'POST', headers, body: JSON.stringify(fields) }), request)
}
