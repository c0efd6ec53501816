/** The identity provider's side of the Identity Assertion JWT Authorization Grant: an ID token becomes an assertion for one other server (draft-04 section 4.3). */
import { type Context, toBase64Url, type TokenAnswer } from 'authkernel/kernel'
import { listRows } from 'authkernel/kernel/stores'
import { OAuthRefusal } from './errors.ts'
import { readOwner } from './rights.ts'
import { acrOf } from './proof.ts'
import type { OAuthGrant } from './tables.ts'
import type { GrantCall } from './token-answer.ts'
import { sidOf } from './tokens.ts'

/** `requested_token_type` of an assertion. */
export const assertionTokenType = 'urn:ietf:params:oauth:token-type:id-jag'
/** `typ` in its header, so that it passes for no other token. */
export const assertionType = 'oauth-id-jag+jwt'
const idTokenType = 'urn:ietf:params:oauth:token-type:id_token'
/** Seconds that it lives: it is exchanged at once. */
const lifetime = 300

/** Throws OAuthRefusal `invalid_request`, `invalid_target`, `invalid_grant`, `access_denied`. */
export async function issueAssertion(call: GrantCall): Promise<TokenAnswer> {
  const { ctx, options, client, form, jkt } = call
  if (client.metadata.token_endpoint_auth_method === 'none')
    throw new OAuthRefusal('unauthorized_client', 'Only a client that authenticates may get an assertion.')
  if (form.getAll('audience').length !== 1) throw new OAuthRefusal('invalid_request', '`audience` must be the issuer of one server.')
  const audience = options.assertions.issueTo.get(form.get('audience') ?? '')
  const clientThere = audience && Object.hasOwn(audience.clients, client.id) ? audience.clients[client.id] : undefined
  if (!audience || clientThere === undefined) throw new OAuthRefusal('invalid_target', 'The client gets no assertions for this server.')
  const grant = await findGrantOfIdToken(call)
  const user = await readOwner(ctx, grant)
  if (!user) throw invalidSubject()
  const scopes = form.get('scope')?.split(' ').filter(Boolean) ?? []
  const resources = form.getAll('resource')
  if (resources.some((one) => !URL.canParse(one) || one.includes('#')) || scopes.length > 100)
    throw new OAuthRefusal('invalid_target', '`resource` must be an absolute URI without fragment.')
  if (audience.allow && (await audience.allow({ user, client: client.id, audience: audience.issuer, scopes, resources, ctx })) !== true)
    throw new OAuthRefusal('access_denied', 'The policy of this server does not allow it.')
  const now = Math.floor(ctx.now.getTime() / 1000)
  const { attributes } = grant
  const text = await ctx.service('signingKeys').sign(ctx, assertionType, {
    iss: ctx.base,
    sub: user.id,
    aud: audience.issuer,
    client_id: clientThere,
    jti: toBase64Url(ctx.runtime.random(16)),
    iat: now,
    exp: now + lifetime,
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    ...(resources.length > 0 && { resource: resources.length === 1 ? resources[0] : resources }),
    ...(jkt !== null && { cnf: { jkt } }),
    ...(attributes && { auth_time: attributes.authTime, acr: acrOf(attributes), amr: Object.keys(attributes.methods) }),
  })
  await ctx.emit('identityAsserted', { user: { id: user.id }, clientId: client.id, audience: audience.issuer, scopes })
  return {
    access_token: text,
    issued_token_type: assertionTokenType,
    token_type: 'N_A',
    expires_in: lifetime,
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
  }
}

/** An ID token that this server gave this client, while the grant that it came with lives: what ended took its assertions with it. */
async function findGrantOfIdToken({ ctx, client, form }: GrantCall): Promise<OAuthGrant> {
  const [text, type] = [form.get('subject_token'), form.get('subject_token_type')]
  if (!text || type !== idTokenType) throw new OAuthRefusal('invalid_request', `\`subject_token\` must be an ID token (${idTokenType}).`)
  if (form.has('actor_token')) throw new OAuthRefusal('invalid_request', 'An assertion has no actor.')
  const claims = await ctx.service('signingKeys').open(ctx, 'JWT', text)
  const { sub, sid } = claims ?? {}
  const isOwn = claims?.['iss'] === ctx.base && claims['aud'] === client.id && Number(claims['exp']) * 1000 > ctx.now.getTime()
  if (!isOwn || typeof sub !== 'string' || typeof sid !== 'string') throw invalidSubject()
  return (await findLiveGrant(ctx, client.id, sub, sid)) ?? refuseSubject()
}

async function findLiveGrant(ctx: Context, clientId: string, userId: string, sid: string): Promise<OAuthGrant | undefined> {
  const grants = (await listRows(ctx.records('oauthGrant'), { where: { userId } })).filter((grant) => grant.clientId === clientId)
  for (const grant of grants) if (grant.session !== '' && (await sidOf(grant)) === sid) return grant
  return undefined
}

function refuseSubject(): never {
  throw invalidSubject()
}

function invalidSubject(): OAuthRefusal {
  return new OAuthRefusal('invalid_grant', 'The `subject_token` is no live ID token of this client.')
}
