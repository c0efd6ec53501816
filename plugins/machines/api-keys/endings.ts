/** Keys end with what they were made for: the access of the owner, the membership in an organization, and with them the tokens that a key got. */
import type { EventMessage, Kernel } from 'authkernel/kernel'
import type {} from 'authkernel/plugins/jwt'
import type {} from 'authkernel/plugins/organizations'
import { isKeyLive } from './authenticate.ts'
import type { ResolvedOptions } from './options.ts'

/** Adds the handlers that end keys. Two belong to plugins that may be absent. */
export function addEndings(kernel: Kernel, options: ResolvedOptions): void {
  kernel.onAccessEnd('key', (ctx, { which, reason }) =>
    'userId' in which && (reason === 'deletion' || (reason === 'passwordReset' && options.onPasswordReset === 'end'))
      ? ctx.records('apiKey').deleteWhere({ where: { userId: which.userId } })
      : 0,
  )
  kernel.on('organizationChanged', deleteKeysOfLeavers, { of: 'organizations' })
  kernel.hook('accessToken', ({ claims, ctx }) => claims['key'] === undefined || isKeyLive(ctx, options, claims['key']), {
    of: 'jwt',
  })
}

// The key is refused at once, because the membership is read at each use. Without its row it stays refused when the user comes back.
async function deleteKeysOfLeavers({ act, organizationId: organization, userId, ctx }: EventMessage<'organizationChanged'>): Promise<void> {
  const isLeaver = act === 'member.removed' || act === 'member.left'
  if (isLeaver && userId !== undefined) await ctx.records('apiKey').deleteWhere({ where: { organization, userId } })
  if (act === 'deleted') await ctx.records('apiKey').deleteWhere({ where: { organization } })
}
