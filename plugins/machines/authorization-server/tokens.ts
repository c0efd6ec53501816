/** Access tokens and ID tokens of a grant, and the way back from the text of an access token. */
import { type Context, sha256, type SigningKeys, toBase64Url, toHex, type User } from 'authkernel/kernel'
import { makeAccessToken, parseAccess, scopesWithin } from '../bearer/tokens.ts'
import { areGranted, detailsFor } from './authorization-details.ts'
import { subjectFor, userClaims } from './claims.ts'
import type { Client } from './clients.ts'
import type { AuthorizationDetail, ResolvedOptions, Resource } from './options.ts'
import { acrOf } from './proof.ts'
import type { OAuthGrant } from './tables.ts'

/** An access token with what its response says of it. */
export interface MadeToken {
  text: string
  scopes: string[]
  details: AuthorizationDetail[]
  /** Seconds until its end. */
  seconds: number
}
/** A live access token. */
export interface LiveToken {
  grant: OAuthGrant
  scopes: string[]
  audiences: string[]
  details: AuthorizationDetail[]
  /** Thumbprint of the certificate that it is bound to (RFC 8705 section 3); null: none. */
  x5t: string | null
  /** Seconds since the epoch. */
  end: number
}

/** An access token for some of the audiences of a grant. A JWT where all of them want one. */
export async function makeToken(
  ctx: Context,
  options: ResolvedOptions,
  client: Client,
  grant: OAuthGrant,
  scopes: readonly string[],
  audiences: readonly string[],
  wanted: readonly AuthorizationDetail[] = grant.details,
): Promise<MadeToken> {
  const now = Math.floor(ctx.now.getTime() / 1000)
  const end = Math.min(now + options.tokenAge, Math.floor(grant.ends.getTime() / 1000))
  const offered = audiences.flatMap((audience) => findResource(options, audience)?.scopes ?? [])
  const within = scopes.filter((scope) => offered.includes(scope) || !isOfResource(options, scope))
  const details = detailsFor(options, wanted, audiences)
  const text = isSignedFor(options, client, audiences)
    ? await signToken(ctx, grant, { scopes: within, audiences, details, exp: end })
    : await makeAccessToken(sourceOf(grant), [...within, ...audiences.map(markOf), ...marksOfDetails(grant, details)], end)
  return { text, scopes: within, details, seconds: end - now }
}

/** Whether a token for these audiences is a JWT. A pairwise client must not find the id of the user in a token that it can read. */
export function isSignedFor(options: ResolvedOptions, { metadata }: Client, audiences: readonly string[]): boolean {
  const resources = audiences.map((audience) => findResource(options, audience))
  return resources.length > 0 && resources.every((resource) => resource?.format === 'jwt') && metadata.subject_type === 'public'
}

/** Null: not ours, expired, or of a grant that ended. */
export async function findLiveToken(ctx: Context, options: ResolvedOptions, text: string): Promise<LiveToken | null> {
  const parts = parseAccess(text)
  if (!parts) return findSignedToken(ctx, text)
  const grant = await ctx.records('oauthGrant').get(parts.session)
  const within = grant && (await scopesWithin(ctx, sourceOf(grant), parts))
  if (!grant || !within) return null
  const audiences = grant.audiences.filter(
    (audience) => within.includes(markOf(audience)) && (audience === grant.issuer || findResource(options, audience)),
  )
  const scopes = within.filter((scope) => !scope.startsWith(' '))
  const details = grant.details.filter((_, place) => within.includes(markOfDetail(place)))
  return { grant, scopes, audiences, details: detailsFor(options, details, audiences), x5t: grant.x5t, end: parts.end }
}

/** The ID token of a grant (OpenID Connect Core section 2). */
export async function makeIdToken(
  ctx: Context,
  options: ResolvedOptions,
  client: Client,
  { grant, user, nonce, accessToken }: { grant: OAuthGrant; user: User & { id: string }; nonce: string | null; accessToken: string },
): Promise<string> {
  const keys = ctx.service('signingKeys')
  const algorithm = algorithmFor(keys, client.metadata.id_token_signed_response_alg)
  const now = Math.floor(ctx.now.getTime() / 1000)
  const { attributes } = grant
  const claims = {
    ...(await userClaims(ctx, options, client, user, { scopes: grant.scopes, requested: grant.claims?.idToken ?? [] })),
    iss: grant.issuer,
    sub: await subjectFor(options, client, user.id),
    aud: client.id,
    iat: now,
    exp: now + options.tokenAge,
    ...(nonce !== null && { nonce }),
    ...(attributes && { auth_time: attributes.authTime, acr: acrOf(attributes), amr: Object.keys(attributes.methods) }),
    ...(grant.session !== '' && { sid: await sidOf(grant) }),
    ...organizationClaim(grant),
  }
  // The hash is that of the algorithm that signs.
  const withHash = async (signer: string) => ({ ...claims, at_hash: await halfHash(accessToken, signer) })
  return keys.sign(ctx, 'JWT', withHash, { algorithm })
}

