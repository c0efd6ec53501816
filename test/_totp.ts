/** Codes of RFC 6238 by hand: SHA-1, 6 digits, 30 seconds. */
import { createHmac } from 'node:crypto'

/** The code of a secret in base32; `now` in milliseconds. */
export function totpAt(base32: string, now: number): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
  const bits = [...base32.replace(/=+$/, '')].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('')
  const secret = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(now / 30_000)))
  const hash = createHmac('sha1', secret).update(counter).digest()
  const offset = hash[19]! & 15
  return String((hash.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0')
}
