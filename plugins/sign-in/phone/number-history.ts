/** Numbers go to other users: one that was not used for 90 days leads to no user who had it before. */
import { type AnyContext, type Context, sha256, toHex, type User } from 'authkernel/kernel'

const days = 90
const day = 86_400_000

/** Takes a number that was not used for long from the user who had it. */
export async function releaseOldNumber(ctx: Context, number: string): Promise<void> {
  const uses = ctx.records('phoneUse')
  const id = await useIdOf(number)
  const use = await uses.get(id)
  if (!use || ctx.now.getTime() - use.used.getTime() <= days * day) return
  const account = { provider: 'phone', providerAccountId: number }
  const store = ctx.service('store')
  const owner = await store.getUserByAccount(account)
  // The user who is signed in still has it.
  if (!owner || (await ctx.session.user(ctx))?.id === owner.id) return
  await store.unlinkAccount(account)
  await uses.take(id, { if: { used: use.used } })
}

/** A user signed in by a number. */
export async function recordUse(ctx: AnyContext, number: string, { id: userId }: User): Promise<void> {
  if (userId !== undefined) await ctx.records('phoneUse').put({ id: await useIdOf(number), userId, used: ctx.now })
}

async function useIdOf(number: string): Promise<string> {
  return toHex(await sha256(`phone ${number}`))
}
