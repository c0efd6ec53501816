/** The resource server's side of the Identity Assertion JWT Authorization Grant (draft-04 section 4.4, RFC 7523): an assertion of a trusted provider becomes an access token. */
import { type Context, setBounded, sha256, type TokenAnswer, toHex } from 'authkernel/kernel'
import { indexedName } from 'authkernel/kernel/strategies'
import { clientAlgorithms } from './client-metadata.ts'
import { OAuthRefusal } from './errors.ts'
import { createGrant, describeGrant, writeGrant } from './grants.ts'
import type { AssertionIssuer } from './identity-assertion-options.ts'
import { assertionType } from './identity-assertion-issue.ts'
import { scopesWithoutPage } from './organization-consent.ts'
import { canonicalResource, openidScopes, type Resource } from './options.ts'
import { scopesAndAudiences } from './request.ts'
import { allowedScopes, readOwner } from './rights.ts'
import type { GrantCall } from './token-answer.ts'
import { makeToken } from './tokens.ts'

/** The `grant_type`. */
export const jwtBearerGrant = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
/** Seconds that an assertion may live, and that clocks may differ. */
const maxAge = 600
const skew = 30
const keysLifetime = 600_000

interface Assertion {
  sub: string
  jti: string
  exp: number
  scopes: string[] | undefined
  resources: string[]
  jkt: string | undefined
}

/** No refresh token and no ID token: the client asks its provider again. Throws OAuthRefusal `invalid_grant`, which does not say why. */
export async function redeemAssertion(call: GrantCall): Promise<TokenAnswer> {
  const { ctx, options, client, form, jkt } = call
  if (client.metadata.token_endpoint_auth_method === 'none')
    throw new OAuthRefusal('unauthorized_client', 'Only a client that authenticates may bring an assertion.')
  const text = form.get('assertion')
  if (!text) throw new OAuthRefusal('invalid_request', '`assertion` is missing.')
  const { issuer, assertion } = await readAssertion(call, text)
  if (assertion.jkt !== undefined && assertion.jkt !== jkt) throw invalidAssertion()
  const account = await ctx.store?.getUserByAccount({ provider: issuer.provider, providerAccountId: assertion.sub })
  if (!account) throw invalidAssertion()
  const access = await ctx.access.stamp(`user:${account.id}`, [{ provider: issuer.provider, sub: assertion.sub }])
  const { scopes, audiences } = readTargets(call, assertion)
  const user = await readOwner(ctx, { userId: account.id })
  if (!user) throw invalidAssertion()
  const within = await scopesWithoutPage(ctx, options, client, user.id, scopes)
  const allowed = await allowedScopes(ctx, options, user, client, within)
  // Single use, so that a copied assertion gives no second token.
  const used = toHex(await sha256(`${issuer.issuer} ${assertion.jti}`))
  if (!(await ctx.once.take(`authorization-server.id-jag ${used}`, maxAge + 2 * skew))) throw invalidAssertion()
  const source = { userId: user.id, scopes: allowed, audiences, attributes: null, session: '' }
  const { session: fresh } = await createGrant(call, source)
  const ends = new Date(ctx.now.getTime() + options.tokenAge * 1000)
  // A logout token of the provider ends what rests on its session.
  const grant = { ...fresh, ends, expires: ends, provider: issuer.provider, sub: await indexedName(assertion.sub) }
  if (!(await writeGrant(ctx, client, grant, access, [{ record: 'oauthGrant', create: grant }]))) throw invalidAssertion()
  await ctx.emit('clientGranted', describeGrant(grant))
  const made = await makeToken(ctx, options, client, grant, allowed, audiences)
  return { access_token: made.text, token_type: jkt === null ? 'Bearer' : 'DPoP', expires_in: made.seconds, scope: made.scopes.join(' ') }
}

