/**
 * Passport: it has no tables of its own, so these are those of its documentation: `users` with `username`, `hashed_password` and `salt` (PBKDF2),
 * `federated_credentials`, and the fields of `passport-local-mongoose`. What is named in another way is given by the option `map`.
 */
import { accountOf, idOf, isTrue, nameOf, rowsOf, textOf } from './fields.ts'
import { fromBase64, fromHex, type HashFound, readHash, writePbkdf2 } from './hashes.ts'
import type { ImportedUser, Source, ExportedRow } from './shape.ts'

// Of "Username & Password Tutorial", and the defaults of passport-local-mongoose.
const tutorial = { digest: 'sha256', iterations: 310_000 }
const mongoose = { digest: 'sha256', iterations: 25_000 }
const providers = {
  'https://accounts.google.com': 'google',
  'accounts.google.com': 'google',
  'https://www.facebook.com': 'facebook',
  'https://github.com': 'github',
} as const

export const passport: Source = {
  lists: ['users'],
  tables: {
    users: ['users', 'user'],
    more: { federated_credentials: { tables: ['federated_credentials'], column: 'user_id' } },
  },
  read: (row) => [readUser(row)],
}

function readUser(row: ExportedRow): ImportedUser {
  const typed = textOf(row['username'])
  const email = textOf(row['email']) ?? (typed?.includes('@') === true ? typed : undefined)
  const id = textOf((row['_id'] as { $oid?: unknown } | undefined)?.$oid) ?? textOf(row['_id'])
  return {
    kind: 'user',
    id: idOf({ id: row['id'] ?? id }, 'id'),
    email: email ?? null,
    emailVerified: isTrue(row['email_verified'] ?? row['emailVerified'] ?? row['isVerified']),
    name: nameOf(row['name'] ?? row['displayName'] ?? row['display_name']) ?? null,
    username: typed !== undefined && typed !== email ? typed : null,
    accounts: rowsOf(row['federated_credentials']).flatMap(({ provider, subject }) => accountOf(providers, provider, subject)),
    ...readPassword(row),
  }
}

function readPassword(row: ExportedRow): Partial<HashFound> {
  const [salt, hashed] = [row['salt'], row['hashed_password']]
  if (salt !== null && salt !== undefined && hashed !== null && hashed !== undefined)
    return writePbkdf2(tutorial.digest, tutorial.iterations, bytesOf(salt), bytesOf(hashed))
  // Both texts in hex; the salt counts as text.
  if (typeof salt === 'string' && typeof row['hash'] === 'string')
    return writePbkdf2(mongoose.digest, mongoose.iterations, new TextEncoder().encode(salt), fromHex(row['hash']))
  const stored = textOf(row['password_hash']) ?? textOf(row['password']) ?? textOf(hashed)
  return stored === undefined ? {} : readHash(stored)
}

/** A column of bytes: from a driver, in the JSON of Node, in hex as PostgreSQL writes it, or in base64. */
function bytesOf(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value
  const { data } = Object(value) as { data?: unknown }
  if (Array.isArray(data)) return Uint8Array.from(data as number[])
  const text = textOf(value) ?? ''
  return /^(?:\\x)?(?:[0-9a-f]{2})+$/i.test(text) ? fromHex(text.replace(/^\\x/, '')) : fromBase64(text)
}
