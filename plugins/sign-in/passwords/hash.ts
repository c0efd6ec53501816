/** Slow hashes of passwords: argon2id by `@node-rs/argon2`, else scrypt of the runtime, with the parameters in the hash. */
import { AuthError, equal, type Runtime, toHex } from 'authkernel/kernel'
import type { ForeignHash } from './foreign.ts'
import { createLine } from './line.ts'
import { scryptKey } from './scrypt.ts'

/** Makes and checks hashes. */
export interface Hasher {
  /** A PHC string. Throws Overloaded when too many are computed at once. */
  hash(password: string): Promise<string>
  /** `typed` is the password as it came: other products normalize differently. False also for a hash of unknown form. */
  verify(password: string, typed: string, stored: string): Promise<boolean>
  /** Whether it was made with the present algorithm and parameters. */
  isCurrent(stored: string): Promise<boolean>
  /** A hash of another product. Throws TypeError for a format that makes none. */
  make(format: ForeignHash, password: string): Promise<string>
  /** The work of `verify`, for a user who does not exist. */
  pretend(password: string): Promise<void>
}
type Argon2 = typeof import('@node-rs/argon2')

const argon = { memoryCost: 19_456, timeCost: 2, parallelism: 1, outputLen: 32 }
const argonPrefix = '$argon2id$v=19$m=19456,t=2,p=1$'
const scryptPrefix = '$scrypt$ln=17,r=8,p=1$'
const nothing = `${'A'.repeat(22)}$${'A'.repeat(43)}`

/** `foreign`: hashes of other products. `algorithm`: default argon2id where the package is installed. `deadline` of a request in milliseconds. */
export function createHasher(
  runtime: Runtime,
  { foreign, algorithm, deadline }: { foreign: readonly ForeignHash[]; algorithm: 'argon2id' | 'scrypt' | undefined; deadline: number },
): Hasher {
  // A sign-in may compute two.
  const line = createLine({ now: () => runtime.now(), patience: deadline / 2 })
  let loaded: Promise<Argon2 | undefined> | undefined
  const load = (): Promise<Argon2 | undefined> =>
    (loaded ??= import('@node-rs/argon2').catch((error: unknown) => {
      if (algorithm !== 'argon2id') return undefined
      throw new AuthError('Plugin "passwords": `algorithm: \'argon2id\'` needs npm install @node-rs/argon2.', {
        cause: { err: error as Error },
      })
    }))
  const engine = async (): Promise<Argon2 | undefined> => (algorithm === 'scrypt' ? undefined : load())
  const prefix = async (): Promise<string> => ((await engine()) ? argonPrefix : scryptPrefix)

  const check = async (password: string, typed: string, stored: string): Promise<boolean> => {
    if (stored.startsWith('$argon2')) {
      if (!isBoundedArgon(stored)) return false
      const library = await load()
      if (!library)
        throw new AuthError('Plugin "passwords": a stored hash is argon2id, and @node-rs/argon2 is not installed: npm install it.')
      return inBothForms(password, typed, (form) => library.verify(stored, form).catch(() => false))
    }
    if (stored.startsWith('$scrypt$')) return inBothForms(password, typed, (form) => checkScrypt(form, stored))
    return (await foreign.find((one) => one.owns(stored))?.verify(typed, stored)) ?? false
  }

  return {
    hash: (password) =>
      line.run(async () => {
        const library = await engine()
        const salt = runtime.random(16)
        if (library) return library.hash(password, { ...argon, algorithm: 2, salt })
        const key = await scryptKey(password, salt, { N: 2 ** 17, r: 8, p: 1, length: 32 })
        return `${scryptPrefix}${toUnpadded(salt)}$${toUnpadded(key)}`
      }),
    make: (format, password) => line.run(() => format.make!(password, runtime.random(16))),
    verify: (password, typed, stored) => line.run(() => check(password, typed, stored)),
    isCurrent: async (stored) => stored.startsWith(await prefix()),
    pretend: async (password) => {
      const dummy = (await prefix()) + nothing
      await line.run(() => check(password, password, dummy))
    },
  }
}

/** Whether a stored hash can be checked: a known format, with parameters that take a bounded time and memory. */
export function canVerify(stored: string, foreign: readonly ForeignHash[]): boolean {
  if (stored.length > 512) return false
  if (stored.startsWith('$argon2')) return isBoundedArgon(stored)
  if (stored.startsWith('$scrypt$')) return readScrypt(stored) !== undefined
  return foreign.some((one) => one.owns(stored))
}

/** Hashes of other products were made of what was typed, ours of its NFKC. The two differ for few passwords. */
async function inBothForms(password: string, typed: string, check: (form: string) => Promise<boolean>): Promise<boolean> {
  return (await check(password)) || (typed !== password && (await check(typed)))
}

// A row that an attacker planted must not take all memory or time.
function isBoundedArgon(stored: string): boolean {
  const [, memory, passes, lanes] = /^\$argon2id?\$v=19\$m=(\d{1,6}),t=(\d{1,2}),p=(\d)\$[\w+/]{11,86}\$[\w+/]{22,86}$/.exec(stored) ?? []
  return Number(memory) <= 262_144 && Number(passes) <= 10 && Number(lanes) >= 1
}

async function checkScrypt(password: string, stored: string): Promise<boolean> {
  const read = readScrypt(stored)
  if (!read) return false
  const expected = Buffer.from(read.key, 'base64')
  const found = await scryptKey(password, Buffer.from(read.salt, 'base64'), { ...read.cost, length: expected.length })
  return equal(toHex(found), toHex(expected))
}

function readScrypt(stored: string): { cost: { N: number; r: number; p: number }; salt: string; key: string } | undefined {
  const [, ln, r, p, salt = '', key = ''] =
    /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([\w+/]{11,86})\$([\w+/]{22,86})$/.exec(stored) ?? []
  const cost = { N: 2 ** Number(ln), r: Number(r), p: Number(p) }
  // 256 MiB of memory, and the work of the largest form that is written.
  const bounded = cost.N >= 2 && cost.N <= 2 ** 18 && cost.r >= 1 && cost.p >= 1 && 128 * cost.N * cost.r <= 268_435_456 && cost.p <= 10
  return bounded ? { cost, salt, key } : undefined
}

function toUnpadded(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString('base64')
    .replace(/={1,2}$/, '')
}
