/** A refresh token becomes the next tokens of its grant (RFC 6749 section 6). */
import type { TokenAnswer } from 'authkernel/kernel'
import { rotateRefresh } from '../bearer/rotation.ts'
import { OAuthRefusal } from './errors.ts'
import { grantFamilies } from './grants.ts'
import { readOwner } from './rights.ts'
import { answerWithTokens, type GrantCall, invalidGrant, narrowAudiences, narrowDetails } from './token-answer.ts'

/** Rotates. A token that was used before ends the grant. */
export async function refreshTokens(call: GrantCall): Promise<TokenAnswer> {
  const { ctx, options, client, form, jkt, x5t } = call
  const token = form.get('refresh_token')
  if (!token) throw new OAuthRefusal('invalid_request', '`refresh_token` is needed.')
  const wanted = form.get('scope')?.split(' ').filter(Boolean)
  let audiences: string[] = []
  // Everything that can be refused is refused before the token is used up: the client may try again with the same one.
  const isPublic = client.metadata.token_endpoint_auth_method === 'none'
  const next = await rotateRefresh(ctx, grantFamilies(ctx, options, x5t), { clientId: client.id, jkt }, token, async (grant) => {
    if (!(await readOwner(ctx, grant))) return { error: 'invalid_grant' }
    // A client that authenticates may have a new certificate (RFC 8705 section 4); one that does not has its certificate alone.
    if (grant.x5t !== null && (x5t === null || (isPublic && x5t !== grant.x5t))) return { error: 'invalid_grant' }
    if (wanted && !wanted.every((scope) => grant.scopes.includes(scope))) return { error: 'invalid_scope' }
    audiences = narrowAudiences(options, grant.audiences, form)
    narrowDetails(grant.details, form)
    return undefined
  })
  if (!next) throw invalidGrant()
  if ('refused' in next) throw new OAuthRefusal(String(next.refused.error), 'The refresh token gives no tokens for this.')
  return answerWithTokens(call, next, { scopes: wanted ?? next.session.scopes, audiences, nonce: null })
}
