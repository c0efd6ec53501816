/** Redirect URIs of apps (RFC 8252 section 7), and the way back to them. */
import { redirectTo, withParams } from 'authkernel/kernel'

/** `claimed`: only the app gets it. Any program on the device may receive the others, so that the user confirms them. */
type RedirectKind = 'claimed' | 'loopback' | 'scheme'

// Of the text and not of a parsed URL: `http://127.0.0.1:80@example.com` has another host.
const loopback = /^http:\/\/(127\.0\.0\.1|\[::1\])(?::(\d{1,5}))?((?:[/?][^#\s\\]*)?)$/

// RFC 8252 section 8.3 advises against it, and tools of developers use it all the same: the name may lead to another device where a resolver is misled.
const localhost = /^http:\/\/(localhost)(?::(\d{1,5}))?((?:[/?][^#\s\\]*)?)$/

// RFC 8252 section 7.1: a reversed domain has a dot, so that `javascript:` and `data:` are none.
const reversedDomain = /^[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)+:\/?[^#\s\\]*$/

/** Undefined: no redirect URI of an app. `name`: a loopback address may be written as `localhost`. */
export function redirectKind(uri: string, name?: 'localhost'): RedirectKind | undefined {
  if (typeof uri !== 'string' || uri.length > 1000 || /[^\x21-\x7e]|[\\#]/.test(uri) || !URL.canParse(uri)) return undefined
  if (loopback.test(uri) || (name === 'localhost' && localhost.test(uri))) return 'loopback'
  const { protocol, username, password } = new URL(uri)
  if (protocol === 'https:') return username === '' && password === '' && uri.startsWith('https://') ? 'claimed' : undefined
  return reversedDomain.test(uri) ? 'scheme' : undefined
}

/** Whether a URI is the registered one: byte for byte, but for the port of a loopback address (RFC 8252 section 7.3). */
export function isRegistered(registered: string, given: string): boolean {
  if (registered === given) return true
  const [own, other] = [loopback.exec(registered) ?? localhost.exec(registered), loopback.exec(given) ?? localhost.exec(given)]
  if (!own || !other) return false
  const port = Number(other[2] ?? 80)
  return own[1] === other[1] && own[3] === other[3] && port >= 1 && port <= 65_535
}

/** Where the answer goes. */
export interface Target {
  redirectUri: string
  state: string | undefined
  /** `iss` of the answer (RFC 9207). */
  issuer: string
}

/** The response of the authorization endpoint. */
export function redirectBack({ redirectUri, state, issuer }: Target, params: Record<string, string>): Response {
  return redirectTo(withParams(redirectUri, { ...params, state, iss: issuer }), { 'Referrer-Policy': 'no-referrer' })
}
