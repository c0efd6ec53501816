/** A security event token (RFC 8417), verified. */
import { type AnyContext, OAuthRequestError } from 'authkernel/kernel'
import { unverifiedJwt, isJsonObject, type JsonObject } from 'authkernel/kernel/protocols'
import { type SignalErrorCode, SignalRefused } from './errors.ts'

/** What a verified token says. */
export interface SecurityEventToken {
  jti: string
  /** Seconds since the epoch. */
  iat: number
  issuer: string
  /** Payloads by the URI of their type. */
  events: Readonly<Record<string, JsonObject>>
  /** Who all of it is about; older senders say it in each event. */
  subject: unknown
}

const type = 'secevent+jwt'

/** Throws SignalRefused for what the sender did wrong, and OAuthRequestError when the keys of the sender cannot be had. */
export async function verifySecurityEventToken(ctx: AnyContext, provider: string, jwt: string): Promise<SecurityEventToken> {
  const oauth = ctx.service('oauth')
  const stated = unverifiedJwt(jwt)
  if (!stated) throw createRefusal('invalid_request', 'The body must be one signed JWT.')
  const { issuer } = await oauth.metadata(ctx, provider, stated.claims)
  // Before the signature: what is wrong is named by its code. Nothing of it is used unless the signature is right.
  if (!isType(stated.header['typ'])) throw createRefusal('invalid_request', `The header \`typ\` must be ${type}.`)
  if (stated.claims['iss'] !== issuer) throw createRefusal('invalid_issuer', 'The token is of another issuer.')
  const { clientId } = (await ctx.providerById(provider)) as { clientId?: string }
  if (clientId !== undefined && ![stated.claims['aud']].flat().includes(clientId))
    throw createRefusal('invalid_audience', 'The token is for another audience.')
  const { iat, jti } = stated.claims
  if (typeof iat !== 'number' || !Number.isFinite(iat)) throw createRefusal('invalid_request', 'The token has no `iat`.')
  if (iat * 1000 > ctx.runtime.now() + 60_000) throw createRefusal('invalid_request', 'The token is from the future.')
  if (typeof jti !== 'string' || !/^[\x21-\x7e]{1,200}$/.test(jti))
    throw createRefusal('invalid_request', 'The token needs a `jti` of 1 to 200 visible ASCII characters.')
  const { claims } = await oauth.verify(ctx, provider, jwt, { typ: type, claims: ['iat', 'jti'] }).catch((error: unknown) => {
    throw verdictOf(error)
  })
  return { jti, iat, issuer, events: eventsOf(claims['events']), subject: claims['sub_id'] }
}

/** The sender's fault is told; where its keys could not be had, it should send the token again. */
function verdictOf(error: unknown): unknown {
  if (!(error instanceof OAuthRequestError) || !error.invalidToken) return error
  const err = error.cause?.err
  if (error.invalidSignature) return createRefusal('invalid_key', 'The signature is not one of the issuer.', err)
  return createRefusal('invalid_request', 'The token does not count now.', err)
}

function eventsOf(value: unknown): SecurityEventToken['events'] {
  if (!isJsonObject(value) || Object.keys(value).length === 0 || !Object.values(value).every(isJsonObject))
    throw createRefusal('invalid_request', '`events` must be an object of objects.')
  return value as SecurityEventToken['events']
}

function isType(value: unknown): boolean {
  return typeof value === 'string' && value.toLowerCase().replace(/^application\//, '') === type
}

function createRefusal(code: SignalErrorCode, message: string, err?: Error): SignalRefused {
  return new SignalRefused(code, message, err)
}
