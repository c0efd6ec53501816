/** The URL of an authorization request: what is the same in all requests to a server, what the client may add, and the values of one. */
import type { Context } from 'authkernel/kernel'
import type { AuthorizationServer } from 'oauth4webapi'
import type { StepUp } from './pending-flows.ts'
import { authorizationOf, fillTemplate, templateNames, type OAuthProvider } from './provider.ts'
import { endpointOf } from './server.ts'

/** What is the same in all requests to one server. */
export interface ConfiguredRequest {
  readonly redirectUri: string
  readonly href: string
  /** Seconds since the last authentication that it allows. */
  readonly maxAge: number | undefined
  /** Whether the values of a request can be written behind it. */
  readonly open: boolean
}

type RequestValues = Readonly<Record<'state' | 'code_challenge' | 'code_challenge_method' | 'nonce', string | undefined>>

const defaultScope = 'openid profile email'
const configuredRequests = new WeakMap<AuthorizationServer, ConfiguredRequest>()

/** Endpoint and parameters as the host configured them, worked out once. Throws `Refusal`. */
export function configuredRequest(provider: OAuthProvider, server: AuthorizationServer, redirectUri: string): ConfiguredRequest {
  const known = configuredRequests.get(server)
  if (known?.redirectUri === redirectUri) return known
  const url = endpointOf(server, 'authorization_endpoint', provider)
  writeParameters(url, redirectUri, provider)
  const written = ['state', 'code_challenge', 'code_challenge_method', 'nonce'].some((name) => url.searchParams.has(name))
  const same: ConfiguredRequest = {
    redirectUri,
    href: url.href,
    maxAge: maxAgeOf(url),
    open: !written && url.hash === '' && url.search !== '',
  }
  configuredRequests.set(server, same)
  return same
}

/** The URL with the values that are given. They hold no character that a query must escape. */
export function withValues(to: ConfiguredRequest | URL, values: RequestValues): URL {
  if (!(to instanceof URL) && to.open) {
    let text = to.href
    for (const name in values)
      if (values[name as keyof RequestValues] !== undefined) text += `&${name}=${values[name as keyof RequestValues]}`
    return new URL(text)
  }
  const url = to instanceof URL ? to : new URL(to.href)
  for (const [name, value] of Object.entries(values)) if (value !== undefined) url.searchParams.set(name, value)
  return url
}

/** `max_age`, whether the host or the client asked for it: an answer that ignores it is none (OpenID Connect Core 3.1.2.1). */
export function maxAgeOf(url: URL): number | undefined {
  const text = url.searchParams.get('max_age') ?? ''
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined
}

// RFC 8707 section 2 and RFC 8693 section 2.1: these may be repeated. Of others the last counts.
const repeatableParameters = new Set(['resource', 'audience'])

/** Adds parameters of the client: those that are not fixed, in any spelling that a server might read. */
export function forwardParameters(url: URL, ctx: Context, provider: OAuthProvider): void {
  const seen = new Set<string>()
  const mayForward = clientParameters(url.searchParams)
  for (const [name, value] of ctx.url.searchParams) {
    if (!mayForward(name, value) || (provider.authorizationParams && !provider.authorizationParams.includes(name))) continue
    if (repeatableParameters.has(name) && seen.has(name)) url.searchParams.append(name, value)
    else url.searchParams.set(name, value)
    seen.add(name)
  }
}

/** Adds what a step-up demands. `claims`: whether the provider reads that parameter. */
export function demandStepUp(
  parameters: URLSearchParams,
  { maxAge, acr, loginHint }: StepUp & { loginHint?: string },
  claims: boolean,
): void {
  parameters.set('max_age', String(maxAge))
  if (acr) parameters.set('acr_values', acr.join(' '))
  // Essential: a provider that cannot give it says so in place of giving another one.
  if (acr && claims)
    parameters.set('claims', JSON.stringify({ id_token: { acr: { essential: true, values: acr }, auth_time: { essential: true } } }))
  if (loginHint !== undefined) parameters.set('login_hint', loginHint)
}

