/** Passwords of another product whose users never proved their address: they count once their owner has opened a mailed link. */
import { type AdapterUser, type AnyContext, type Context, toAddress } from 'authkernel/kernel'
import type { Parts } from './parts.ts'
import { askForProof } from './pending.ts'
import { isShort, normalise } from './policy.ts'
import { passwordOf, rowId } from './tables.ts'

/** The password is right and the address unproved: the same mail as for a registration, which keeps the user where there is nothing of a stranger. */
export async function askOwner(ctx: Context, { hasher, options }: Parts, user: AdapterUser, typed: string): Promise<Response> {
  const found = normalise(typed)
  // It was right: it could be normalised.
  const password = 'error' in found ? typed : found.password
  const address = toAddress(user.email) ?? user.email
  return askForProof(ctx, { address, userId: user.id, hash: await hasher.hash(password), short: isShort(password, options.minLength) })
}

/**
 * Whoever typed the right password has opened the mail in the same browser: the user and what it owns are this person's. False where the user has
 * accounts, or nobody can tell: those may be a stranger's, and eviction decides.
 */
export async function activateParked(ctx: Context, user: AdapterUser, { hash, short }: { hash: string; short: boolean }): Promise<boolean> {
  const store = ctx.service('store')
  if (!store.supports('listAccountsByUserId') || (await store.listAccountsByUserId(user.id)).length > 0) return false
  await ctx.records('password').put({ id: await rowId(user.id), userId: user.id, hash, short, parked: false, changed: ctx.now })
  await ctx.emit('updateUser', { user: await store.updateUser({ id: user.id, emailVerified: ctx.now }) })
  return true
}

/** The address was proved by somebody who did not need the parked password. */
export async function dropParked(ctx: AnyContext, userId: string): Promise<void> {
  const row = await passwordOf(ctx, userId)
  if (row?.parked) await ctx.records('password').delete(row.id)
}
