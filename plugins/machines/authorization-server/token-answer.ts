/** What the token endpoint answers: an access token of a grant, with the refresh token and the ID token that belong to it. */
import type { Context, TokenAnswer } from 'authkernel/kernel'
import { areGranted, parseDetails } from './authorization-details.ts'
import type { Client } from './clients.ts'
import { OAuthRefusal } from './errors.ts'
import type { Family } from './grants.ts'
import { type AuthorizationDetail, canonicalResource, type ResolvedOptions } from './options.ts'
import { allowedScopes, readOwner } from './rights.ts'
import { makeIdToken, makeToken } from './tokens.ts'

/** One call of the token endpoint by a client that proved itself. */
export interface GrantCall {
  readonly ctx: Context
  readonly options: ResolvedOptions
  readonly client: Client
  readonly form: URLSearchParams
  /** Thumbprint of the key that the client proved (RFC 9449); null: none. */
  readonly jkt: string | null
  /** Thumbprint of the certificate that tokens of the client are bound to (RFC 8705); null: the client binds none. */
  readonly x5t: string | null
}

/** The tokens of a user's grant, less what the user may no longer give. Throws OAuthRefusal `invalid_grant` when the user is gone. */
export async function answerWithTokens(
  { ctx, options, client, form }: GrantCall,
  { session: grant, refresh: text }: Family,
  { scopes, audiences, nonce }: { scopes: readonly string[]; audiences: readonly string[]; nonce: string | null },
): Promise<TokenAnswer> {
  const user = await readOwner(ctx, grant)
  if (!user) throw invalidGrant()
  const allowed = await allowedScopes(ctx, options, user, client, scopes)
  const made = await makeToken(ctx, options, client, grant, allowed, audiences, narrowDetails(grant.details, form))
  const hasIdToken = allowed.includes('openid')
  return {
    access_token: made.text,
    token_type: grant.jkt === null ? 'Bearer' : 'DPoP',
    expires_in: made.seconds,
    scope: made.scopes.join(' '),
    ...(made.details.length > 0 && { authorization_details: made.details }),
    ...(client.metadata.grant_types.includes('refresh_token') && { refresh_token: text }),
    ...(hasIdToken && {
      id_token: await makeIdToken(ctx, options, client, { grant: { ...grant, scopes: allowed }, user, nonce, accessToken: made.text }),
    }),
  }
}

/** Audiences of a token (RFC 8707 section 2.2): some of those that were granted, never others. Throws OAuthRefusal `invalid_target`. */
export function narrowAudiences(options: ResolvedOptions, granted: readonly string[], form: URLSearchParams): string[] {
  const named = form.getAll('resource').map((name) => options.resources.get(canonicalResource(name))?.resource)
  if (named.some((name) => name === undefined || !granted.includes(name)))
    throw new OAuthRefusal('invalid_target', 'The resource was not granted.')
  return named.length > 0 ? [...new Set(named as string[])] : [...granted]
}

/** Some of the details that were granted, never others (RFC 9396 section 6). Throws OAuthRefusal `invalid_authorization_details`. */
export function narrowDetails(granted: readonly AuthorizationDetail[], form: URLSearchParams): readonly AuthorizationDetail[] {
  const text = form.get('authorization_details')
  if (text === null) return granted
  const wanted = parseDetails(text)
  if (!wanted || !areGranted(wanted, granted))
    throw new OAuthRefusal('invalid_authorization_details', 'These authorization_details were not granted.')
  return wanted
}

/** The answer to a code or token that gives nothing; it does not say why. */
export function invalidGrant(): OAuthRefusal {
  return new OAuthRefusal('invalid_grant', 'The code or token is unknown, used or ended, or of another client.')
}
