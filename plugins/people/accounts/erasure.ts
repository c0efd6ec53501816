/** Erasure of a user with everything that plugins keep, and a report of what was there and what is left. */
import type { AnyContext } from 'authkernel/kernel'
import { countOwnedRows } from 'authkernel/kernel/users'

/** What an erasure removed. It has numbers and names of tables, and no data of the user. */
export interface ErasureReport {
  userId: string
  erasedAt: Date
  /** Linked accounts. */
  accounts: number
  passkeys: number
  /** Rows by the name of the record. */
  records: Record<string, number>
  /** Rows that are there still, by the name of the record: written at the same moment. Repeat the erasure until it is empty. */
  left: Record<string, number>
}

/**
 * Deletes the user and the rows of every record that names an owner. Null: there is no such user, and nothing was left of one. Throws what the hook `deleteUser`
 * rejects with, such as LastOwner: nothing is deleted then.
 */
export async function eraseUser(ctx: AnyContext, userId: string): Promise<ErasureReport | null> {
  const store = ctx.service('store')
  const user = await store.getUser(userId)
  const records = await countOwnedRows(ctx, userId)
  if (!user && Object.keys(records).length === 0) return null
  const accounts = user && store.supports('listAccountsByUserId') ? (await store.listAccountsByUserId(userId)).length : 0
  const passkeys = user && store.supports('listAuthenticatorsByUserId') ? (await store.listAuthenticatorsByUserId(userId)).length : 0
  // Also for a user who is gone: what an interrupted deletion left goes with it.
  await store.deleteUser(userId)
  return { userId, erasedAt: ctx.now, accounts, passkeys, records, left: await countOwnedRows(ctx, userId) }
}