// What the host wrote counts over our defaults, on the URL or as params.
function writeParameters(url: URL, redirectUri: string, provider: OAuthProvider): void {
  const { url: written, params = {} } = authorizationOf(provider)
  const defaults = { response_type: 'code', client_id: provider.clientId ?? '', redirect_uri: redirectUri }
  for (const [name, value] of Object.entries(defaults)) {
    if (written === undefined || !url.searchParams.has(name)) url.searchParams.set(name, value)
  }
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined || value === null) continue
    url.searchParams.set(name, typeof value === 'object' ? JSON.stringify(value) : fillTemplate(String(value), templateNames(provider)))
  }
  const { claims, acr_values: classes, resource, max_age: maxAge = provider.client?.default_max_age } = provider
  const wanted: [string, string | undefined][] = [
    ['claims', claims && JSON.stringify(claims)],
    ['acr_values', classes && [classes].flat().join(' ')],
    ['max_age', maxAge?.toString()],
  ]
  for (const [name, value] of wanted) if (value !== undefined && !url.searchParams.has(name)) url.searchParams.set(name, value)
  const scope = fillTemplate(provider.scope ?? defaultScope, templateNames(provider))
  if (!url.searchParams.has('scope') && params['scope'] !== null && scope !== '') url.searchParams.set('scope', scope)
  if (!url.searchParams.has('resource')) for (const one of [resource ?? []].flat()) url.searchParams.append('resource', one)
}

// D11, and the token that protects this very request.
const reservedParameters = new Set(
  ['response_type', 'response_mode', 'client_id', 'redirect_uri', 'state', 'nonce', 'code_challenge', 'code_challenge_method'].concat([
    'request',
    'request_uri',
    'claims',
    'csrftoken',
  ]),
)

/** What the host demands is not the client's to weaken; of `max_age` less is more. */
const fixedParameters = ['acr_values', 'resource']

/** Parameters that servers know: they are taken as they are spelled by the standards, or not at all. */
const standard = new Set(
  ['scope', 'prompt', 'display', 'max_age', 'ui_locales', 'claims_locales', 'id_token_hint', 'login_hint', 'acr_values', 'resource'].concat(
    [
      'audience',
      'authorization_details',
      'dpop_jkt',
      'registration',
      'client_assertion',
      'client_assertion_type',
      'client_secret',
      'code',
      'iss',
    ],
  ),
)

/** `own`: the parameters of the host, to which those of the client are added. */
function clientParameters(own: URLSearchParams): (name: string, value: string) => boolean {
  const written = new Set([...own.keys()].flatMap(readingsOf))
  const demanded = new Set(fixedParameters.filter((name) => written.has(name)))
  const longest = own.has('max_age') ? Number(own.get('max_age')) : undefined
  return (name, value) => {
    const readings = readingsOf(name)
    if (readings.some((read) => reservedParameters.has(read) || demanded.has(read))) return false
    // Two spellings of one name: it is unknown which one the server reads.
    if (readings.some((read) => read !== name && (standard.has(read) || written.has(read)))) return false
    return name !== 'max_age' || longest === undefined || (/^\d{1,9}$/.test(value) && Number(value) <= longest)
  }
}

/** As servers read a name: some ignore case, and read "redirect_uri[]", "redirect.uri" and "redirect[uri" as redirect_uri. */
function readingsOf(name: string): string[] {
  const plain = name
    .normalize('NFKC')
    // eslint-disable-next-line no-control-regex
    .replace(/[\p{Cc}\p{Cf}]/gu, '')
    .trim()
    .toLowerCase()
  const [base = ''] = plain.split('[')
  return [...new Set([base, plain.replace(/\]$/, '')].map((read) => read.replace(/[. [+]/g, '_')))]
}
