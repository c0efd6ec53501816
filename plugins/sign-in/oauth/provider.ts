/** The options of a provider as the rest of this folder reads them: endpoints with their templates filled, and what they demand beyond OpenID Connect Core. */
import type { AuthorizationEndpoint, Context, ProviderOf, TokenEndpoint, TokenSet, UserinfoEndpoint } from 'authkernel/kernel'
import { isJsonObject } from 'authkernel/kernel/protocols'
import { Refusal } from './errors.ts'

/** A provider of one of the two types that this folder signs users in with. */
export type OAuthProvider = ProviderOf<'oauth'> | ProviderOf<'oidc'>

/** What templates may name; the secret only where it may travel. */
export interface TemplateValues {
  issuer?: string | undefined
  clientId?: string | undefined
  clientSecret?: string | undefined
  tokens?: TokenSet | undefined
}

interface Endpoints {
  authorization: AuthorizationEndpoint
  token: TokenEndpoint
  userinfo: UserinfoEndpoint
  posts: boolean
}

const resolvedEndpoints = new WeakMap<OAuthProvider, Endpoints>()

/** How proofs of possession are signed. */
export type DPoPAlgorithm = 'ES256' | 'Ed25519'

export const certificateMethods: readonly unknown[] = ['tls_client_auth', 'self_signed_tls_client_auth']

/** What FAPI 2.0 Security Profile section 5.4 leaves; both names of EdDSA with Ed25519 (RFC 9864). */
export const fapiAlgorithms: readonly string[] = ['PS256', 'ES256', 'EdDSA', 'Ed25519']

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

/** Base URL of the redirect proxy (row 203), without trailing slash. Undefined with form_post, whose answer a redirect cannot carry. */
export function proxyOf(ctx: Context, provider: OAuthProvider): string | undefined {
  const proxy = provider.redirectProxyUrl ?? ctx.app.config.redirectProxyUrl
  return proxy === undefined || proxy === '' || isFormPost(provider) ? undefined : proxy.replace(/\/$/, '')
}

/** Whether the FAPI 2.0 Security Profile holds. */
export function isFapi({ profile, securityProfile }: OAuthProvider): boolean {
  return profile === 'fapi2' || securityProfile === 'fapi2'
}

/** How tokens are bound to a key; undefined: they are not. */
export function dpopOf(provider: OAuthProvider): DPoPAlgorithm | undefined {
  const { dpop = isFapi(provider) && !bindsCertificate(provider) } = provider
  return dpop === true ? 'ES256' : dpop === false ? undefined : dpop
}

/** Whether the client shows a certificate, with the `fetch` of the host (RFC 8705). */
export function usesCertificate(provider: OAuthProvider): boolean {
  return certificateMethods.includes(provider.client?.token_endpoint_auth_method) || bindsCertificate(provider)
}

export function bindsCertificate({ client }: OAuthProvider): boolean {
  return client?.['tls_client_certificate_bound_access_tokens'] === true
}

/** Resource indicators of the token request: servers take one there (RFC 8707 section 2.2). */
export function tokenResource({ resource }: OAuthProvider): [string, string][] {
  const [one, ...more] = [resource ?? []].flat()
  return one !== undefined && more.length === 0 ? [['resource', one]] : []
}

/** What configuration templates may name before there are tokens. */
export function templateNames(provider: OAuthProvider): TemplateValues {
  return { issuer: provider.issuer, clientId: provider.clientId }
}

/** Replaces the known names; others stay as they are. Throws `Refusal` for a token member that the answer lacks. */
export function fillTemplate(template: string, values: TemplateValues, encode: (value: string) => string = String): string {
  if (!template.includes('{')) return template
  return template.replace(/\{(issuer|clientId|clientSecret|tokens\.([\w.]+))\}/g, (whole, name: string, member: string | undefined) => {
    if (member !== undefined) return values.tokens ? encode(tokenMember(values.tokens, member)) : whole
    // A URL keeps its slashes; the trailing one would double the template's own.
    if (name === 'issuer') return values.issuer?.replace(/\/$/, '') ?? whole
    const value = values[name as 'clientId' | 'clientSecret']
    return value === undefined ? whole : encode(value)
  })
}

export function tokenMember(tokens: TokenSet, path: string): string {
  let value: unknown = tokens
  for (const step of path.split('.')) value = isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined
  if (typeof value !== 'string' && typeof value !== 'number') throw new Refusal(`The answer of the token endpoint has no "${path}".`)
  return String(value)
}

/** Worked out once for a provider: each is asked for many times in a sign-in. */
function endpointsOf(provider: OAuthProvider): Endpoints {
  let endpoints = resolvedEndpoints.get(provider)
  if (!endpoints) {
    const authorization = withUrl<AuthorizationEndpoint>(provider.authorization, provider)
    endpoints = {
      authorization,
      posts: modeOf(authorization) === 'form_post',
      token: withUrl<TokenEndpoint>(provider.token, provider),
      userinfo: withUrl<UserinfoEndpoint>(provider.userinfo, provider),
    }
    resolvedEndpoints.set(provider, endpoints)
  }
  return endpoints
}

function modeOf({ url, params }: AuthorizationEndpoint): unknown {
  return params?.['response_mode'] ?? (url !== undefined && URL.canParse(url) ? new URL(url).searchParams.get('response_mode') : null)
}

function withUrl<T extends { url?: string | undefined }>(endpoint: string | T | undefined, provider: OAuthProvider): T {
  const object = (typeof endpoint === 'string' ? { url: endpoint } : (endpoint ?? {})) as T
  return object.url === undefined ? object : { ...object, url: fillTemplate(object.url, templateNames(provider), encodeURIComponent) }
}
