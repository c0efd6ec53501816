/** Passwords of another product whose users never proved their address: they count once their owner has opened a mailed link. */
import { type AdapterUser, type AnyContext, AuthError, type Context, toAddress } from 'authkernel/kernel'
import type { Parts } from './options.ts'
import { askForProof } from './pending.ts'
import { isShort, normalizePassword } from './policy.ts'
import { passwordOf, rowId } from './tables.ts'

/** Stores hashes for users who have no password here; `dry` only counts. */
export async function takeHashes(
  ctx: AnyContext,
  { options }: Parts,
  hashes: readonly { userId: string; hash: string }[],
  dry = false,
): Promise<number> {
  const bad = hashes.findIndex(
    ({ hash }) => hash.length > 512 || !(/^\$(?:argon2id|scrypt)\$/.test(hash) || options.verify.some((one) => one.owns(hash))),
  )
  if (bad !== -1) throw new AuthError(`passwords.import: the hash of entry ${bad} is of no format in \`verify\`.`)
  let stored = 0
  for (const { userId, hash } of hashes) {
    if (await passwordOf(ctx, userId)) continue
    if (!dry)
      await ctx
        .records('password')
        .put({ id: await rowId(userId), userId, hash, short: false, parked: await isUnproved(ctx, userId), changed: ctx.now })
    stored++
  }
  return stored
}

// A user who registered with the address of another person has set the password there.
async function isUnproved(ctx: AnyContext, userId: string): Promise<boolean> {
  const user = await ctx.service('store').getUser(userId)
  return !user || (Boolean(user.email) && !user.emailVerified)
}

/** The password is right and the address unproved: the same mail as for a registration, which keeps the user where nothing belongs to another person. */
export async function askOwner(ctx: Context, { hasher, options }: Parts, user: AdapterUser, typed: string): Promise<Response> {
  const found = normalizePassword(typed)
  // It was right: it could be normalised.
  const password = 'error' in found ? typed : found.password
  const address = toAddress(user.email) ?? user.email
  return askForProof(ctx, { address, userId: user.id, hash: await hasher.hash(password), short: isShort(password, options.minLength) })
}

/**
 * The visitor who typed the right password has opened the mail in the same browser: the user and what it owns are theirs. False where the user has
 * accounts, or the store cannot tell: those may be an attacker's, and eviction decides.
 */
export async function activateParked(ctx: Context, user: AdapterUser, { hash, short }: { hash: string; short: boolean }): Promise<boolean> {
  const store = ctx.service('store')
  if (!store.supports('listAccountsByUserId') || (await store.listAccountsByUserId(user.id)).length > 0) return false
  await ctx.records('password').put({ id: await rowId(user.id), userId: user.id, hash, short, parked: false, changed: ctx.now })
  await ctx.emit('updateUser', { user: await store.updateUser({ id: user.id, emailVerified: ctx.now }) })
  return true
}

/** The address was proved without the parked password. */
export async function dropParked(ctx: AnyContext, userId: string): Promise<void> {
  const row = await passwordOf(ctx, userId)
  if (row?.parked) await ctx.records('password').delete(row.id)
}
