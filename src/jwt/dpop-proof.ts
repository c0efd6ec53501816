/** `verifyProof`: what a DPoP proof shows (RFC 9449 section 4.3). */
import { AuthError, type ErrorRow } from '../errors/base.ts'
import { equal, sha256, toBase64Url } from '../keys/crypto.ts'

/** What a proof must fit. */
export interface ProofOptions {
  /** Method of the request: `POST`. */
  method: string
  /** URL of the request as the client knows it. Query and fragment do not count. */
  url: string | URL
  /** The access token of the request. Not given at a token endpoint. */
  accessToken?: string | undefined
  /**
   * Seconds that the time of the proof may differ from now; default 60. `'nonce'`: the time does not count, because the caller checks that it made `nonce` itself, and recently.
   */
  maxAge?: number | 'nonce' | undefined
  /** Milliseconds since the epoch; default: the clock of the process. */
  now?: (() => number) | undefined
}
/** A good proof. A server that accepts it takes `id` once. */
export interface Proof {
  /** The thumbprint of the key (RFC 7638): `cnf.jkt` of tokens. */
  jkt: string
  /** Names the proof: a hash of its key and its `jti`. */
  id: string
  nonce: string | undefined
}
/** The proof does not belong to the request, or is none. */
export class InvalidProof extends AuthError {
  static override type = 'InvalidProof'
  static override row: ErrorRow = { page: 'error', status: 401 }
}

/** Algorithms of proofs: those with a public key. `dpop_signing_alg_values_supported` of the metadata. */
export const proofAlgorithms: readonly string[] = ['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519', 'PS256', 'RS256']
const maxLength = 8192
const maxAgeDefault = 60

/** Checks all but whether the proof was used before. Throws InvalidProof. */
export async function verifyProof(text: string, options: ProofOptions): Promise<Proof> {
  const { method, url, accessToken, maxAge = maxAgeDefault, now = Date.now } = options
  // Two headers arrive as one text with a comma.
  if (text.length > maxLength || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(text)) throw new InvalidProof('The DPoP proof is no JWT, or too long.')
  const { calculateJwkThumbprint, EmbeddedJWK, jwtVerify } = await import('jose')
  const { payload, protectedHeader } = await jwtVerify(text, EmbeddedJWK, {
    algorithms: [...proofAlgorithms],
    typ: 'dpop+jwt',
    // A claim `exp` or `nbf` has no meaning here.
    currentDate: new Date(now()),
  }).catch((error: unknown) => {
    throw new InvalidProof('The DPoP proof is not signed by the key that it brings.', { cause: { err: error as Error } })
  })
  const { jti, htm, htu, iat, ath, nonce } = payload
  if (typeof jti !== 'string' || jti === '' || jti.length > 256) throw new InvalidProof('The DPoP proof has no usable `jti`.')
  if (htm !== method) throw new InvalidProof('The DPoP proof is for another method (`htm`).')
  if (!isSamePlace(htu, url)) throw new InvalidProof('The DPoP proof is for another URL (`htu`).')
  if (typeof iat !== 'number' || (maxAge !== 'nonce' && !(Math.abs(now() / 1000 - iat) <= maxAge)))
    throw new InvalidProof('The DPoP proof is too old, or from the future (`iat`).')
  if (accessToken !== undefined && (typeof ath !== 'string' || !equal(ath, toBase64Url(await sha256(accessToken)))))
    throw new InvalidProof('The DPoP proof is for another access token (`ath`).')
  const jkt = await calculateJwkThumbprint(protectedHeader.jwk ?? {})
  return { jkt, id: toBase64Url(await sha256(`${jkt} ${jti}`)), nonce: typeof nonce === 'string' ? nonce : undefined }
}

function isSamePlace(htu: unknown, url: string | URL): boolean {
  if (typeof htu !== 'string' || !URL.canParse(htu)) return false
  const [given, own] = [new URL(htu), new URL(url)]
  return given.origin === own.origin && given.pathname === own.pathname && given.username === '' && given.password === ''
}
