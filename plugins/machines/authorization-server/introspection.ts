/** What clients and resource servers learn of tokens (RFC 7662), and how a client gives one back (RFC 7009). */
import { type Context, json } from 'authkernel/kernel'
import { sessionOfRefresh } from '../bearer/rotation.ts'
import { detailsFor } from './authorization-details.ts'
import { subjectFor } from './claims.ts'
import { agentPrefix, findAgent } from './agent-client.ts'
import { authenticateClient, readForm } from './client-auth.ts'
import type { Client } from './clients.ts'
import { OAuthRefusal } from './errors.ts'
import { endGrant, grantFamilies } from './grants.ts'
import type { ResolvedOptions } from './options.ts'
import { allowedScopes, readOwner } from './rights.ts'
import { actorClaims, algorithmFor, confirmationClaim, findLiveToken, findResource, type LiveToken, organizationClaim } from './tokens.ts'

const inactive = { active: false }

/** `POST /oauth2/introspect`. What is not live, or not for the caller, is exactly `{"active":false}`. */
export async function answerIntrospection(ctx: Context, options: ResolvedOptions): Promise<Response> {
  const form = await readForm(ctx)
  const client = await authenticateClient(ctx, options, form)
  // RFC 7662 section 4: else an attacker could try out tokens.
  if (client.metadata.token_endpoint_auth_method === 'none')
    throw new OAuthRefusal('invalid_client', 'Only a client that authenticates may introspect.', 401)
  const token = form.get('token')
  if (!token) throw new OAuthRefusal('invalid_request', '`token` is missing.')
  const live = await findLiveToken(ctx, options, token)
  const audiences = live ? audiencesFor(options, client, live) : []
  const scopes = live && audiences.length > 0 ? await scopesNow(ctx, options, live) : null
  return answerWith(ctx, client, live && scopes ? await describe(options, client, live, scopes, audiences) : inactive)
}

/** A resource server that asks for it gets a signed answer, which is evidence of its own (RFC 9701). */
async function answerWith(ctx: Context, { id, metadata }: Client, answer: Readonly<Record<string, unknown>>): Promise<Response> {
  const type = 'application/token-introspection+jwt'
  if (!(ctx.request.headers.get('accept') ?? '').toLowerCase().includes(type)) return json(answer, 200, { 'Cache-Control': 'no-store' })
  const claims = { iss: ctx.base, aud: id, iat: Math.floor(ctx.now.getTime() / 1000), token_introspection: answer }
  const keys = ctx.service('signingKeys')
  const algorithm = algorithmFor(keys, metadata.introspection_signed_response_alg)
  const signed = await keys.sign(ctx, 'token-introspection+jwt', claims, { algorithm })
  return new Response(signed, { headers: { 'Content-Type': type, 'Cache-Control': 'no-store' } })
}

/** `POST /oauth2/revoke`. Either token ends the grant, and with it all its tokens. A token that is not live is revoked already: 200. */
export async function answerRevocation(ctx: Context, options: ResolvedOptions): Promise<Response> {
  const form = await readForm(ctx)
  const client = await authenticateClient(ctx, options, form)
  const token = form.get('token')
  if (!token) throw new OAuthRefusal('invalid_request', '`token` is missing.')
  const grant =
    (await sessionOfRefresh(ctx, grantFamilies(ctx, options), client.id, token)) ?? (await findLiveToken(ctx, options, token))?.grant
  if (grant && grant.clientId !== client.id) throw new OAuthRefusal('invalid_grant', 'The token is of another client.')
  if (grant) await endGrant(ctx, grant.id, 'client')
  return new Response(null, { headers: { 'Cache-Control': 'no-store' } })
}

/** What a live token may now; null: its user is gone or rejected. */
export async function scopesNow(ctx: Context, options: ResolvedOptions, { grant, scopes }: LiveToken): Promise<string[] | null> {
  if (grant.userId === null) return scopes
  const within = await scopesOfAgent(ctx, options, grant.clientId, scopes)
  if (!within) return null
  // One query for a token: the user is read only for the host's own question.
  if (!options.can) return (await ctx.access.allows(grant.userId, 'appToken')) ? within : null
  const user = await readOwner(ctx, grant)
  const metadata = { scope: within.join(' ') } as Client['metadata']
  return user && allowedScopes(ctx, options, user, { id: grant.clientId, metadata }, within)
}

/** Null: the token belongs to an agent that may not act now, also where its grant could not be ended. Others keep their scopes. */
async function scopesOfAgent(ctx: Context, options: ResolvedOptions, clientId: string, scopes: string[]): Promise<string[] | null> {
  if (!clientId.startsWith(agentPrefix) || options.clients.has(clientId)) return scopes
  const agent = await findAgent(ctx, options, clientId)
  return agent ? scopes.filter((scope) => agent.scopes.includes(scope)) : null
}

/** The client of the token sees all; a resource server sees what is for it. */
function audiencesFor(options: ResolvedOptions, { id }: Client, { grant, audiences }: LiveToken): string[] {
  if (grant.clientId === id) return audiences
  return audiences.filter((audience) => findResource(options, audience)?.introspectedBy.includes(id))
}

async function describe(
  options: ResolvedOptions,
  client: Client,
  { grant, details, x5t, end }: LiveToken,
  scopes: readonly string[],
  audiences: readonly string[],
): Promise<Record<string, unknown>> {
  const { userId, clientId, jkt, issuer, started, attributes } = grant
  const own = detailsFor(options, details, audiences)
  // A client with pairwise subjects learns no other id of the user.
  const sub = userId === null ? clientId : clientId === client.id ? await subjectFor(options, client, userId) : userId
  return {
    active: true,
    iss: issuer,
    sub,
    client_id: clientId,
    aud: audiences.length === 1 ? audiences[0] : audiences,
    exp: end,
    iat: Math.floor(started.getTime() / 1000),
    token_type: jkt === null ? 'Bearer' : 'DPoP',
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    ...confirmationClaim({ jkt, x5t }),
    ...organizationClaim(grant),
    ...actorClaims(grant),
    ...(own.length > 0 && { authorization_details: own }),
    ...(attributes && { auth_time: attributes.authTime }),
  }
}
