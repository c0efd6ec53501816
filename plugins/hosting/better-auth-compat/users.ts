/** What moves of users themselves: passwords, second factors, bans, usernames. */
import { type AnyContext, bytes, type ImportedFactor, type PasswordTaken } from 'authkernel/kernel'
import type { BanTaken } from 'authkernel/plugins/admin'
import type { NumberTaken } from 'authkernel/plugins/phone'
import type { NameTaken } from 'authkernel/plugins/usernames'
import type { SourceRow } from '../import/ledger.ts'
import type { ImportProblem } from '../import/report.ts'
import type { BetterAuthModel } from './schema.ts'
import { type Condition, isTrue, type Source, type SourceFields, toDate, toText } from './source.ts'

/** What every kind gets. */
export interface Move {
  ctx: AnyContext
  source: Source
  secrets: readonly string[]
  /** `credentialHashSecret` of scim(). */
  scimSecret?: string | undefined
  /** Problems that a kind finds while it reads. */
  problems: ImportProblem[]
}
/** Things of one kind: where they are there, which plugin stores them here, and the message if none does. */
export interface MovedKind<T> {
  kind: string
  model: BetterAuthModel
  /** Tables of which one is enough, where versions of better-auth differ. Default: `model`. */
  models?: readonly BetterAuthModel[]
  /** Service that stores them. */
  service: string
  /** The record that they are in here, for the counts; undefined: accounts of the store. */
  record?: string
  /** What it takes to store them: `… use adminPlugin().` */
  absent: (count: number) => Omit<ImportProblem, 'count' | 'name'>
  /** How many there are, without a look at each. */
  count(source: Source, now: Date): Promise<number>
  pages(move: Move): AsyncGenerator<SourceRow<T>[]>
  /** Which keys the source still has. */
  isThere(move: Move, keys: readonly string[]): Promise<ReadonlySet<string>>
}
/** What each user has at most one of: the keys are ids of users. */
export interface UserKind<T> extends MovedKind<T> {
  /** Those of some users. */
  rowsOf(move: Move, userIds: readonly string[]): Promise<SourceRow<T>[]>
}

const withHash: readonly Condition[] = [
  ['providerId', '=', 'credential'],
  ['password', 'is not', null],
]

export function passwordKind(): UserKind<PasswordTaken> {
  const toRows = (accounts: readonly SourceFields[], users: readonly SourceFields[]): SourceRow<PasswordTaken>[] => {
    const known = new Map(users.map((user) => [String(user['id']), user]))
    return accounts.flatMap((row) => {
      const userId = ownerOf(row)
      const user = known.get(userId)
      if (!user || toText(row['password']) === null) return []
      const hash = String(row['password'])
      // Whether the address is verified decides once: what was parked here stays parked until it is verified here.
      const verified = isTrue(user['emailVerified'])
      return [{ key: userId, userId, value: { userId, hash, verified }, compare: hash }]
    })
  }
  return {
    kind: 'passwords',
    model: 'account',
    service: 'passwordTakeover',
    record: 'password',
    absent: (count) => ({
      level: 'loss',
      message: `${count} passwords stay behind: use passwordsPlugin({ verify: [betterAuthHash()] }).`,
    }),
    count: (source) => source.count('account', withHash),
    async *pages({ source }) {
      for await (const rows of source.pages('account', withHash)) yield toRows(rows, await source.find('user', 'id', rows.map(ownerOf)))
    },
    async rowsOf({ source }, userIds) {
      return toRows(await source.find('account', 'userId', userIds, withHash), await source.find('user', 'id', userIds))
    },
    // This product empties the column of a user who changes the password here. That is no removal by better-auth.
    async isThere({ source }, keys) {
      const rows = await source.find('account', 'userId', keys)
      return new Set(rows.filter((row) => row['providerId'] === 'credential').map(ownerOf))
    },
  }
}

export function factorKind(): UserKind<ImportedFactor> {
  const usable = async (source: Source, rows: readonly SourceFields[]): Promise<SourceFields[]> => {
    const users = await source.find('user', 'id', rows.map(ownerOf))
    const enabled = new Set(users.filter((user) => isTrue(user['twoFactorEnabled'])).map(({ id }) => String(id)))
    return rows.filter((row) => enabled.has(ownerOf(row)) && isTrue(row['verified'] ?? true))
  }
  const toRows = async ({ source, secrets }: Move, rows: readonly SourceFields[], lost: string[]): Promise<SourceRow<ImportedFactor>[]> => {
    const { decryptText } = await import('./xchacha.ts')
    return (await usable(source, rows)).flatMap((row) => {
      const userId = ownerOf(row)
      const text = decryptText(String(row['secret']), secrets)
      if (text === undefined) {
        lost.push(userId)
        return []
      }
      const stored = String(row['backupCodes'])
      const backupCodes = parseCodes(decryptText(stored, secrets)) ?? parseCodes(stored) ?? []
      return [{ key: userId, userId, value: { userId, secret: encodeBase32(bytes(text)), backupCodes } }]
    })
  }
  return {
    kind: 'factors',
    model: 'twoFactor',
    service: 'factorTakeover',
    record: 'twoFactor',
    absent: (count) => ({
      level: 'factor',
      message: `${count} users would sign in without their second factor: use twoFactorPlugin().`,
    }),
    count: async (source) =>
      Math.min(
        await source.count('twoFactor'),
        source.has('user', 'twoFactorEnabled') ? await source.count('user', [['twoFactorEnabled', 'is', true]]) : 0,
      ),
    rowsOf: async (move, userIds) => toRows(move, await move.source.find('twoFactor', 'userId', userIds), []),
    async *pages(move) {
      const lost: string[] = []
      for await (const rows of move.source.pages('twoFactor')) yield toRows(move, rows, lost)
      if (lost.length > 0)
        move.problems.push({
          name: 'factors-unreadable',
          level: 'factor',
          count: lost.length,
          message: `${lost.length} second factors cannot be decrypted: give the secret of better-auth as \`secret\`.`,
          examples: lost.slice(0, 100),
        })
    },
    async isThere({ source }, keys) {
      return new Set((await usable(source, await source.find('twoFactor', 'userId', keys))).map(ownerOf))
    },
  }
}

