/** XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03), which better-auth encrypts stored secrets with. */
import { createCipheriv, createDecipheriv, createHash } from 'node:crypto'

/** The text of `nonce || ciphertext || tag` in hex, under the SHA-256 of one of the secrets; undefined: none of them opens it. */
export function decryptText(hex: string, secrets: readonly string[]): string | undefined {
  // `$ba$<version>$` tells which secret; trying each is as good, for the tag tells.
  const text = hex.replace(/^\$ba\$\d{1,9}\$/, '')
  if (!/^(?:[0-9a-f]{2}){40,20000}$/.test(text)) return undefined
  const data = Buffer.from(text, 'hex')
  for (const secret of secrets) {
    const opened = decryptWith(createHash('sha256').update(secret).digest(), data)
    if (opened !== undefined) return opened
  }
  return undefined
}

/** Another text instead of an encrypted one, under the secret that opens that. Undefined: none of them does. `nonce` is 24 random bytes. */
export function replaceText(sealed: string, text: string, secrets: readonly string[], nonce: Uint8Array): string | undefined {
  const secret = secrets.find((one) => decryptText(sealed, [one]) !== undefined)
  if (secret === undefined) return undefined
  const [prefix = ''] = /^\$ba\$\d{1,9}\$/.exec(sealed) ?? []
  const key = hchacha20(createHash('sha256').update(secret).digest(), nonce.subarray(0, 16))
  const cipher = createCipheriv('chacha20-poly1305', key, Buffer.concat([Buffer.alloc(4), nonce.subarray(16, 24)]), { authTagLength: 16 })
  const data = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return prefix + data.toString('hex')
}

function decryptWith(key: Uint8Array, data: Uint8Array): string | undefined {
  const nonce = Buffer.concat([Buffer.alloc(4), data.subarray(16, 24)])
  const decipher = createDecipheriv('chacha20-poly1305', hchacha20(key, data.subarray(0, 16)), nonce, { authTagLength: 16 })
  decipher.setAuthTag(data.subarray(data.length - 16))
  try {
    return Buffer.concat([decipher.update(data.subarray(24, -16)), decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}

/** A key for the first 16 bytes of a nonce of 24. */
function hchacha20(key: Uint8Array, nonce: Uint8Array): Buffer {
  const words = Buffer.concat([Buffer.from('expand 32-byte k'), key, nonce])
  const state = Uint32Array.from({ length: 16 }, (_, at) => words.readUInt32LE(at * 4))
  for (let round = 0; round < 10; round++) {
    for (let column = 0; column < 4; column++) quarterRound(state, column, 4 + column, 8 + column, 12 + column)
    for (let column = 0; column < 4; column++)
      quarterRound(state, column, 4 + ((column + 1) % 4), 8 + ((column + 2) % 4), 12 + ((column + 3) % 4))
  }
  const out = Buffer.alloc(32)
  for (let at = 0; at < 4; at++) {
    out.writeUInt32LE(state[at]!, at * 4)
    out.writeUInt32LE(state[12 + at]!, 16 + at * 4)
  }
  return out
}

/** RFC 8439 section 2.1. */
function quarterRound(s: Uint32Array, a: number, b: number, c: number, d: number): void {
  const mixAndRotate = (x: number, y: number, by: number): number => ((x ^ y) << by) | ((x ^ y) >>> (32 - by))
  s[a] = s[a]! + s[b]!
  s[d] = mixAndRotate(s[d]!, s[a], 16)
  s[c] = s[c]! + s[d]!
  s[b] = mixAndRotate(s[b]!, s[c], 12)
  s[a] = s[a] + s[b]
  s[d] = mixAndRotate(s[d], s[a], 8)
  s[c] = s[c] + s[d]
  s[b] = mixAndRotate(s[b], s[c], 7)
}
