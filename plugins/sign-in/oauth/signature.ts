/**
 * Signatures over `node:crypto`, synchronously: Web Crypto takes a turn in the thread pool for each. Which key a protected header means, and whether key
 * and header may be used at all, is decided by jose; what it accepted once is remembered by the text of the header.
 */
import { nodeCrypto } from 'authkernel/kernel'
import type { CompactJWSHeaderParameters, CryptoKey } from 'jose'

/** A verified token. */
export interface Verified {
  header: CompactJWSHeaderParameters
  /** Claims as signed. */
  payload: Uint8Array
}
/** Answers undefined for a header that was never accepted, and false for a wrong signature. */
export interface KnownHeaders {
  verify(token: string): Verified | false | undefined
  /** A token that jose has verified with the only key that fits. */
  learn(token: string, header: CompactJWSHeaderParameters, key: CryptoKey): void
}

// Providers sign with one or two keys; a header with a value of its own per token must not fill the memory.
const maxHeaders = 16

type Check = (data: string, signature: string) => boolean

/** Of one key set: forgotten with it. */
export function createKnownHeaders(): KnownHeaders {
  const known = new Map<string, { header: CompactJWSHeaderParameters; check: Check }>()
  return {
    verify(token) {
      const [text = '', payload = '', signature = ''] = token.split('.')
      const entry = known.get(text)
      if (!entry) return undefined
      if (!entry.check(`${text}.${payload}`, signature)) return false
      return { header: { ...entry.header }, payload: Buffer.from(payload, 'base64url') }
    },
    learn(token, header, key) {
      const [text = '', payload = '', signature = ''] = token.split('.')
      const check = checkOf(header.alg, key)
      // What jose accepted and this does not is a runtime with half a `node:crypto`.
      if (!check?.(`${text}.${payload}`, signature)) return
      if (known.size >= maxHeaders) known.delete(known.keys().next().value as string)
      known.set(text, { header, check })
    },
  }
}

// RFC 7518 section 3: the algorithm is the one that jose has held against the key.
function checkOf(alg: string, key: CryptoKey): Check | undefined {
  const node = nodeCrypto()
  if (!node) return undefined
  try {
    const own = node.KeyObject.from(key as never)
    const hash = alg.startsWith('Ed') ? null : `sha${alg.slice(2)}`
    const { RSA_PKCS1_PADDING, RSA_PKCS1_PSS_PADDING, RSA_PSS_SALTLEN_DIGEST } = node.constants
    const options = alg.startsWith('PS')
      ? { key: own, padding: RSA_PKCS1_PSS_PADDING, saltLength: RSA_PSS_SALTLEN_DIGEST }
      : alg.startsWith('RS')
        ? { key: own, padding: RSA_PKCS1_PADDING }
        : { key: own, dsaEncoding: 'ieee-p1363' as const }
    return (data, signature) => {
      try {
        // The former reads texts as they are; Edwards curves have the latter alone.
        if (hash) return node.createVerify(hash).update(data).verify(options, signature, 'base64url')
        return node.verify(hash, Buffer.from(data), options, Buffer.from(signature, 'base64url'))
      } catch {
        return false
      }
    }
  } catch {
    return undefined
  }
}