export function banKind(): UserKind<BanTaken> {
  const bannedPages = (source: Source): AsyncGenerator<SourceFields[]> | [] =>
    source.has('user', 'banned') ? source.pages('user', [['banned', 'is', true]]) : []
  const isBanned = (user: SourceFields, now: Date): boolean => {
    const until = toDate(user['banExpires'])
    return isTrue(user['banned']) && (until === null || until > now)
  }
  const toRows = (users: readonly SourceFields[], now: Date): SourceRow<BanTaken>[] =>
    users
      .filter((user) => isBanned(user, now))
      .map((user) => {
        const userId = String(user['id'])
        const reason = toText(user['banReason']) ?? 'Banned in better-auth'
        return { key: userId, userId, value: { userId, reason, until: toDate(user['banExpires']), by: 'better-auth' } }
      })
  return {
    kind: 'bans',
    model: 'user',
    service: 'banImport',
    record: 'userBan',
    absent: (count) => ({ level: 'loss', message: `${count} banned users could sign in: use adminPlugin({ can }).` }),
    async count(source, now) {
      let count = 0
      for await (const users of bannedPages(source)) count += users.filter((user) => isBanned(user, now)).length
      return count
    },
    async *pages({ source, ctx }) {
      for await (const users of bannedPages(source)) yield toRows(users, ctx.now)
    },
    rowsOf: async ({ source, ctx }, userIds) => toRows(await source.find('user', 'id', userIds), ctx.now),
    async isThere({ source, ctx }, keys) {
      const users = await source.find('user', 'id', keys)
      return new Set(users.filter((user) => isBanned(user, ctx.now)).map(({ id }) => String(id)))
    },
  }
}

const withNumber: readonly Condition[] = [
  ['phoneNumber', 'is not', null],
  ['phoneNumberVerified', 'is', true],
]

/** Numbers that were verified: the others prove nothing. */
export function numberKind(): MovedKind<NumberTaken> {
  const has = (source: Source): boolean => source.has('user', 'phoneNumber') && source.has('user', 'phoneNumberVerified')
  return {
    kind: 'phone-numbers',
    model: 'user',
    service: 'numberImport',
    absent: (count) => ({
      level: 'loss',
      message: `${count} users could not sign in with their phone numbers: use phonePlugin({ send }).`,
    }),
    count: async (source) => (has(source) ? source.count('user', withNumber) : 0),
    async *pages({ source }) {
      for await (const users of has(source) ? source.pages('user', withNumber) : [])
        yield users.map((user) => {
          const userId = String(user['id'])
          return { key: userId, userId, value: { userId, number: String(user['phoneNumber']) } }
        })
    },
    async isThere({ source }, keys) {
      return new Set((await source.find('user', 'id', keys, withNumber)).map(({ id }) => String(id)))
    },
  }
}

const withUsername: readonly Condition[] = [['username', 'is not', null]]

export function nameKind(): MovedKind<NameTaken> {
  return {
    kind: 'user-names',
    model: 'user',
    service: 'nameImport',
    record: 'userName',
    absent: (count) => ({ level: 'loss', message: `${count} users could not sign in with their usernames: use usernamesPlugin().` }),
    count: async (source) => (source.has('user', 'username') ? source.count('user', withUsername) : 0),
    async *pages({ source }) {
      for await (const users of source.has('user', 'username') ? source.pages('user', withUsername) : [])
        yield users
          .filter((user) => toText(user['username']) !== null)
          .map((user) => {
            const userId = String(user['id'])
            return { key: userId, userId, value: { userId, name: String(user['username']) } }
          })
    },
    async isThere({ source }, keys) {
      const users = await source.find('user', 'id', keys)
      return new Set(users.filter((user) => toText(user['username']) !== null).map(({ id }) => String(id)))
    },
  }
}

function ownerOf(row: SourceFields): string {
  return String(row['userId'])
}

function parseCodes(json: string | undefined): string[] | undefined {
  try {
    const codes: unknown = JSON.parse(json ?? '')
    return Array.isArray(codes) && codes.every((code) => typeof code === 'string') ? codes : undefined
  } catch {
    return undefined
  }
}

/** RFC 4648 without padding: better-auth takes the letters of its secret as the key, apps take base32. */
function encodeBase32(data: Uint8Array): string {
  let [bits, held, text] = [0, 0, '']
  for (const byte of data) {
    held = (held << 8) | byte
    bits += 8
    for (; bits >= 5; bits -= 5) text += 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[(held >>> (bits - 5)) & 31]
    held &= (1 << bits) - 1
  }
  return bits === 0 ? text : text + 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[(held << (5 - bits)) & 31]
}
