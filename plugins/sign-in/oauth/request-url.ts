/** The URL of an authorization request: what is the same in all requests to a server, and the values of one. */
import type { AuthorizationServer } from 'oauth4webapi'
import { authorizationOf, fill, namesOf } from './endpoints.ts'
import { endpointOf } from './server.ts'
import type { OAuthProvider } from './types.ts'

/** What is the same in all requests to one server. */
export interface Same {
  readonly redirectUri: string
  readonly href: string
  /** Seconds since the last authentication that it allows. */
  readonly maxAge: number | undefined
  /** Whether the values of a request can be written behind it. */
  readonly open: boolean
}
type Values = Readonly<Record<'state' | 'code_challenge' | 'code_challenge_method' | 'nonce', string | undefined>>

const defaultScope = 'openid profile email'
const requests = new WeakMap<AuthorizationServer, Same>()

/** Endpoint and parameters as the host configured them, worked out once. Throws Refusal. */
export function configured(provider: OAuthProvider, server: AuthorizationServer, redirectUri: string): Same {
  const known = requests.get(server)
  if (known?.redirectUri === redirectUri) return known
  const url = endpointOf(server, 'authorization_endpoint', provider)
  configure(url, redirectUri, provider)
  const written = ['state', 'code_challenge', 'code_challenge_method', 'nonce'].some((name) => url.searchParams.has(name))
  const same: Same = { redirectUri, href: url.href, maxAge: maxAgeOf(url), open: !written && url.hash === '' && url.search !== '' }
  requests.set(server, same)
  return same
}

/** The URL with the values that are given. They hold no character that a query must escape. */
export function withValues(to: Same | URL, values: Values): URL {
  if (!(to instanceof URL) && to.open) {
    let text = to.href
    for (const name in values) if (values[name as keyof Values] !== undefined) text += `&${name}=${values[name as keyof Values]}`
    return new URL(text)
  }
  const url = to instanceof URL ? to : new URL(to.href)
  for (const [name, value] of Object.entries(values)) if (value !== undefined) url.searchParams.set(name, value)
  return url
}

/** `max_age`, whoever asked for it, host or client: an answer that ignores it is none (OpenID Connect Core 3.1.2.1). */
export function maxAgeOf(url: URL): number | undefined {
  const asked = url.searchParams.get('max_age') ?? ''
  return /^\d{1,9}$/.test(asked) ? Number(asked) : undefined
}

// What the host wrote counts over our defaults, on the URL or as params.
function configure(url: URL, redirectUri: string, provider: OAuthProvider): void {
  const { url: written, params = {} } = authorizationOf(provider)
  const defaults = { response_type: 'code', client_id: provider.clientId ?? '', redirect_uri: redirectUri }
  for (const [name, value] of Object.entries(defaults)) {
    if (written === undefined || !url.searchParams.has(name)) url.searchParams.set(name, value)
  }
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined || value === null) continue
    url.searchParams.set(name, typeof value === 'object' ? JSON.stringify(value) : fill(String(value), namesOf(provider)))
  }
  const { claims, acr_values: classes, resource, max_age: maxAge = provider.client?.default_max_age } = provider
  const wanted: [string, string | undefined][] = [
    ['claims', claims && JSON.stringify(claims)],
    ['acr_values', classes && [classes].flat().join(' ')],
    ['max_age', maxAge?.toString()],
  ]
  for (const [name, value] of wanted) if (value !== undefined && !url.searchParams.has(name)) url.searchParams.set(name, value)
  const scope = fill(provider.scope ?? defaultScope, namesOf(provider))
  if (!url.searchParams.has('scope') && params['scope'] !== null && scope !== '') url.searchParams.set('scope', scope)
  if (!url.searchParams.has('resource')) for (const one of [resource ?? []].flat()) url.searchParams.append('resource', one)
}
