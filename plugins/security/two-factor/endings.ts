/** What ends factors and the trust in browsers: an administrator, a new password or address, and the end of the access of a user. */
import type { Kernel } from 'authkernel/kernel'
import type {} from 'authkernel/plugins/admin'
import { resetFactors } from './changes.ts'
import { raiseGeneration } from './person.ts'

export function addEndings(kernel: Kernel): void {
  kernel.hook(
    'newFactor',
    async ({ user, admin, reason, ctx }): Promise<true> => {
      const { id: userId } = user
      await resetFactors(ctx, { key: `user:${userId}`, userId, user }, { admin, reason })
      return true
    },
    { of: 'admin' },
  )
  // A browser that was trusted under the old password or address is not under the new one.
  kernel.on('credentialChanged', async ({ user, kind, ctx }) => {
    if ((kind === 'password' || kind === 'address') && user?.id !== undefined)
      await raiseGeneration(ctx, { key: `user:${user.id}`, userId: user.id, user })
  })
  // A user who signs out everywhere trusts no browser any more: one that was left behind would sign in without the factor.
  // What fails here fails the ending, so that it is repeated.
  kernel.onAccessEnd('pending', async (ctx, { which }) => {
    if (!('userId' in which)) return undefined
    const user = (await ctx.store?.getUser(which.userId)) ?? { id: which.userId }
    return raiseGeneration(ctx, { key: `user:${which.userId}`, userId: which.userId, user })
  })
}
