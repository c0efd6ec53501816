/** Stored values as records: dates revived, nonsense refused. */
import type { AdapterAccount, AdapterAuthenticator, AdapterSession, AdapterUser, VerificationToken } from 'authkernel/kernel'
import type { Key, Transaction } from './types.ts'

interface Kinds {
  user: AdapterUser
  account: AdapterAccount
  session: AdapterSession
  token: VerificationToken
  authenticator: AdapterAuthenticator
}
// Fields that name a record: two keys of `@auth/unstorage-adapter` may meet in one place, and a hash could.
const names = {
  user: ['id'],
  account: ['provider', 'providerAccountId'],
  session: ['sessionToken'],
  token: ['identifier', 'token'],
  authenticator: ['credentialID'],
} as const
const needed = {
  user: ['id'],
  account: ['userId', 'type'],
  session: ['userId', 'expires'],
  token: ['expires'],
  authenticator: ['userId', 'credentialPublicKey'],
} as const
const dates = new Set(['emailVerified', 'expires', 'createdAt'])

/** A reader of keys: an engine or a transaction. */
export type Reader = Pick<Transaction, 'get'>

/** The record of a kind at a key, if it is the one that was asked for. Throws when the stored value is not such a record. */
export async function load<K extends keyof Kinds>(reader: Reader, kind: K, key: Key, ...values: string[]): Promise<Kinds[K] | null> {
  const value = await reader.get(key)
  if (value === null || value === undefined) return null
  const row = value as Record<string, unknown>
  const broken = typeof value !== 'object' || needed[kind].some((field) => row[field] === undefined || row[field] === null)
  if (broken) throw new Error(`[unstorage] The value at ${key.path} is not a ${kind}; it was changed by something else.`)
  if (names[kind].some((field, index) => row[field] !== values[index])) return null
  return revive<Kinds[K]>(kind, row, key)
}

function revive<T>(kind: string, row: Record<string, unknown>, key: Key): T {
  const result = { ...row }
  for (const [field, value] of Object.entries(row)) {
    if (!dates.has(field) || value === null) continue
    const date = new Date(value as string | number)
    if (Number.isNaN(date.getTime())) throw new Error(`[unstorage] The ${kind} at ${key.path} has a ${field} that is not a date.`)
    result[field] = date
  }
  return result as T
}

/** A row as it is stored and given back: `undefined` fields are left out, dates are copies. */
export function stored<T extends object>(row: T): T {
  return structuredClone(Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined)) as T)
}

/** An entry of an index: the values of a key, and when its record may vanish. */
export interface Entry {
  key: string[]
  expires?: number
}

/** Stands in a list that `@auth/unstorage-adapter` began: it named the latest record alone, and there may be others. */
export const gap: Entry = { key: [] }

export function isGap({ key }: Entry): boolean {
  return key.length === 0
}

/** Reads and writes the lists of a person's accounts, sessions, authenticators, or of an address's tokens. */
export function createIndex(now: () => number): {
  read(reader: Reader, key: Key): Promise<Entry[] | 'legacy'>
  write(tx: Transaction, key: Key, entries: readonly Entry[]): void
} {
  return {
    async read(reader, key) {
      const value = await reader.get(key)
      if (value === null || value === undefined) return []
      // `@auth/unstorage-adapter` kept one key name, of the latest record; its authenticators are a list of ids.
      if (!Array.isArray(value)) return 'legacy'
      const entries = value.map((entry: unknown): Entry => (typeof entry === 'string' ? { key: [entry] } : (entry as Entry)))
      return entries.filter(({ expires }) => expires === undefined || expires > now())
    },
    write(tx, key, entries) {
      if (entries.length === 0) return tx.remove(key)
      const last = Math.max(...entries.map(({ expires }) => expires ?? Number.POSITIVE_INFINITY))
      tx.put(key, entries, Number.isFinite(last) ? new Date(last) : undefined)
    },
  }
}

/** Adds an entry, in place of one of the same key. */
export function withEntry(entries: readonly Entry[], entry: Entry): Entry[] {
  return [...withoutEntry(entries, entry.key), entry]
}

export function withoutEntry(entries: readonly Entry[], key: readonly string[]): Entry[] {
  return entries.filter((other) => other.key.length !== key.length || other.key.some((part, index) => part !== key[index]))
}

/** The error of a key that has an owner: the kernel reads again and goes on with the owner. */
export function taken(what: string): Error {
  return new Error(`[unstorage] this ${what} is already taken`)
}