/** Signature, issuer, audience, client, time. An assertion is for this server and this client alone. */
async function readAssertion(
  { ctx, options, client }: GrantCall,
  text: string,
): Promise<{ issuer: AssertionIssuer; assertion: Assertion }> {
  const { createLocalJWKSet, decodeJwt, errors, jwtVerify } = await import('jose')
  if (text.length > 16_384) throw invalidAssertion()
  try {
    // Says whose keys to ask; nothing is believed before the signature is checked.
    const issuer = options.assertions.trust.get(decodeJwt(text).iss ?? '')
    if (!issuer || (issuer.clients && !issuer.clients.includes(client.id))) throw invalidAssertion()
    const { payload } = await jwtVerify(
      text,
      createLocalJWKSet((await keysOf(ctx, issuer)) as never /* keys of the host, or public ones that were read */),
      {
        algorithms: [...clientAlgorithms],
        typ: assertionType,
        issuer: issuer.issuer,
        audience: ctx.base,
        requiredClaims: ['exp', 'iat', 'jti', 'sub', 'client_id'],
        clockTolerance: skew,
        currentDate: ctx.now,
      },
    )
    const { sub, jti, exp = 0, iat = 0, aud, scope, resource, cnf } = payload
    const isFit =
      [aud].flat().length === 1 &&
      payload['client_id'] === client.id &&
      exp - iat <= maxAge &&
      iat <= ctx.now.getTime() / 1000 + skew &&
      typeof sub === 'string' &&
      typeof jti === 'string'
    if (!isFit) throw invalidAssertion()
    const jkt = cnf === undefined ? undefined : String((cnf as { jkt?: unknown }).jkt)
    const resources = resource === undefined ? [] : [resource].flat().map(String)
    return {
      issuer,
      assertion: { sub, jti, exp, scopes: typeof scope === 'string' ? scope.split(' ').filter(Boolean) : undefined, resources, jkt },
    }
  } catch (error) {
    if (error instanceof errors.JOSEError) throw invalidAssertion()
    throw error
  }
}

/** What the assertion and the request name, and the client may have. Neither widens the other. */
function readTargets({ ctx, options, client, form }: GrantCall, assertion: Assertion): { scopes: string[]; audiences: string[] } {
  const asserted = assertion.resources.map((name) => canonicalResource(name))
  const named = form.getAll('resource').map((name) => canonicalResource(name))
  if (asserted.length > 0 && named.some((name) => !asserted.includes(name)))
    throw new OAuthRefusal('invalid_target', 'The assertion is not for this resource.')
  const resources = (named.length > 0 ? named : asserted).map((name) => options.resources.get(name))
  if (resources.some((resource) => !resource)) throw new OAuthRefusal('invalid_target', 'The resource is unknown.')
  const wanted = form.get('scope')?.split(' ').filter(Boolean)
  if (wanted && assertion.scopes && !wanted.every((scope) => assertion.scopes?.includes(scope)))
    throw new OAuthRefusal('invalid_scope', 'The assertion does not have one of these scopes.')
  const asked = scopesAndAudiences(ctx.base, options, client, (wanted ?? assertion.scopes)?.join(' '), resources as Resource[])
  if (!asked) throw new OAuthRefusal('invalid_scope', 'The client may not ask for one of these scopes.')
  const scopes = asked.scopes.filter((scope) => !openidScopes.includes(scope))
  const audiences = asked.audiences.filter((audience) => audience !== ctx.base)
  if (audiences.length === 0) throw new OAuthRefusal('invalid_target', 'Name a `resource`, or scopes of one.')
  return { scopes, audiences }
}

async function keysOf(ctx: Context, { jwks, jwks_uri: uri }: AssertionIssuer): Promise<{ keys: readonly Record<string, unknown>[] }> {
  if (jwks || uri === undefined) return jwks ?? { keys: [] }
  const sets = ctx.app.shared.cache<{ until: number; keys: Record<string, unknown>[] }>('authorization-server.assertion-keys')
  const known = sets.get(uri)
  if (known && known.until > ctx.runtime.now()) return known
  const { content } = await ctx
    .service('publicFetch')
    .get(uri, { types: ['application/json', 'application/jwk-set+json'], signal: ctx.signal })
  const { keys } = JSON.parse(new TextDecoder().decode(content)) as { keys: Record<string, unknown>[] }
  const fresh = { until: ctx.runtime.now() + keysLifetime, keys: keys.filter(({ kty }) => kty !== 'oct') }
  setBounded(sets, uri, fresh, 100)
  return fresh
}

function invalidAssertion(): OAuthRefusal {
  return new OAuthRefusal('invalid_grant', 'The assertion is unknown, used or too old, or not for this server and client.')
}
