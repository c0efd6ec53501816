/** One authorization request: its parameters, read and compared with the client (RFC 6749 section 4.1.1, PKCE, RFC 8707, OpenID Connect Core section 3.1.2.1). */
import type { Context } from 'authkernel/kernel'
import { isRegistered } from '../bearer/redirect.ts'
import { readDetails } from './authorization-details.ts'
import { readClaimsRequest } from './claims-request.ts'
import type { Client } from './clients.ts'
import { ClientRequestRefused } from './errors.ts'
import { type AuthorizationDetail, canonicalResource, openidScopes, type Resource, type ResolvedOptions } from './options.ts'
import type { NamedClaims } from './tables.ts'

/** What a client asks for. Plain data: it is sealed into the ticket of the consent page. */
export interface AuthorizationRequest {
  clientId: string
  redirectUri: string
  state: string | undefined
  scopes: string[]
  /** Resources that tokens may be for; the issuer stands for userinfo. */
  audiences: string[]
  challenge: string
  jkt: string | null
  nonce: string | null
  prompt: string[]
  /** Seconds; undefined: any age. */
  maxAge: number | undefined
  acrValues: string[]
  uiLocales: string | undefined
  /** What the user may be known by; the sign-in page has it in its field. */
  loginHint: string | undefined
  /** Users that the request names: an ID token of one, and the claim `sub`. */
  idTokenHint: string | undefined
  subject: string | undefined
  /** What it asks for beyond scopes (RFC 9396). */
  details: AuthorizationDetail[]
  /** Single claims; null: none. */
  claims: NamedClaims | null
  /** Without a second factor there is no answer. */
  needsSecondFactor: boolean
  /** Id of the pushed request, which a code uses up. */
  pushed: string | undefined
}
/** What is wrong with a request whose client and redirect URI are known. */
export interface RefusedRequest {
  redirectUri: string
  state: string | undefined
  error: string
  description: string
}

const prompts: readonly string[] = ['none', 'login', 'consent', 'select_account']
const maxLength = 1000

/** Throws ClientRequestRefused where the answer would have to go to an unknown address. */
export function readRequest(
  ctx: Pick<Context, 'base'>,
  options: ResolvedOptions,
  client: Client,
  params: URLSearchParams,
  pushed?: string,
): AuthorizationRequest | RefusedRequest {
  const one = (name: string): string | undefined => (params.getAll(name).length === 1 ? (params.get(name) as string) : undefined)
  const redirectUri = one('redirect_uri')
  if (redirectUri === undefined || !client.metadata.redirect_uris.some((registered) => isRegistered(registered, redirectUri)))
    throw new ClientRequestRefused(`An authorization request of the client "${client.id}" has a redirect_uri that is not registered.`)
  const state = one('state')
  const refuse = (error: string, description: string): RefusedRequest => ({ redirectUri, state, error, description })
  // RFC 8707 section 2: only `resource` may be repeated.
  if ([...new Set(params.keys())].some((name) => name !== 'resource' && params.getAll(name).length > 1))
    return refuse('invalid_request', 'A parameter is repeated.')
  const wrong = wrongMember(one, client)
  if (wrong) return refuse(...wrong)
  const prompt = (one('prompt') ?? '').split(' ').filter(Boolean)
  if (prompt.some((word) => !prompts.includes(word))) return refuse('invalid_request', 'prompt has an unknown value.')
  if (prompt.includes('none') && prompt.length > 1) return refuse('invalid_request', 'prompt=none stands alone.')
  const maxAge = one('max_age')
  if (maxAge !== undefined && !/^\d{1,9}$/.test(maxAge)) return refuse('invalid_request', 'max_age must be a number of seconds.')
  const resources = params.getAll('resource').map((name) => options.resources.get(canonicalResource(name)))
  if (resources.some((resource) => !resource)) return refuse('invalid_target', 'The resource is unknown.')
  const details = readDetails(options, client, one('authorization_details'))
  if (typeof details === 'string') return refuse('invalid_authorization_details', details)
  const claims = readClaimsRequest(one('claims'), client.metadata.scope?.split(' '))
  if (!claims) return refuse('invalid_request', 'claims must be an object with id_token and userinfo.')
  const granted = scopesAndAudiences(ctx.base, options, client, one('scope') ?? client.defaultScope, resources as Resource[])
  if (!granted) return refuse('invalid_scope', 'The client may not ask for one of these scopes.')
  return {
    clientId: client.id,
    redirectUri,
    state,
    scopes: granted.scopes,
    audiences: withResourcesOf(options, details, granted.audiences),
    challenge: one('code_challenge') as string,
    jkt: one('dpop_jkt') ?? null,
    nonce: one('nonce') ?? null,
    prompt,
    maxAge: maxAge === undefined ? undefined : Number(maxAge),
    acrValues: [...claims.acrValues, ...(one('acr_values') ?? '').split(' ').filter(Boolean)].slice(0, 20),
    uiLocales: one('ui_locales')?.slice(0, 100),
    loginHint: one('login_hint')?.slice(0, 254),
    idTokenHint: one('id_token_hint'),
    subject: claims.sub,
    details,
    claims: claims.idToken.length + claims.userinfo.length > 0 ? { idToken: claims.idToken, userinfo: claims.userinfo } : null,
    needsSecondFactor: claims.needsSecondFactor,
    pushed,
  }
}

