/** What an ID token must say beyond what the OAuth library checks (OpenID Connect Core 3.1.3.7, RFC 8725), and what its claims mean here. */
import { equal, type Proof } from 'authkernel/kernel'
import type { JsonObject } from 'authkernel/kernel/protocols'
import type { CompactJWSHeaderParameters } from 'jose'
import type { AuthorizationServer } from 'oauth4webapi'
import { hashText } from './checks.ts'
import { clockTolerance } from './client.ts'
import { Refusal } from './errors.ts'
import type { OAuthProvider } from './provider.ts'

// Entra dates its tokens five minutes back; an answer to this sign-in cannot be much older than that.
const maxTokenAge = 480
const maxSubject = 255
// Of `amr` and `acr`, which go into the session.
const maxMethods = 20

/** Values that the token may be bound to. */
export interface ExpectedToken {
  clientId: string
  accessToken: string
  code: string | undefined
  /** Seconds since the epoch. */
  now: number
}

/** Throws `Refusal`. iss, aud, exp, nbf, nonce and the types of all of them were checked before. */
export async function checkIdToken(header: CompactJWSHeaderParameters, claims: JsonObject, bound: ExpectedToken): Promise<void> {
  checkTokenClass(header, claims)
  checkAudience(claims, bound.clientId)
  const issued = claims['iat'] as number
  if (issued > bound.now + clockTolerance) throw new Refusal('The ID token was issued in the future.')
  if (issued < bound.now - maxTokenAge)
    throw new Refusal(`The ID token was issued more than ${maxTokenAge} seconds ago: it is not the answer to this sign-in.`)
  checkSubject(claims['sub'])
  if (claims['at_hash'] !== undefined) await checkHash(header, 'at_hash', claims['at_hash'], bound.accessToken)
  if (claims['c_hash'] !== undefined) await checkHash(header, 'c_hash', claims['c_hash'], bound.code)
}

/** An identifier that every store keeps as it is. Throws `Refusal`. */
export function checkSubject(subject: unknown, what = 'The claim sub'): asserts subject is string {
  if (typeof subject !== 'string' || subject.trim() === '') throw new Refusal(`${what} is empty or not a string.`)
  if (subject.length > maxSubject) throw new Refusal(`${what} has more than ${maxSubject} characters (OpenID Connect Core section 2).`)
  // Stores that drop or replace these would make two people one.
  if (/\p{Cc}|\p{Surrogate}|\uFFFD/u.test(subject)) throw new Refusal(`${what} holds characters that cannot be stored faithfully.`)
}

/** From the claims of the validated ID token, never from userinfo or `profile()`; undefined without `trustAssurance`. */
export function proofOfClaims(provider: OAuthProvider, claims: JsonObject | undefined): Proof | undefined {
  if (provider.type !== 'oidc' || !provider.trustAssurance || !claims) return undefined
  const { amr: methods, acr, auth_time: authTime } = claims
  const listed: unknown[] = Array.isArray(methods) ? methods.slice(0, maxMethods) : []
  const amr = listed.filter(isShortText)
  return {
    amr,
    ...(isShortText(acr) && { acr }),
    ...(Number.isSafeInteger(authTime) && { authTime: authTime as number }),
    factors: amr.includes('mfa') ? 2 : 1,
  }
}

/** What the provider calls user and session in the validated ID token: its sign-outs and signals name them so, whatever `profile()` makes of it. */
export function providerNames(provider: OAuthProvider, claims: JsonObject | undefined): Pick<Proof, 'sub' | 'sid'> {
  if (provider.type !== 'oidc' || !claims) return {}
  const { iss, sub, sid } = claims
  const toName = (name: unknown): string | undefined => (typeof name === 'string' && name !== '' ? namedBy(provider, iss, name) : undefined)
  const [user, session] = [toName(sub), toName(sid)]
  return { ...(user !== undefined && { sub: user }), ...(session !== undefined && { sid: session }) }
}

/** The one that a token with these claims must name. Throws what `issuerOf` of the provider throws. */
export function issuerFor(provider: OAuthProvider, server: AuthorizationServer, claims: Readonly<JsonObject>): string {
  if (provider.type !== 'oidc' || !provider.issuerOf) return server.issuer
  return provider.issuerOf(claims, { id: provider.id, issuer: provider.issuer })
}

/**
 * A name that an issuer gave to a user, an account or a session, as it is kept. Where a provider has several issuers, the same name of two of them means two. The names of the issuer that the provider is configured with stay as they are.
 */
export function namedBy(provider: OAuthProvider, issuer: unknown, name: string): string {
  if (provider.type !== 'oidc' || !provider.issuerOf || typeof issuer !== 'string') return name
  // An issuer has no fragment (OpenID Connect Core section 2), and an own name must not look like one of another issuer.
  return issuer === provider.issuer && !name.includes('#') ? name : `${issuer}#${name}`
}

const maxText = 200

// RFC 8725 section 3.11: an access token, a logout token or another kind of JWT of the same issuer is no proof of a sign-in.
function checkTokenClass(header: CompactJWSHeaderParameters, claims: JsonObject): void {
  const { typ, kid } = header as { typ?: unknown; kid?: unknown }
  if (typ !== undefined && (typeof typ !== 'string' || !/^(?:application\/)?(?:jwt|id_token\+jwt)$/i.test(typ))) {
    throw new Refusal('The ID token is a token of another type (`typ`).')
  }
  if (kid !== undefined && typeof kid !== 'string') throw new Refusal('The ID token names its key by something that is not a string.')
  if (claims['events'] !== undefined) throw new Refusal('The ID token is a logout or security event token.')
}

function checkAudience(claims: JsonObject, clientId: string): void {
  const audience = claims['aud']
  if (Array.isArray(audience) && !audience.every((member) => typeof member === 'string'))
    throw new Refusal('The ID token has an `aud` that is not made of strings.')
  const party = claims['azp']
  if (party !== undefined && party !== clientId) throw new Refusal('The ID token was issued to another client (`azp`).')
}

// 3.1.3.6: the left half of the hash that goes with the signature.
async function checkHash(header: CompactJWSHeaderParameters, name: string, claimed: unknown, value: string | undefined): Promise<void> {
  if (value === undefined) return
  const bits = /(256|384|512)$/.exec(header.alg)?.[1] ?? '512'
  const expected = await hashText(value, bits, true)
  if (typeof claimed !== 'string' || !equal(claimed.replace(/={1,2}$/, ''), expected)) {
    throw new Refusal(`The ID token belongs to another ${name === 'c_hash' ? 'code' : 'access token'} (\`${name}\`).`)
  }
}

function isShortText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= maxText
}
