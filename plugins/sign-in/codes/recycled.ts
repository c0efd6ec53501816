/** Numbers go to other people: one that was not used for 90 days leads to no user who had it before. */
import { type AnyContext, type Context, type RecordSpec, sha256, toHex, type User } from 'authkernel/kernel'

/** The last sign-in by a number; its id is the SHA-256 of the number. */
export interface PhoneUseRow {
  userId: string
  used: Date
}

declare module 'authkernel/kernel' {
  interface Records {
    phoneUse: PhoneUseRow
  }
}

const days = 90
const day = 86_400_000

export const phoneUseTable: RecordSpec<PhoneUseRow> = {
  id: 'given',
  fields: { userId: { type: 'string' }, used: { type: 'date' } },
  owner: { field: 'userId', of: 'user' },
}

/** Takes a number that was not used for long from the user who had it. */
export async function forgetOld(ctx: Context, number: string): Promise<void> {
  const uses = ctx.records('phoneUse')
  const id = await idOf(number)
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

/** Somebody signed in by a number. */
export async function noteUse(ctx: AnyContext, number: string, { id: userId }: User): Promise<void> {
  if (userId !== undefined) await ctx.records('phoneUse').put({ id: await idOf(number), userId, used: ctx.now })
}

async function idOf(number: string): Promise<string> {
  return toHex(await sha256(`phone ${number}`))
}
