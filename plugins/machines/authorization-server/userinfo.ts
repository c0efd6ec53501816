/** The userinfo endpoint (OpenID Connect Core section 5.3): claims of the user for an access token whose audience is this server. */
import { type Context, json } from 'authkernel/kernel'
import { subjectFor, userClaims } from './claims.ts'
import { findClient } from './clients.ts'
import type { ResolvedOptions } from './options.ts'
import { readRequestToken, refusalResponse } from './resource-request.ts'
import { readOwner } from './rights.ts'
import { algorithmFor, organizationClaim } from './tokens.ts'

/** `GET` and `POST /oauth2/userinfo`. */
export async function answerUserinfo(ctx: Context, options: ResolvedOptions): Promise<Response> {
  const token = await readRequestToken(ctx, options, ctx.base, ['openid'])
  if ('status' in token) return refusalResponse(ctx, options, token)
  const client = await findClient(ctx, options, token.grant.clientId)
  const user = await readOwner(ctx, token.grant)
  if (!client || !user) return refusalResponse(ctx, options, { status: 401, error: 'invalid_token', scheme: 'Bearer' })
  const claims = {
    ...(await userClaims(ctx, options, client, user, { scopes: token.scopes, requested: token.grant.claims?.userinfo ?? [] })),
    sub: await subjectFor(options, client, user.id),
    ...organizationClaim(token.grant),
  }
  if (client.metadata.userinfo_signed_response_alg === undefined) return json(claims, 200, { 'Cache-Control': 'no-store' })
  // Section 5.3.2: issuer and audience, so that no client passes it on to another one.
  const keys = ctx.service('signingKeys')
  const algorithm = algorithmFor(keys, client.metadata.userinfo_signed_response_alg)
  const signed = await keys.sign(ctx, 'JWT', { ...claims, iss: ctx.base, aud: client.id }, { algorithm })
  return new Response(signed, { headers: { 'Content-Type': 'application/jwt', 'Cache-Control': 'no-store' } })
}
