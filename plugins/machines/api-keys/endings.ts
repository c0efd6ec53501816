/** Keys end with what they were made for: the access of the owner, the membership in an organization, and with them the tokens that a key got. */
import type { EventMessage, Kernel } from 'authkernel/kernel'
import type {} from 'authkernel/plugins/jwt'
import type {} from 'authkernel/plugins/organizations'
import { isKeyLive } from './authenticate.ts'
import type { ResolvedOptions } from './options.ts'

/** Adds the handlers that end keys. Two belong to plugins that may be absent. */
export function addEndings(kernel: Kernel, options: ResolvedOptions): void {
  kernel.onAccessEnd('key', (ctx, { which, reason, before }) => {
    // The key is refused at once, because the membership is read at each use. Without its row it stays refused when the user comes back.
    if ('member' in which) {
      const { organizationId: organization, userId } = which.member
      return ctx.records('apiKey').deleteWhere({ where: { organization, userId } })
    }
    // Otherwise the keys of a user whom a directory removed, or switched off and on again, would work again.
    const ends = ['deletion', 'policy', 'directory'].includes(reason) || (reason === 'passwordReset' && options.onPasswordReset === 'end')
    if (!ends || !('userId' in which)) return 0
    const where = { userId: which.userId }
    return ctx.records('apiKey').deleteWhere(before ? { where, range: { created: { lt: before } } } : { where })
  })
  kernel.on('organizationChanged', deleteKeysOfDeleted, { of: 'organizations' })
  kernel.hook('accessToken', ({ claims, ctx }) => claims['key'] === undefined || isKeyLive(ctx, options, claims['key']), {
    of: 'jwt',
  })
}

async function deleteKeysOfDeleted({ act, organizationId: organization, ctx }: EventMessage<'organizationChanged'>): Promise<void> {
  if (act === 'deleted') await ctx.records('apiKey').deleteWhere({ where: { organization } })
}
