/** The user who is signed in, and the one place that stores another address. */
import type { AdapterUser, Context } from 'authkernel/kernel'
import { findOwnUser, writeAddress } from 'authkernel/kernel/users'

/** The stored user who is signed in. Null when signed out, for an API key, and for an administrator who acts as another user. */
export async function findUser(ctx: Context): Promise<AdapterUser | null> {
  const { id } = (await findOwnUser(ctx)) ?? {}
  return id === undefined ? null : ctx.service('store').getUser(id)
}

/** Stores a verified address. Null: another user has it. */
export async function storeAddress(ctx: Context, userId: string, to: string): Promise<AdapterUser | null> {
  const change = { id: userId, email: to, emailVerified: ctx.now }
  const changed = await writeAddress(ctx, to, userId, async () => ctx.service('store').updateUser(change))
  if (changed) await ctx.emit('updateUser', { user: changed })
  return changed
}

/** Takes a change back that was stored after the access of the user had ended. Leaves any other address than `to`, which came later. */
export async function restoreAddress(ctx: Context, { id, email, emailVerified }: AdapterUser, to: string): Promise<void> {
  const store = ctx.service('store')
  if ((await store.getUser(id))?.email !== to) return
  // The published type of a user has no null for the address. Adapters store it (`nullableEmail`).
  const user = await store.updateUser({ id, email: (email ?? null) as never, emailVerified })
  await ctx.emit('updateUser', { user })
}
