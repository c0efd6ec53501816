/** The text of a key: `<prefix>_<env>_<id>_<secret><check>`. Scanners find a leaked key by its prefix and check digits. */
import type { Runtime } from 'authkernel/kernel'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const idLength = 12
const secretLength = 32
const checkLength = 6

/** The parts of a key. `id` names the key and opens nothing. */
export interface KeyText {
  env: string
  id: string
  secret: string
}

/** A new key: 12 and 32 random characters of base62, 190 bits of secret. */
export function makeKey(runtime: Pick<Runtime, 'random'>, prefix: string, env: string): KeyText & { text: string } {
  const id = randomText(runtime, idLength)
  const secret = randomText(runtime, secretLength)
  const body = `${prefix}_${env}_${id}_${secret}`
  return { env, id, secret, text: body + checkOf(body) }
}

/** Undefined for anything that is no key of this prefix; nothing is looked up for it. */
export function parseKey(text: string, prefix: string): KeyText | undefined {
  const match = keyPattern(prefix).exec(text)
  if (!match) return undefined
  const [, env = '', id = '', secret = '', check = ''] = match
  return checkOf(text.slice(0, -checkLength)) === check ? { env, id, secret } : undefined
}

/** A text that is one key. */
export function keyPattern(prefix: string): RegExp {
  return new RegExp(`^${prefix}_([a-z0-9]{1,16})_([0-9A-Za-z]{${idLength}})_([0-9A-Za-z]{${secretLength}})([0-9A-Za-z]{${checkLength}})$`)
}

/**
 * An expression that finds keys inside of files, for secret scanners: without look-around, so that RE2, Hyperscan and `grep -E` take it too. What it
 * finds may still be no key: `findKeys` looks at the check digits.
 */
export function scannerPattern(prefix: string): RegExp {
  return new RegExp(`\\b${prefix}_[a-z0-9]{1,16}_[0-9A-Za-z]{${idLength}}_[0-9A-Za-z]{${secretLength + checkLength}}\\b`, 'g')
}

/** Keys of a prefix in a text, each once: what has the right check digits. */
export function findKeys(text: string, prefix: string): string[] {
  return [...new Set(text.match(scannerPattern(prefix)))].filter((found) => parseKey(found, prefix))
}

// Rejection sampling: 62 does not divide 256.
function randomText(runtime: Pick<Runtime, 'random'>, length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of runtime.random(length)) {
      if (byte < 248 && text.length < length) text += alphabet[byte % 62]
    }
  }
  return text
}

// CRC-32 (RFC 1952 section 8) in base62: it tells a typing mistake and protects nothing.
function checkOf(text: string): string {
  let crc = 0xffffffff
  for (let i = 0; i < text.length; i++) {
    crc ^= text.charCodeAt(i)
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  let rest = (crc ^ 0xffffffff) >>> 0
  let check = ''
  for (let i = 0; i < checkLength; i++) {
    check = alphabet[rest % 62] + check
    rest = Math.floor(rest / 62)
  }
  return check
}
