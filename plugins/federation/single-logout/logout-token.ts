/** A logout token, verified (OpenID Connect Back-Channel Logout 1.0 section 2.6). */
import { type AnyContext, OAuthRequestError } from 'authkernel/kernel'
import { unverifiedJwt, isJsonObject, type JsonObject } from 'authkernel/kernel/protocols'
import { LogoutRefused } from './errors.ts'

/** Who is signed out; at least one of `sub` and `sid` is there. Times in seconds. */
export interface LogoutToken {
  jti: string
  iat: number
  exp: number
  sub: string | undefined
  sid: string | undefined
  issuer: string
}

const event = 'http://schemas.openid.net/event/backchannel-logout'
const type = 'logout+jwt'
// Seconds.
const leeway = 60
const maxAge = 600
const maxLegacyAge = 120
const maxName = 255

/** Throws LogoutRefused for what the provider did wrong, and OAuthRequestError when its keys cannot be had. */
export async function verifyLogoutToken(ctx: AnyContext, provider: string, jwt: string, legacy: boolean): Promise<LogoutToken> {
  const oauth = ctx.service('oauth')
  const stated = unverifiedJwt(jwt)
  const metadata = await oauth.metadata(ctx, provider, stated?.claims)
  const { clientId, client } = (await ctx.providerById(provider)) as {
    clientId?: string
    client?: { client_id?: string; id_token_signed_response_alg?: string }
  }
  const expected: ExpectedLogoutToken = {
    provider,
    issuer: metadata.issuer,
    audience: client?.client_id ?? clientId ?? '',
    legacy,
    now: ctx.runtime.now() / 1000,
  }
  const algorithms = client?.id_token_signed_response_alg ?? metadata['id_token_signing_alg_values_supported']
  // First without the signature, so that a refusal can say why; nothing is used before the signature was checked. What is encrypted is seen afterwards.
  const encrypted = /^[\w-]+(\.[\w-]*){4}$/.test(jwt)
  if (!encrypted) {
    if (!stated) throw new LogoutRefused('`logout_token` is not a signed JWT.')
    checkHeader(stated.header, expected, algorithms)
    checkClaims(stated.claims, expected)
  }
  const typ = legacy ? [type, 'JWT', undefined] : type
  const { header, claims } = await oauth.verify(ctx, provider, jwt, { typ, claims: ['iat', 'jti', 'events'] }).catch((error: unknown) => {
    throw toRefusal(error)
  })
  checkHeader(header, expected, algorithms)
  const { issuer } = encrypted ? await oauth.metadata(ctx, provider, claims) : metadata
  return checkClaims(claims, { ...expected, issuer })
}

interface ExpectedLogoutToken {
  provider: string
  issuer: string
  audience: string
  legacy: boolean
  now: number
}

/** `algorithms`: the one that the client registered, else those that the issuer names. */
function checkHeader({ typ, alg }: JsonObject, { provider, legacy }: ExpectedLogoutToken, algorithms: unknown): void {
  const listed = typeof algorithms === 'string' ? [algorithms] : algorithms
  if (typeof alg !== 'string' || alg === 'none' || (Array.isArray(listed) && listed.length > 0 && !listed.includes(alg)))
    throw new LogoutRefused(`The logout token of provider "${provider}" is signed with an algorithm that is not the client's (\`alg\`).`)
  const name = typeof typ === 'string' ? typ.toLowerCase().replace(/^application\//, '') : typ
  if (name === type || (legacy && (name === undefined || name === 'jwt'))) return
  throw new LogoutRefused(
    `The logout token of provider "${provider}" has not the header \`typ: ${type}\`.${name === undefined || name === 'jwt' ? remedyFor(provider) : ''}`,
  )
}

function checkClaims(claims: JsonObject, { provider, issuer, audience, legacy, now }: ExpectedLogoutToken): LogoutToken {
  const refuse = (what: string): never => {
    throw new LogoutRefused(`The logout token of provider "${provider}" ${what}.`)
  }
  const { iat, exp = legacy ? (iat as number) + maxLegacyAge : undefined, jti, sub, sid, events } = claims
  if (claims['iss'] !== issuer) refuse('is of another issuer (`iss`)')
  if (![claims['aud']].flat().includes(audience)) refuse('is for another client (`aud`)')
  if ('nonce' in claims) refuse('has a `nonce`, as ID tokens have')
  if (!isTime(iat)) return refuse('has no `iat`')
  if (iat > now + leeway) refuse('is from the future (`iat`)')
  if (iat < now - (legacy && claims['exp'] === undefined ? maxLegacyAge : maxAge)) refuse('is too old (`iat`)')
  if (exp === undefined) return refuse(`has no \`exp\`.${remedyFor(provider)}`)
  if (!isTime(exp)) return refuse('has an `exp` that is no time')
  if (exp <= now - leeway) refuse('has expired (`exp`)')
  if (typeof jti !== 'string' || jti === '') return refuse('has no `jti`')
  const logout = isJsonObject(events) && Object.hasOwn(events, event) ? events[event] : undefined
  if (!isJsonObject(logout)) refuse('says nothing of a logout (`events`)')
  if (!isName(sub) || !isName(sid) || (sub === undefined && sid === undefined)) return refuse('names no user and no session (`sub`, `sid`)')
  return { jti, iat, exp, sub, sid, issuer }
}

function remedyFor(provider: string): string {
  return ` If this provider sends no others, set \`providers.${provider}.legacyLogoutTokens: true\` of singleLogoutPlugin`
}

/** Where the keys could not be had, the provider should send the token again. */
function toRefusal(error: unknown): unknown {
  if (!(error instanceof OAuthRequestError) || !error.invalidToken) return error
  return new LogoutRefused('The logout token is not one of the issuer for this client.', error.cause?.err)
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}

function isName(value: unknown): value is string | undefined {
  return value === undefined || (typeof value === 'string' && value !== '' && value.length <= maxName)
}
