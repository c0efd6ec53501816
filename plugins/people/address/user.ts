/** The user who is signed in, and the one place that stores another address. */
import type { AdapterUser, Context } from 'authkernel/kernel'

/** The stored user who is signed in. Null when signed out, for an API key, and for an administrator who acts as another user. */
export async function findUser(ctx: Context): Promise<AdapterUser | null> {
  const session = (await ctx.currentSession()) as { apiKey?: unknown; bearer?: unknown; actor?: unknown } | null
  if (!session || session.apiKey !== undefined || session.bearer !== undefined || session.actor !== undefined) return null
  const { id } = (await ctx.session.user(ctx)) ?? {}
  return id === undefined ? null : ctx.service('store').getUser(id)
}

/** Stores a proved address. Null: another user has it. One at a time, and the store's unique key decides between processes. */
export async function storeAddress(ctx: Context, userId: string, to: string): Promise<AdapterUser | null> {
  const store = ctx.service('store')
  const lease = await ctx.lease(`address ${to}`, 30)
  if (!lease) return null
  try {
    const holder = await store.getUserByEmail(to)
    if (holder && holder.id !== userId) return null
    const changed = await store.updateUser({ id: userId, email: to, emailVerified: ctx.now })
    await ctx.emit('updateUser', { user: changed })
    return changed
  } catch (error) {
    // Another user registered with it at this moment.
    const holder = await store.getUserByEmail(to)
    if (holder && holder.id !== userId) return null
    throw error
  } finally {
    await lease.release()
  }
}
