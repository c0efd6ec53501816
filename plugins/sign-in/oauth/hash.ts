/** Hashes as they travel: of a verifier (RFC 7636 section 4.2), of a state, of what an ID token is bound to. */
import { type Awaitable, bytes, nodeCrypto, toBase64Url } from 'authkernel/kernel'

/** SHA-2 of a text in base64url, or the left half of it. There is nothing to wait for on Node. */
export function hashOf(text: string, bits = '256', half = false): Awaitable<string> {
  const cut = (digest: Uint8Array): string => toBase64Url(half ? digest.subarray(0, digest.length / 2) : digest)
  const node = nodeCrypto()
  // Since Node 20.12.
  if (node && !half && 'hash' in node) return node.hash(`sha${bits}`, text, 'base64url')
  if (node) return cut(node.createHash(`sha${bits}`).update(text).digest())
  return crypto.subtle.digest(`SHA-${bits}`, bytes(text)).then((digest) => cut(new Uint8Array(digest)))
}
