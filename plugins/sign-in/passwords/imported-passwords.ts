/** Passwords of another product whose users never proved their address: they count once their owner has opened a magic link. */
import {
  type AdapterUser,
  type AnyContext,
  AuthError,
  type Context,
  type ImportState,
  type ImportTarget,
  type NewRow,
  type PasswordTaken,
  RecordConflict,
  toAddress,
} from 'authkernel/kernel'
import { canVerify } from './hash.ts'
import type { Parts } from './options.ts'
import { askForProof } from './pending.ts'
import { isShort, normalizePassword } from './policy.ts'
import { passwordOf, type PasswordRow, rowId, sharedMark } from './tables.ts'

const pageSize = 500

/** Stores hashes for users who have no password here; `dry` only counts. Throws AuthError for a hash that is of no known format. */
export async function takeHashes(ctx: AnyContext, parts: Parts, hashes: readonly PasswordTaken[], dry = false): Promise<number> {
  const bad = hashes.findIndex(({ hash }) => !canVerify(hash, parts.options.verify))
  if (bad !== -1) throw new AuthError(`passwords.import: the hash of entry ${bad} is of no format in \`verify\`.`)
  let stored = 0
  for (let at = 0; at < hashes.length; at += pageSize) {
    const rows = hashes.slice(at, at + pageSize).map((value) => ({ key: value.userId, value }))
    const here = await readStates(ctx, rows)
    const fresh = rows.filter(({ key }, n) => here[n] === undefined && rows.findIndex((other) => other.key === key) === n)
    stored += dry ? fresh.length : (await writeHashes(ctx, fresh)).filter((version) => version !== undefined).length
  }
  return stored
}

/** Passwords of another product for a move that may be run again. Keys are ids of users. */
export function passwordTarget(parts: Parts): ImportTarget<PasswordTaken> {
  return {
    refuse: (_ctx, { hash }) =>
      canVerify(hash, parts.options.verify)
        ? undefined
        : 'the hash is of no format in `verify` of passwordsPlugin, or needs too much time or memory. Add the format, for example bcryptHash().',
    isEmpty: async (ctx) => (await ctx.records('password').count({}, { max: 1 })) === 0,
    read: readStates,
    write: writeHashes,
    async remove(ctx, rows) {
      const ids = await Promise.all(rows.map(({ key }) => rowId(key)))
      let removed = 0
      for (const [at, { version }] of rows.entries())
        if (await ctx.records('password').take(ids[at]!, { if: { imported: version } })) removed++
      return removed
    },
  }
}

async function readStates(ctx: AnyContext, rows: readonly { key: string; value?: PasswordTaken }[]): Promise<(ImportState | undefined)[]> {
  const ids = await Promise.all(rows.map(({ key }) => rowId(key)))
  const found = new Map((await ctx.records('password').getMany(ids)).map((row) => [row.id, row]))
  return Promise.all(
    rows.map(async ({ value }, at) => {
      const row = found.get(ids[at]!)
      if (!row) return undefined
      // A password that was chosen here has a version that no move wrote.
      const version = row.imported ?? `here ${row.changed.toISOString()}`
      if (value === undefined) return { version, changed: row.changed, same: false }
      const own = row.imported === (await sharedMark(value.hash))
      return { version, changed: row.changed, own, same: own || row.hash === value.hash || row.imported === (await rowId(value.hash)) }
    }),
  )
}

async function writeHashes(
  ctx: AnyContext,
  rows: readonly { key: string; value: PasswordTaken; over?: string | undefined }[],
): Promise<(string | undefined)[]> {
  const passwords = ctx.records('password')
  const proved = await findProved(
    ctx,
    rows.filter(({ value }) => value.verified === undefined).map(({ key }) => key),
  )
  const drafts = await Promise.all(
    rows.map(async ({ key, value: { hash, verified }, over }) => {
      const parked = verified === undefined ? !proved.has(key) : !verified
      return { row: { id: await rowId(key), userId: key, hash, short: false, parked, imported: await rowId(hash), changed: ctx.now }, over }
    }),
  )
  const fresh = drafts.filter(({ over }) => over === undefined).map(({ row }) => row)
  const stored = new Set<string>()
  try {
    for (const row of await passwords.createMany(fresh)) stored.add(row.id)
  } catch (error) {
    // A user has chosen a password meanwhile: it stays.
    if (!(error instanceof RecordConflict)) throw error
    for (const row of fresh) if (await createRow(ctx, row)) stored.add(row.id)
  }
  for (const { row, over } of drafts) {
    if (over === undefined) continue
    const { id, ...change } = row
    // A version that no move wrote is replaced only where the operator said so, and by nothing that was chosen since.
    const condition = over.startsWith('here ') ? { changed: new Date(over.slice('here '.length)) } : { imported: over }
    if (await passwords.update(id, change, { if: condition })) stored.add(id)
  }
  return drafts.map(({ row: { id, imported } }) => (stored.has(id) ? imported : undefined))
}

async function createRow(ctx: AnyContext, row: NewRow<PasswordRow>): Promise<boolean> {
  try {
    await ctx.records('password').create(row)
    return true
  } catch (error) {
    if (error instanceof RecordConflict) return false
    throw error
  }
}

// Of these users, those without an address, and those who have verified it: one who registered with the address of another person has set the password there.
async function findProved(ctx: AnyContext, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const users = ids.length === 0 ? [] : await ctx.service('store').getUsers(ids)
  return new Set(users.filter(({ email, emailVerified }) => !email || emailVerified).map(({ id }) => id))
}

/** The password is right and the email unverified: the same mail as for a registration, which keeps the user where nothing belongs to another user. */
export async function askOwner(ctx: Context, { hasher, options }: Parts, user: AdapterUser, typed: string): Promise<Response> {
  const found = normalizePassword(typed)
  // It was right: it could be normalised.
  const password = 'error' in found ? typed : found.password
  const address = toAddress(user.email) ?? user.email
  return askForProof(ctx, { address, userId: user.id, hash: await hasher.hash(password), short: isShort(password, options.minLength) })
}

/**
 * The visitor who typed the right password has opened the mail in the same browser: the user and what it owns are theirs. False where the user has
 * accounts of providers, or the store cannot tell: those may be an attacker's, and eviction decides. An account without a provider here signs no user in: another
 * product keeps its passwords in one.
 */
export async function activateParked(ctx: Context, user: AdapterUser, { hash, short }: { hash: string; short: boolean }): Promise<boolean> {
  const store = ctx.service('store')
  if (!store.supports('listAccountsByUserId')) return false
  const accounts = await store.listAccountsByUserId(user.id)
  if (accounts.some(({ provider }) => ctx.app.providers.has(provider))) return false
  // The owner may have reset the password there, in the user of an attacker who has a passkey.
  if (await ctx.app.services.sharedCredentials?.hasOtherThanPassword(ctx, user.id)) return false
  await ctx.records('password').put({ id: await rowId(user.id), userId: user.id, hash, short, parked: false, changed: ctx.now })
  await ctx.emit('updateUser', { user: await store.updateUser({ id: user.id, emailVerified: ctx.now }) })
  return true
}

/** The address was proved without the parked password. */
export async function dropParked(ctx: AnyContext, userId: string): Promise<void> {
  const row = await passwordOf(ctx, userId)
  if (row?.parked) await ctx.records('password').delete(row.id)
}
