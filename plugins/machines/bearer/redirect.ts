/** Redirect URIs of apps (RFC 8252 section 7). */

/** `claimed`: only the app gets it. The others any program on the device may receive, so that people are asked. */
export type RedirectKind = 'claimed' | 'loopback' | 'scheme'

// Of the text and not of a parsed URL: `http://127.0.0.1:80@example.com` has another host.
const loopback = /^http:\/\/(127\.0\.0\.1|\[::1\])(?::(\d{1,5}))?((?:[/?][^#\s\\]*)?)$/
// RFC 8252 section 7.1: a reversed domain has a dot, so that `javascript:` and `data:` are none.
const reversed = /^[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)+:\/?[^#\s\\]*$/

/** Undefined: no redirect URI of an app. */
export function redirectKind(uri: string): RedirectKind | undefined {
  if (typeof uri !== 'string' || uri.length > 1000 || /[^\x21-\x7e]|[\\#]/.test(uri) || !URL.canParse(uri)) return undefined
  if (loopback.test(uri)) return 'loopback'
  const { protocol, username, password } = new URL(uri)
  if (protocol === 'https:') return username === '' && password === '' && uri.startsWith('https://') ? 'claimed' : undefined
  return reversed.test(uri) ? 'scheme' : undefined
}

/** Whether a URI is the registered one: byte for byte, but for the port of a loopback address (RFC 8252 section 7.3). */
export function isRegistered(registered: string, given: string): boolean {
  if (registered === given) return true
  const [own, other] = [loopback.exec(registered), loopback.exec(given)]
  if (!own || !other) return false
  const port = Number(other[2] ?? 80)
  return own[1] === other[1] && own[3] === other[3] && port >= 1 && port <= 65_535
}
