/** Proofs of Device Bound Session Credentials: a JWT of type `dbsc+jwt`, signed with ES256 by a key in the device. */
import { type Context, equal, fromBase64 } from 'authkernel/kernel'

/** A public key of P-256. */
export interface PublicKey {
  kty: 'EC'
  crv: 'P-256'
  x: string
  y: string
}

/** Null: no proof. Otherwise the key that it was signed with: `known`, or the one that it brings. */
export async function checkProof(
  ctx: Context,
  header: string | null,
  challenge: string,
  known: PublicKey | null,
): Promise<PublicKey | null> {
  // A structured header is a quoted text; older browsers send it bare.
  const text = header?.trim().replace(/^"(.*)"$/, '$1') ?? ''
  const [head = '', body = '', signature = '', more] = text.split('.')
  if (text.length > 8192 || more !== undefined || signature === '') return null
  const [top, claims] = [partOf(head), partOf(body)]
  if (!top || !claims || top['typ'] !== 'dbsc+jwt' || top['alg'] !== 'ES256') return null
  if (typeof claims['jti'] !== 'string' || !equal(claims['jti'], challenge)) return null
  // A proof that names whom it is for must name us.
  const { aud } = claims
  if (aud !== undefined && !(typeof aud === 'string' && (aud === ctx.origin || aud.startsWith(`${ctx.origin}/`)))) return null
  const key = known ?? readProofJwk(top['jwk'] ?? claims['jwk'] ?? claims['key'])
  if (!key) return null
  try {
    const publicKey = await crypto.subtle.importKey('jwk', { ...key }, { name: 'ECDSA', namedCurve: 'P-256' }, false, ['verify'])
    const signed = new TextEncoder().encode(`${head}.${body}`)
    const fits = await crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, publicKey, bytesOf(signature), signed)
    return fits ? key : null
  } catch {
    // A point that is not on the curve, or a signature of another length.
    return null
  }
}

/** Members that matter, and nothing of a private key. */
function readProofJwk(jwk: unknown): PublicKey | null {
  const { kty, crv, x, y } = Object(jwk) as Record<string, unknown>
  const coordinate = (value: unknown): value is string => typeof value === 'string' && /^[\w-]{43}$/.test(value)
  return kty === 'EC' && crv === 'P-256' && coordinate(x) && coordinate(y) ? { kty, crv, x, y } : null
}

function partOf(text: string): Record<string, unknown> | null {
  try {
    const found: unknown = JSON.parse(new TextDecoder().decode(bytesOf(text)))
    return typeof found === 'object' && found !== null && !Array.isArray(found) ? (found as Record<string, unknown>) : null
  } catch {
    return null
  }
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  if (!/^[\w-]*$/.test(text)) throw new TypeError('no base64url')
  return fromBase64(text)
}
