/** A refused sign-in leaves no account behind that it linked to a user who was there before. */
import type { Account } from '../contract/account.ts'
import type { Login } from '../contract/login.ts'
import type { KernelContext } from '../registry/snapshot.ts'

/** Does `work`; when it throws, the account of the login is unlinked again. A failure of that is logged. */
export async function orUndoLink<T>(ctx: KernelContext, login: Login, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const { account, linked, user } = login
    if (linked && user.id !== undefined)
      await unlinkAccount(ctx, account, user.id).catch((failure: unknown) => ctx.logger.error(failure as Error))
    throw error
  }
}

/** Takes the account away again, with what its provider type stored beside it. */
export async function unlinkAccount(ctx: KernelContext, account: Account, userId: string): Promise<void> {
  const { provider, providerAccountId, type } = account
  if (!ctx.store?.supports('unlinkAccount')) return
  await ctx.store.unlinkAccount({ provider, providerAccountId })
  await ctx.compiled.flows.get(type)?.onUnlinked?.(ctx, { provider, providerAccountId }, userId)
}