/** What a client registered, where the server has keys for it; else the algorithm of the server. */
export function algorithmFor({ algorithm, algorithms }: Pick<SigningKeys, 'algorithm' | 'algorithms'>, wanted: string | undefined): string {
  return wanted !== undefined && algorithms.includes(wanted) ? wanted : algorithm
}

/** The organization of the client that the grant began with. */
export function organizationClaim({ organizationId }: Pick<OAuthGrant, 'organizationId'>): { org_id?: string } {
  return organizationId === null ? {} : { org_id: organizationId }
}

/** The keys that a token is bound to: of DPoP (RFC 9449 section 6.1), and of a certificate (RFC 8705 section 3.1). */
export function confirmationClaim({ jkt, x5t }: Pick<OAuthGrant, 'jkt' | 'x5t'>): { cnf?: { jkt?: string; 'x5t#S256'?: string } } {
  if (jkt === null && x5t === null) return {}
  return { cnf: { ...(jkt !== null && { jkt }), ...(x5t !== null && { 'x5t#S256': x5t }) } }
}

/** Who acts with the token, and who may (RFC 8693 sections 4.1 and 4.4). */
export function actorClaims({ act, mayAct }: Pick<OAuthGrant, 'act' | 'mayAct'>): Record<string, unknown> {
  return { ...(act && { act }), ...(mayAct && { may_act: mayAct }) }
}

/** `sid` of ID tokens and logout tokens. It differs between clients, so that they cannot compare users by it, and opens nothing. */
export async function sidOf({ session, clientId }: Pick<OAuthGrant, 'session' | 'clientId'>): Promise<string> {
  return toHex(await sha256(`sid ${clientId} ${session}`)).slice(0, 32)
}

/** A resource of the options by the name that is stored with a grant. */
export function findResource({ resources }: ResolvedOptions, audience: string): Resource | undefined {
  return [...resources.values()].find(({ resource }) => resource === audience)
}

function isOfResource({ resources }: ResolvedOptions, scope: string): boolean {
  return [...resources.values()].some(({ scopes }) => scopes.includes(scope))
}

// An opaque token has bits for what it may: audiences stand behind the scopes, with a blank before them, which no scope has.
function markOf(audience: string): string {
  return ` ${audience}`
}

function markOfDetail(place: number): string {
  return `  ${place}`
}

function marksOfDetails(grant: OAuthGrant, details: readonly AuthorizationDetail[]): string[] {
  return grant.details.flatMap((detail, place) => (areGranted([detail], details) ? [markOfDetail(place)] : []))
}

function sourceOf({ id, key, scopes, audiences, details }: OAuthGrant): { id: string; key: string; scopes: readonly string[] } {
  return { id, key, scopes: [...scopes, ...audiences.map(markOf), ...details.map((_, place) => markOfDetail(place))] }
}

async function signToken(
  ctx: Context,
  grant: OAuthGrant,
  {
    scopes,
    audiences,
    details,
    exp,
  }: { scopes: readonly string[]; audiences: readonly string[]; details: readonly AuthorizationDetail[]; exp: number },
): Promise<string> {
  const { attributes } = grant
  return ctx.service('signingKeys').sign(ctx, 'at+jwt', {
    iss: grant.issuer,
    sub: grant.userId ?? grant.clientId,
    aud: audiences.length === 1 ? audiences[0] : audiences,
    client_id: grant.clientId,
    iat: Math.floor(ctx.now.getTime() / 1000),
    exp,
    jti: toBase64Url(ctx.runtime.random(16)),
    gid: grant.id,
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    ...(details.length > 0 && { authorization_details: details }),
    ...confirmationClaim(grant),
    ...organizationClaim(grant),
    ...actorClaims(grant),
    ...(attributes && { auth_time: attributes.authTime, acr: acrOf(attributes), amr: Object.keys(attributes.methods) }),
  })
}

async function findSignedToken(ctx: Context, text: string): Promise<LiveToken | null> {
  const claims = text.split('.').length === 3 ? await ctx.service('signingKeys').open(ctx, 'at+jwt', text) : null
  if (!claims || typeof claims['gid'] !== 'string' || !(Number(claims['exp']) * 1000 > ctx.now.getTime())) return null
  const grant = await ctx.records('oauthGrant').get(claims['gid'])
  if (!grant || grant.clientId !== claims['client_id'] || grant.issuer !== claims['iss']) return null
  const scopes = String(claims['scope'] ?? '')
    .split(' ')
    .filter(Boolean)
  const details = (claims['authorization_details'] ?? []) as AuthorizationDetail[]
  // Its own: a client may have a newer certificate by now.
  const { 'x5t#S256': x5t = null } = (claims['cnf'] ?? {}) as { 'x5t#S256'?: string }
  return { grant, scopes, audiences: [claims['aud']].flat().map(String), details, x5t, end: Number(claims['exp']) }
}

/** `at_hash` (OpenID Connect Core section 3.1.3.6). Ed25519 hashes by SHA-512. */
async function halfHash(token: string, algorithm: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest(algorithm === 'EdDSA' ? 'SHA-512' : 'SHA-256', new TextEncoder().encode(token)))
  return toBase64Url(digest.subarray(0, digest.length / 2))
}
