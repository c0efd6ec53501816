/** The records of passwords: hashes, registrations that wait for a proof, and tokens of resets. */
import { type AnyContext, randomHex, type RecordSpec, type Row, sha256, toHex } from 'authkernel/kernel'

/** The password of a user; its id is the SHA-256 of the user's id, so that no user has two. */
export interface PasswordRow {
  userId: string
  /** A PHC string, or a hash of another product. */
  hash: string
  /** Shorter than a password that alone signs in must be. */
  short: boolean
  /** A hash of another product, of a user whose address was not proved: it does not sign in, and goes when the address is proved without it. */
  parked?: boolean | null
  /**
   * SHA-256 of the hash that was taken over, until the user has another password: a new hash of the same one keeps it. Or `sharedMark` of the hash that another product
   * got from here.
   */
  imported?: string | null
  changed: Date
}
/** A visitor typed an address and a password, and has not proved that the address is theirs. */
export interface PendingRow {
  address: string
  /** Digest of the token in the mail. */
  token: string
  hash: string
  /** The user whose parked password it is: the visitor who asked knew it. */
  userId?: string | null
  short?: boolean | null
  /** Of a new user, as it was typed. */
  name?: string | null
  image?: string | null
  /** SHA-256 of the cookie in the browser that asked. */
  browser: string
  created: Date
  expires: Date
}
/** A reset under way; its id is the SHA-256 of the user's id: a newer one takes the place of an older one. */
export interface ResetRow {
  userId: string
  address: string
  token: string
  expires: Date
}

declare module 'authkernel/kernel' {
  interface Records {
    password: PasswordRow
    passwordPending: PendingRow
    passwordReset: ResetRow
  }
}

const userId = { type: 'string', max: 255 } as const
const hash = { type: 'string', max: 512, secret: true } as const
const digest = { type: 'string', max: 64, secret: true } as const
const address = { type: 'string', max: 254 } as const
const owner = { field: 'userId', of: 'user' } as const

export const passwordTable: RecordSpec<PasswordRow> = {
  id: 'given',
  fields: {
    userId,
    hash,
    short: { type: 'boolean' },
    parked: { type: 'boolean', optional: true },
    imported: { ...digest, optional: true },
    changed: { type: 'date' },
  },
  owner,
  added: 'changed',
}
export const pendingTable: RecordSpec<PendingRow> = {
  fields: {
    address,
    token: digest,
    hash,
    userId: { ...userId, optional: true },
    short: { type: 'boolean', optional: true },
    name: { type: 'string', max: 255, optional: true },
    image: { type: 'text', optional: true },
    browser: digest,
    created: { type: 'date' },
    expires: { type: 'date' },
  },
  unique: [['token']],
  index: [['address', 'created']],
  expires: 'expires',
}
export const resetTable: RecordSpec<ResetRow> = {
  id: 'given',
  fields: { userId, address, token: digest, expires: { type: 'date' } },
  unique: [['token']],
  owner,
  added: null,
  expires: 'expires',
}

/** The id of a user's rows. */
export async function rowId(user: string): Promise<string> {
  return toHex(await sha256(user))
}

/** What `imported` is of a password that was chosen here, when the other product has this hash of it. */
export function sharedMark(hash: string): Promise<string> {
  return rowId(`shared ${hash}`)
}

/** Null: the user has no password. */
export async function passwordOf(ctx: AnyContext, user: string): Promise<Row<PasswordRow> | null> {
  return ctx.records('password').get(await rowId(user))
}

/** A token for a mail: 256 bits. */
export function newMailToken(ctx: AnyContext): string {
  return randomHex(ctx.runtime, 32)
}

/** What is stored of a token. */
export function tokenDigest(ctx: AnyContext, kind: 'pending' | 'reset', token: string): Promise<string> {
  return ctx.digest(`passwords ${kind}`, token)
}

/** The row of a token, under any of the secrets; null: none, used or too old. */
export async function findByToken(ctx: AnyContext, kind: 'pending', token: unknown): Promise<Row<PendingRow> | null>
export async function findByToken(ctx: AnyContext, kind: 'reset', token: unknown): Promise<Row<ResetRow> | null>
export async function findByToken(
  ctx: AnyContext,
  kind: 'pending' | 'reset',
  token: unknown,
): Promise<Row<PendingRow> | Row<ResetRow> | null>
export async function findByToken(
  ctx: AnyContext,
  kind: 'pending' | 'reset',
  token: unknown,
): Promise<Row<PendingRow> | Row<ResetRow> | null> {
  if (typeof token !== 'string' || !/^[0-9a-f]{64}$/.test(token)) return null
  const table = ctx.records(kind === 'pending' ? 'passwordPending' : 'passwordReset')
  for (const stored of await ctx.digests(`passwords ${kind}`, token)) {
    const row = await table.get({ token: stored })
    if (row) return row
  }
  return null
}
