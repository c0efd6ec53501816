/** Hashes of other products, for tables that are taken over. They are only read: the first right sign-in writes one of our own. */
import { AuthError, equal, toHex } from 'authkernel/kernel'
import { scryptKey } from './scrypt.ts'

/** One format. */
export interface ForeignHash {
  readonly name: string
  /** Whether a stored string is of this format. */
  owns(stored: string): boolean
  /** `typed` is the password as it was sent, not normalised. */
  verify(typed: string, stored: string): Promise<boolean>
  /** A hash that the other product reads, of 16 random bytes. Absent: none is made. */
  make?(typed: string, random: Uint8Array): Promise<string>
}
/** What is used of bcryptjs; `bcrypt` and `@node-rs/bcrypt` fit, too. */
export interface BcryptLibrary {
  compare(password: string, hash: string): Promise<boolean>
}
/** Parameters of a Firebase project: "Password hash parameters" in its console. */
export interface FirebaseParameters {
  /** Base64. */
  signerKey: string
  /** Base64. */
  saltSeparator: string
  /** Default 8. */
  rounds?: number
  /** Default 14. */
  memCost?: number
}

/** better-auth: `salt:key` in hex, scrypt. The salt is the text of the hex digits. */
export function betterAuthHash(): ForeignHash {
  const format = /^([0-9a-f]{32}):([0-9a-f]{128})$/
  const derive = async (typed: string, salt: string): Promise<string> =>
    toHex(await scryptKey(typed.normalize('NFKC'), salt, { N: 16_384, r: 16, p: 1, length: 64 }))
  return {
    name: 'better-auth',
    owns: (stored) => format.test(stored),
    async verify(typed, stored) {
      const [, salt = '', key = ''] = format.exec(stored) ?? []
      return equal(await derive(typed, salt), key)
    },
    make: async (typed, random) => `${toHex(random)}:${await derive(typed, toHex(random))}`,
  }
}

/**
 * Lucia 1 to 3, scrypt: `<salt>:<key>` of Lucia 3, `s2:<salt>:<key>` of Lucia 1 and 2, and the form before those, whose salt has 16 characters and whose block
 * size is 8. Knows the hashes of `betterAuthHash()` too: they have the form of Lucia 3.
 */
export function luciaHash(): ForeignHash {
  const format = /^(s2:)?([a-z0-9]{16}|[0-9a-f]{32}):([0-9a-f]{128})$/
  return {
    name: 'lucia',
    owns: (stored) => format.test(stored),
    async verify(typed, stored) {
      const [, mark, salt = '', key = ''] = format.exec(stored) ?? []
      const r = mark === undefined && salt.length === 16 ? 8 : 16
      return equal(toHex(await scryptKey(typed.normalize('NFKC'), salt, { N: 16_384, r, p: 1, length: 64 })), key)
    },
  }
}

/**
 * bcrypt: `$2a$`, `$2b$`, `$2y$`, of a cost up to 15. It compares the first 72 bytes; the whole password counts from the first sign-in on.
 * Needs bcryptjs, or a `lib` with the same `compare`.
 */
export function bcryptHash({ lib = loadBcrypt }: { lib?: () => Promise<BcryptLibrary> } = {}): ForeignHash {
  return {
    name: 'bcrypt',
    owns: (stored) => /^\$2[aby]\$(?:0[4-9]|1[0-5])\$[./\w]{53}$/.test(stored),
    async verify(typed, stored) {
      if (typed.includes('\0')) return false
      return (await lib()).compare(typed, stored.replace(/^\$2y/, '$2b'))
    },
  }
}

/** Firebase Authentication: store `firebase:<salt>:<passwordHash>` with the two values of the export, in base64. */
export function firebaseScrypt({ signerKey, saltSeparator, rounds = 8, memCost = 14 }: FirebaseParameters): ForeignHash {
  if (!(Number.isInteger(rounds) && rounds >= 1 && rounds <= 16) || !(Number.isInteger(memCost) && memCost >= 1 && memCost <= 17))
    throw new AuthError('firebaseScrypt: `rounds` must be 1 to 16 and `memCost` 1 to 17.')
  const format = /^firebase:([\w+/=-]{1,128}):([\w+/=-]{1,128})$/
  return {
    name: 'firebase',
    owns: (stored) => format.test(stored),
    async verify(typed, stored) {
      const [, salt = '', hash = ''] = format.exec(stored) ?? []
      const { createCipheriv } = await import('node:crypto')
      const whole = Buffer.concat([Buffer.from(salt, 'base64'), Buffer.from(saltSeparator, 'base64')])
      const key = await scryptKey(typed, whole, { N: 2 ** memCost, r: rounds, p: 1, length: 32 })
      const cipher = createCipheriv('aes-256-ctr', key, new Uint8Array(16))
      const computed = Buffer.concat([cipher.update(Buffer.from(signerKey, 'base64')), cipher.final()])
      return equal(toHex(computed), toHex(Buffer.from(hash, 'base64')))
    },
  }
}

/** PBKDF2 as Django (`pbkdf2_sha256$…`) and passlib (`$pbkdf2-sha256$…`) write it; up to 2,000,000 iterations. */
export function pbkdf2Hash(): ForeignHash {
  return {
    name: 'pbkdf2',
    owns: (stored) => readPbkdf2(stored) !== undefined,
    async verify(typed, stored) {
      const found = readPbkdf2(stored)
      if (!found) return false
      const { pbkdf2 } = await import('node:crypto')
      const computed = await new Promise<Buffer>((resolve, reject) =>
        pbkdf2(typed, found.salt, found.iterations, found.key.length, found.digest, (error, key) => (error ? reject(error) : resolve(key))),
      )
      return equal(toHex(computed), toHex(found.key))
    },
  }
}

function readPbkdf2(stored: string): { digest: string; iterations: number; salt: Uint8Array; key: Uint8Array } | undefined {
  const django = /^pbkdf2_(sha1|sha256|sha512)\$(\d{1,7})\$([^$]{1,128})\$([\w+/=]{20,128})$/.exec(stored)
  const [, digest = '', rounds, salt = '', key = ''] =
    django ?? /^\$pbkdf2-(sha1|sha256|sha512)\$(?:i=)?(\d{1,7})(?:,l=\d+)?\$([\w+/.=]{1,128})\$([\w+/.=]{20,128})$/.exec(stored) ?? []
  const iterations = Number(rounds)
  if (!(iterations >= 1 && iterations <= 2_000_000)) return undefined
  // passlib writes a dot for a plus.
  const bytesOf = (text: string): Uint8Array => Buffer.from(text.replaceAll('.', '+'), 'base64')
  return { digest, iterations, salt: django ? new TextEncoder().encode(salt) : bytesOf(salt), key: bytesOf(key) }
}

async function loadBcrypt(): Promise<BcryptLibrary> {
  try {
    return await import('bcryptjs')
  } catch (error) {
    throw new AuthError('bcryptHash() needs bcryptjs: npm install bcryptjs, or give it a `lib`.', { cause: { err: error as Error } })
  }
}
