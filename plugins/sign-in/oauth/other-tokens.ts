/** JWTs of a provider that are no ID tokens: logout tokens, security events (RFC 8725). */
import type { AnyContext, VerifiedToken, VerifyOptions } from 'authkernel/kernel'
import type { JsonObject } from 'authkernel/kernel/protocols'
import { oauthClient, clockTolerance } from './client.ts'
import { Refusal, TokenRefusal } from './errors.ts'
import { issuerFor } from './id-token.ts'
import { parseJson } from './json.ts'
import { type Signer, verifySignature } from './keys.ts'

const maxToken = 65_536

/** Throws TokenRefusal for the token, `Refusal` and NetworkError for the provider, and the errors of jose. */
export async function verifyToken(
  ctx: AnyContext,
  signer: Signer,
  jwt: string,
  { typ, claims: needed = [], audience: wanted }: VerifyOptions,
): Promise<VerifiedToken> {
  if (typeof jwt !== 'string' || jwt.length > maxToken) throw new TokenRefusal('The token is not a text, or too long.')
  const client = oauthClient(ctx, signer.provider)
  const { provider } = signer
  const signed = provider.decryptionKey === undefined ? jwt : await (await import('./jwe.ts')).decryptToken(provider, jwt, {}, 'The token')
  const { header, payload } = await verifySignature(signer, signed, client.id_token_signed_response_alg)
  const claims = readClaims(payload)
  checkTyp((header as { typ?: unknown }).typ, typeof typ === 'string' ? [typ] : typ)
  for (const name of ['iss', 'aud', ...needed]) if (claims[name] === undefined) throw new TokenRefusal(`The token has no \`${name}\`.`)
  if (claims['iss'] !== expectedIssuer(provider, signer.server, claims)) throw new TokenRefusal('The token is of another issuer (`iss`).')
  const audience = claims['aud']
  const named = typeof audience === 'string' ? [audience] : Array.isArray(audience) ? (audience as unknown[]) : []
  if (wanted === undefined ? !named.includes(client.client_id) : named.length !== 1 || named[0] !== wanted)
    throw new TokenRefusal('The token is for another client (`aud`).')
  checkTimes(claims, Math.floor(ctx.runtime.now() / 1000))
  // Callers read further members of the header, which are unchecked input.
  return { header: header as unknown as Record<string, unknown>, claims }
}

function readClaims(payload: Uint8Array): JsonObject {
  try {
    return parseJson(payload, 'The token')
  } catch (error) {
    throw error instanceof Refusal ? new TokenRefusal(error.message) : error
  }
}

// What the provider's `issuerOf` throws is about the claims.
function expectedIssuer(provider: Signer['provider'], server: Signer['server'], claims: JsonObject): string | undefined {
  try {
    return issuerFor(provider, server, claims)
  } catch {
    return undefined
  }
}

// RFC 8725 section 3.11.
function checkTyp(given: unknown, accepted: readonly (string | undefined)[]): void {
  const name = typeof given === 'string' ? given.toLowerCase().replace(/^application\//, '') : given
  if (!accepted.some((type) => type?.toLowerCase() === name)) throw new TokenRefusal('The token is of another type (`typ`).')
}

function checkTimes(claims: JsonObject, now: number): void {
  for (const name of ['exp', 'iat', 'nbf']) {
    const value = claims[name]
    if (value !== undefined && (typeof value !== 'number' || !Number.isFinite(value)))
      throw new TokenRefusal(`The token has a \`${name}\` that is no number.`)
  }
  const { exp, iat, nbf } = claims as { exp?: number; iat?: number; nbf?: number }
  if (exp !== undefined && exp <= now - clockTolerance) throw new TokenRefusal('The token has expired.')
  if (Math.max(iat ?? 0, nbf ?? 0) > now + clockTolerance) throw new TokenRefusal('The token is from the future.')
}