/** Details bring the resources of their types. */
function withResourcesOf(
  { authorizationDetails }: ResolvedOptions,
  details: readonly AuthorizationDetail[],
  audiences: readonly string[],
): string[] {
  const named = details.flatMap(({ type }) => authorizationDetails.get(type)?.resource ?? [])
  return [...new Set([...audiences, ...named])]
}

function wrongMember(one: (name: string) => string | undefined, { metadata }: Client): [error: string, description: string] | undefined {
  const response = one('response_type')
  if (response !== 'code') return [response === undefined ? 'invalid_request' : 'unsupported_response_type', 'response_type must be code.']
  if (!metadata.grant_types.includes('authorization_code')) return ['unauthorized_client', 'The client may not use codes.']
  if (!['query', undefined].includes(one('response_mode'))) return ['invalid_request', 'response_mode must be query.']
  if (!/^[\w-]{43}$/.test(one('code_challenge') ?? '') || one('code_challenge_method') !== 'S256')
    return ['invalid_request', 'PKCE is needed: code_challenge with code_challenge_method S256.']
  if (!/^[\w-]{43}$/.test(one('dpop_jkt') ?? 'A'.repeat(43))) return ['invalid_request', 'dpop_jkt must be a SHA-256 thumbprint.']
  if ((one('state')?.length ?? 0) > maxLength || (one('nonce')?.length ?? 0) > maxLength)
    return ['invalid_request', `state and nonce may have ${maxLength} characters.`]
  return undefined
}

/**
 * Scopes that the server does not know are left out (OpenID Connect Core section 3.1.2.1). With `resource` tokens are for these resources alone. Without it
 * they are for the resources that have the scopes, and with `openid` also for userinfo. Undefined: the client may not have what it asked for.
 */
export function scopesAndAudiences(
  issuer: string,
  options: Pick<ResolvedOptions, 'resources'>,
  client: Client,
  scope: string | undefined,
  resources: readonly Resource[],
): { scopes: string[]; audiences: string[] } | undefined {
  const own = client.metadata.scope?.split(' ')
  const offered = resources.length > 0 ? resources : [...options.resources.values()]
  const known = new Set([...openidScopes, ...offered.flatMap((resource) => resource.scopes)])
  const wanted = [...new Set(scope?.split(' ').filter(Boolean) ?? resources.flatMap((resource) => resource.scopes))].filter((one) =>
    known.has(one),
  )
  if (own && wanted.some((one) => !own.includes(one))) {
    if (scope !== undefined) return undefined
  }
  const scopes = own ? wanted.filter((one) => own.includes(one)) : wanted
  if (resources.length > 0) return { scopes, audiences: resources.map(({ resource }) => resource) }
  const implied = offered.filter((resource) => resource.scopes.some((one) => scopes.includes(one))).map(({ resource }) => resource)
  return { scopes, audiences: scopes.includes('openid') || implied.length === 0 ? [...implied, issuer] : implied }
}
