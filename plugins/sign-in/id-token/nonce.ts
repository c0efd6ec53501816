/**
 * Nonces for ID tokens. One is a time, random bytes and a keyed digest over them, the provider, the client id of the app and the challenge of the device:
 * nothing is stored before a token comes back with it.
 */
import { type Context, equal, sha256, toBase64Url, toHex } from 'authkernel/kernel'
import { InvalidIdToken } from './errors.ts'

/** Seconds that a nonce counts, and that an ID token may be old. */
export const nonceLifetime = 300

/** Whom a nonce is for. */
export interface NonceOwner {
  provider: string
  /** Client id that the token must name as its audience. */
  clientId: string
  /** base64url of the SHA-256 of the verifier, which never leaves the device before the token (as in RFC 7636). */
  challenge: string
}

/** A new nonce. */
export async function issueNonce(ctx: Context, owner: NonceOwner): Promise<string> {
  const end = Math.floor(ctx.runtime.now() / 1000) + nonceLifetime
  const head = `${end.toString(36)}.${toBase64Url(ctx.runtime.random(16))}`
  return `${head}.${await ctx.digest(purpose, describe(head, owner))}`
}

/** Throws InvalidIdToken for a nonce of another owner, or an old one. Uses nothing up. */
export async function checkNonce(ctx: Context, nonce: string, owner: NonceOwner): Promise<void> {
  const [end = '', random = '', digest = '', ...more] = nonce.length <= maxNonce ? nonce.split('.') : []
  const digests = await ctx.digests(purpose, describe(`${end}.${random}`, owner))
  if (more.length > 0 || !digests.some((expected) => equal(expected, digest)))
    throw new InvalidIdToken('The nonce is not one of this app, this provider and this verifier.', { cause: { provider: owner.provider } })
  if (Number.parseInt(end, 36) * 1000 <= ctx.runtime.now())
    throw new InvalidIdToken(`The nonce is older than ${nonceLifetime} seconds.`, { cause: { provider: owner.provider } })
}

/** Throws InvalidIdToken unless this is the first use, in all processes. */
export async function takeNonce(ctx: Context, nonce: string, provider: string): Promise<void> {
  // Twice its lifetime: clocks of processes differ.
  if (await ctx.service('once').take(`id-token:${toHex(await sha256(nonce))}`, nonceLifetime * 2)) return
  throw new InvalidIdToken('The nonce was used before.', { cause: { provider } })
}

/** The challenge of a verifier; undefined for a text that is none (RFC 7636 section 4.1). */
export async function toChallenge(verifier: unknown): Promise<string | undefined> {
  return typeof verifier === 'string' && /^[\w.~-]{43,128}$/.test(verifier) ? toBase64Url(await sha256(verifier)) : undefined
}

const purpose = 'id-token-nonce'
const maxNonce = 256

function describe(head: string, { provider, clientId, challenge }: NonceOwner): string {
  return JSON.stringify([head, provider, clientId, challenge])
}
