/** Stored values as records: dates revived, nonsense rejected. */
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
const neededFields = {
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
export async function loadValue<K extends keyof Kinds>(reader: Reader, kind: K, key: Key, ...values: string[]): Promise<Kinds[K] | null> {
  const value = await reader.get(key)
  if (value === null || value === undefined) return null
  const row = value as Record<string, unknown>
  const broken = typeof value !== 'object' || neededFields[kind].some((field) => row[field] === undefined || row[field] === null)
  if (broken) throw new Error(`[unstorage] The value at ${key.path} is not a ${kind}; it was changed by something else.`)
  if (names[kind].some((field, index) => row[field] !== values[index])) return null
  return reviveDates<Kinds[K]>(kind, row, key)
}

function reviveDates<T>(kind: string, row: Record<string, unknown>, key: Key): T {
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
export function copyForStore<T extends object>(row: T): T {
  return structuredClone(Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined)) as T)
}

/** The error of a key that has an owner: the kernel reads again and goes on with the owner. */
export function takenError(what: string): Error {
  return new Error(`[unstorage] this ${what} is already taken`)
}
