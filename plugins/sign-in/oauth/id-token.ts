/** What an ID token must say beyond what the OAuth library checks (OpenID Connect Core 3.1.3.7, RFC 8725). */
import { equal } from 'authkernel/kernel'
import type { CompactJWSHeaderParameters } from 'jose'
import { clockTolerance } from './client.ts'
import { Refusal } from './failure.ts'
import { hashOf } from './hash.ts'
import type { JsonObject } from './types.ts'

// Entra dates its tokens five minutes back; an answer to this sign-in cannot be much older than that.
const maxAge = 480
const maxSubject = 255

/** Values that the token may be bound to. */
export interface Bindings {
  clientId: string
  accessToken: string
  code: string | undefined
  /** Seconds since the epoch. */
  now: number
}

/** Throws Refusal. iss, aud, exp, nbf, nonce and the types of all of them were checked before. */
export async function checkIdToken(header: CompactJWSHeaderParameters, claims: JsonObject, bound: Bindings): Promise<void> {
  checkType(header, claims)
  checkAudience(claims, bound.clientId)
  const issued = claims['iat'] as number
  if (issued > bound.now + clockTolerance) throw new Refusal('The ID token was issued in the future.')
  if (issued < bound.now - maxAge)
    throw new Refusal(`The ID token was issued more than ${maxAge} seconds ago: it is not the answer to this sign-in.`)
  checkSubject(claims['sub'])
  if (claims['at_hash'] !== undefined) await checkHash(header, 'at_hash', claims['at_hash'], bound.accessToken)
  if (claims['c_hash'] !== undefined) await checkHash(header, 'c_hash', claims['c_hash'], bound.code)
}

/** An identifier that every store keeps as it is. Throws Refusal. */
export function checkSubject(subject: unknown, what = 'The claim sub'): asserts subject is string {
  if (typeof subject !== 'string' || subject.trim() === '') throw new Refusal(`${what} is empty or not a string.`)
  if (subject.length > maxSubject) throw new Refusal(`${what} has more than ${maxSubject} characters (OpenID Connect Core section 2).`)
  // Stores that drop or replace these would make two people one.
  if (/\p{Cc}|\p{Surrogate}|\uFFFD/u.test(subject)) throw new Refusal(`${what} holds characters that cannot be stored faithfully.`)
}

// RFC 8725 section 3.11: an access token, a logout token or another kind of JWT of the same issuer is no proof of a sign-in.
function checkType(header: CompactJWSHeaderParameters, claims: JsonObject): void {
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
  const expected = await hashOf(value, bits, true)
  if (typeof claimed !== 'string' || !equal(claimed.replace(/={1,2}$/, ''), expected)) {
    throw new Refusal(`The ID token belongs to another ${name === 'c_hash' ? 'code' : 'access token'} (\`${name}\`).`)
  }
}
