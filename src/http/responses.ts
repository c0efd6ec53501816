/** The shapes of answer that routes share. */

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
