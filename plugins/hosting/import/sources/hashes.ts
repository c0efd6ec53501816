/** Hashes of other products, brought into the forms that `passwordsPlugin` verifies. Nothing is verified here. */
import type { LostPassword } from './shape.ts'

/** A hash to store, or why there is none. */
export type HashFound = { hash: string } | { lostPassword: LostPassword }

/** A hash that is one text: PHC, modular crypt format, Django, Werkzeug. */
export function readHash(stored: string): HashFound {
  const text = stored.trim()
  if (text.length > 512) return { lostPassword: 'unknown' }
  if (/^\$(?:2[aby]|argon2id?|scrypt|pbkdf2-sha(?:1|256|512))\$/.test(text) || /^pbkdf2_sha(?:1|256|512)\$/.test(text))
    return { hash: text }
  if (/^(?:firebase:|s2:)/.test(text) || /^[a-z0-9]{16,32}:[0-9a-f]{128}$/.test(text)) return { hash: text }
  // Auth0 writes its custom hashes without the sign of a PHC string, and argon2 as libraries do.
  if (/^argon2id?\$/.test(text)) return { hash: `$${text}` }
  return readScrypt(text) ?? { lostPassword: isWeak(text) ? 'weak' : 'unknown' }
}

/** PBKDF2 of single values, as the PHC string that `pbkdf2Hash()` reads. `salt` and `key` in bytes. */
export function writePbkdf2(digest: string, iterations: number, salt: Uint8Array, key: Uint8Array): HashFound {
  const name = digest.toLowerCase().replace(/[^a-z0-9]/g, '')
  const form = { pbkdf2: 'sha1', sha1: 'sha1', sha256: 'sha256', sha512: 'sha512' }[name.replace(/^pbkdf2(?=sha)/, '')]
  if (form === undefined || !(Number.isInteger(iterations) && iterations >= 1 && iterations <= 2_000_000))
    return { lostPassword: 'unknown' }
  // Blocks of PBKDF2 do not depend on each other (RFC 8018 section 5.2): the first 64 bytes of a longer key are the key of 64 bytes.
  const head = key.subarray(0, 64)
  if (head.length < 16 || salt.length === 0 || salt.length > 90) return { lostPassword: 'unknown' }
  return { hash: `$pbkdf2-${form}$i=${iterations},l=${head.length}$${toBase64(salt)}$${toBase64(head)}` }
}

/** Argon2 of single values as a PHC string. `memory` in KiB. */
export function writeArgon2(
  type: string,
  { memory, passes, lanes }: { memory: number; passes: number; lanes: number },
  salt: Uint8Array,
  key: Uint8Array,
): HashFound {
  if (!/^i?d?$/.test(type) || type === 'd' || type === '') return { lostPassword: 'unknown' }
  return { hash: `$argon2${type}$v=19$m=${memory},t=${passes},p=${lanes}$${toBase64(salt)}$${toBase64(key)}` }
}

/** Bytes of standard or URL-safe base64. */
export function fromBase64(text: string): Uint8Array {
  const binary = tryDecode(text.replaceAll('-', '+').replaceAll('_', '/').replaceAll('=', ''))
  return Uint8Array.from(binary, (char) => char.charCodeAt(0))
}

/** Bytes of hex digits. */
export function fromHex(text: string): Uint8Array {
  return Uint8Array.from(text.match(/[0-9a-f]{2}/gi) ?? [], (pair) => Number.parseInt(pair, 16))
}

// Werkzeug: `scrypt:N:r:p$salt$hex`. Django: `scrypt$salt$N$r$p$base64`. Both take the text of the salt.
function readScrypt(text: string): HashFound | undefined {
  const werkzeug = /^scrypt:(\d{1,8}):(\d{1,2}):(\d{1,2})\$([^$]{8,60})\$([0-9a-f]{32,128})$/.exec(text)
  const django = /^scrypt\$([^$]{8,60})\$(\d{1,8})\$(\d{1,2})\$(\d{1,2})\$([\w+/]{22,86}={0,2})$/.exec(text)
  const [cost, r, p, salt, key] = werkzeug
    ? [werkzeug[1], werkzeug[2], werkzeug[3], werkzeug[4], fromHex(werkzeug[5]!)]
    : django
      ? [django[2], django[3], django[4], django[1], fromBase64(django[5]!)]
      : []
  const ln = Math.log2(Number(cost))
  if (salt === undefined || !key || !Number.isInteger(ln)) return undefined
  return { hash: `$scrypt$ln=${ln},r=${r},p=${p}$${toBase64(new TextEncoder().encode(salt))}$${toBase64(key)}` }
}

// One round of a fast hash, with or without a salt: billions of guesses a second. phpass is MD5 in a loop of a few thousand.
function isWeak(text: string): boolean {
  return (
    /^\{?s?(?:md5|sha-?1|sha-?256|sha-?512|s?sha|smd5)\}?[$:}]/i.test(text) ||
    /^\$(?:1|[PH])\$/.test(text) ||
    /^(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128})(?:[$:].{1,128})?$/i.test(text)
  )
}

function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replace(/={1,2}$/, '')
}

function tryDecode(text: string): string {
  try {
    return atob(text)
  } catch {
    return ''
  }
}
