/** Endpoints as providers write them: strings or objects, with templates (`AuthorizationEndpoint` and its siblings). */
import type { AuthorizationEndpoint, TokenEndpoint, TokenSet, UserinfoEndpoint } from 'authkernel/kernel'
import { Refusal } from './refusal.ts'
import { isObject, readJson } from './json.ts'
import type { JsonObject, OAuthProvider } from './types.ts'

/** What templates may name; the secret only where it may travel. */
export interface TemplateValues {
  issuer?: string | undefined
  clientId?: string | undefined
  clientSecret?: string | undefined
  tokens?: TokenSet | undefined
}

/** The authorization endpoint, its URL complete. */
export function authorizationOf(provider: OAuthProvider): AuthorizationEndpoint {
  return endpointsOf(provider).authorization
}

/** The token endpoint, its URL complete. */
export function tokenOf(provider: OAuthProvider): TokenEndpoint {
  return endpointsOf(provider).token
}

/** The userinfo endpoint, its URL complete. */
export function userinfoOf(provider: OAuthProvider): UserinfoEndpoint {
  return endpointsOf(provider).userinfo
}

interface Endpoints {
  authorization: AuthorizationEndpoint
  token: TokenEndpoint
  userinfo: UserinfoEndpoint
  posts: boolean
}
const known = new WeakMap<OAuthProvider, Endpoints>()

/** Worked out once for a provider: each is asked for many times in a sign-in. */
function endpointsOf(provider: OAuthProvider): Endpoints {
  let endpoints = known.get(provider)
  if (!endpoints) {
    const authorization = withUrl<AuthorizationEndpoint>(provider.authorization, provider)
    endpoints = {
      authorization,
      posts: modeOf(authorization) === 'form_post',
      token: withUrl<TokenEndpoint>(provider.token, provider),
      userinfo: withUrl<UserinfoEndpoint>(provider.userinfo, provider),
    }
    known.set(provider, endpoints)
  }
  return endpoints
}

/** Whether the profile is asked for at the userinfo endpoint (row 198). */
export function wantsUserinfo(provider: OAuthProvider): boolean {
  return provider.type === 'oauth' || provider.idToken === false
}

/** Whether the provider answers by a cross-site POST (OAuth 2.0 Form Post Response Mode). */
export function isFormPost(provider: OAuthProvider): boolean {
  return endpointsOf(provider).posts
}

/** The configured response_mode. */
export function responseMode(provider: OAuthProvider): unknown {
  return modeOf(authorizationOf(provider))
}

function modeOf({ url, params }: AuthorizationEndpoint): unknown {
  return params?.['response_mode'] ?? (url !== undefined && URL.canParse(url) ? new URL(url).searchParams.get('response_mode') : null)
}

/** What configuration templates may name before there are tokens. */
export function namesOf(provider: OAuthProvider): TemplateValues {
  return { issuer: provider.issuer, clientId: provider.clientId }
}

/** Replaces the known names; others stay as they are. Throws Refusal for a token member that the answer lacks. */
export function fill(template: string, values: TemplateValues, encode: (value: string) => string = String): string {
  if (!template.includes('{')) return template
  return template.replace(/\{(issuer|clientId|clientSecret|tokens\.([\w.]+))\}/g, (whole, name: string, member: string | undefined) => {
    if (member !== undefined) return values.tokens ? encode(memberOf(values.tokens, member)) : whole
    // A URL keeps its slashes; the trailing one would double the template's own.
    if (name === 'issuer') return values.issuer?.replace(/\/$/, '') ?? whole
    const value = values[name as 'clientId' | 'clientSecret']
    return value === undefined ? whole : encode(value)
  })
}

/** Fills every string in a JSON value. */
export function fillDeep(value: unknown, values: TemplateValues): unknown {
  if (typeof value === 'string') return fill(value, values)
  if (Array.isArray(value)) return value.map((item) => fillDeep(item, values))
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillDeep(item, values)])) : value
}

/** Sends the userinfo request as the provider's data describes it. Throws Refusal, NetworkError. */
export async function requestUserinfo(
  endpoint: UserinfoEndpoint,
  location: string,
  values: TemplateValues & { tokens: TokenSet },
  fetcher: typeof fetch,
  signedAnswer: boolean,
): Promise<Response> {
  const url = new URL(location)
  if (endpoint.path !== undefined) append(url, fill(endpoint.path, values, encodeURIComponent))
  for (const [name, value] of Object.entries(endpoint.params ?? {})) url.searchParams.set(name, fill(value, values))
  const headers = new Headers({ accept: signedAnswer ? 'application/jwt' : 'application/json', 'user-agent': 'authkernel' })
  for (const [name, value] of Object.entries(endpoint.headers ?? {})) headers.set(name, fill(value, values))
  const way = endpoint.token ?? 'header'
  const token = (): string => memberOf(values.tokens, 'access_token')
  if (way === 'header' && !headers.has('authorization')) headers.set('authorization', `Bearer ${token()}`)
  else if (way === 'path') append(url, encodeURIComponent(token()))
  else if (typeof way === 'object') url.searchParams.set(way.query, token())
  const body = endpoint.body === undefined ? undefined : JSON.stringify(fillDeep(endpoint.body, values))
  if (body !== undefined) headers.set('content-type', 'application/json')
  return fetcher(url.href, {
    method: endpoint.method ?? (body === undefined ? 'GET' : 'POST'),
    headers: Object.fromEntries(headers.entries()),
    ...(body !== undefined && { body }),
  })
}

/** The profile inside an answer of an OAuth 2.0 provider. Throws Refusal. */
export async function readProfile(response: Response, unwrap: string | undefined): Promise<JsonObject> {
  let profile: unknown = await readJson(response, 'The answer of the userinfo endpoint', false)
  for (const step of unwrap?.split('.') ?? []) {
    profile = (isObject(profile) || Array.isArray(profile)) && Object.hasOwn(profile, step) ? (profile as JsonObject)[step] : undefined
  }
  if (!isObject(profile)) {
    throw new Refusal(
      `The answer of the userinfo endpoint holds no object${unwrap === undefined ? '' : ` at "${unwrap}" (\`userinfo.unwrap\`)`}.`,
    )
  }
  return profile
}

function withUrl<T extends { url?: string | undefined }>(endpoint: string | T | undefined, provider: OAuthProvider): T {
  const object = (typeof endpoint === 'string' ? { url: endpoint } : (endpoint ?? {})) as T
  return object.url === undefined ? object : { ...object, url: fill(object.url, namesOf(provider), encodeURIComponent) }
}

function append(url: URL, segment: string): void {
  // Percent-encoding leaves dots alone, and a dot segment would lead to another resource.
  if (segment === '.' || segment === '..') throw new Refusal('The path of the userinfo endpoint would contain a dot segment.')
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${segment.replace(/^\//, '')}`
}

function memberOf(tokens: TokenSet, path: string): string {
  let value: unknown = tokens
  for (const step of path.split('.')) value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined
  if (typeof value !== 'string' && typeof value !== 'number') throw new Refusal(`The answer of the token endpoint has no "${path}".`)
  return String(value)
}
