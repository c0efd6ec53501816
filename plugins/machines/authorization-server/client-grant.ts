/** A client gets a token for itself (RFC 6749 section 4.4). */
import type { TokenAnswer } from 'authkernel/kernel'
import { OAuthRefusal } from './errors.ts'
import { createGrant, writeGrant } from './grants.ts'
import { canonicalResource, type Resource } from './options.ts'
import { scopesAndAudiences } from './request.ts'
import type { GrantCall } from './token-answer.ts'
import { makeToken } from './tokens.ts'

/** No user, no refresh token, no ID token. Throws OAuthRefusal `invalid_scope` and `invalid_target`. */
export async function giveToClient(call: GrantCall): Promise<TokenAnswer> {
  const { ctx, options, client, form, jkt } = call
  const resources = form.getAll('resource').map((name) => options.resources.get(canonicalResource(name)))
  if (resources.some((resource) => !resource)) throw new OAuthRefusal('invalid_target', 'The resource is unknown.')
  const asked = scopesAndAudiences(
    ctx.base,
    options,
    client,
    form.get('scope') ?? client.metadata.scope ?? undefined,
    resources as Resource[],
  )
  if (!asked) throw new OAuthRefusal('invalid_scope', 'The client may not ask for one of these scopes.')
  const offered = [...options.resources.values()].flatMap((resource) => resource.scopes)
  const scopes = asked.scopes.filter((scope) => offered.includes(scope))
  const audiences = asked.audiences.filter((audience) => audience !== ctx.base)
  if (audiences.length === 0) throw new OAuthRefusal('invalid_target', 'Name a `resource`, or scopes of one.')
  const { session: grant } = await createGrant(call, { userId: null, attributes: null, session: '', scopes, audiences })
  if (!(await writeGrant(ctx, client, grant, null, [{ record: 'oauthGrant', create: grant }])))
    throw new OAuthRefusal('invalid_client', 'The client was disabled at this moment.', 401)
  const made = await makeToken(ctx, options, client, grant, scopes, audiences)
  return { access_token: made.text, token_type: jkt === null ? 'Bearer' : 'DPoP', expires_in: made.seconds, scope: made.scopes.join(' ') }
}
