/** Keys end with what they were made for: the access of the owner, the membership in an organization, and with them the tokens that a key got. */
import type { AnyContext, Kernel } from 'authkernel/kernel'
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
  kernel.hook('accessToken', ({ claims, ctx }: IssuedToken) => claims['key'] === undefined || isKeyLive(ctx, options, claims['key']), {
    of: 'jwt',
  })
}

// Written here, because the types of a plugin that is absent are absent too.
interface IssuedToken {
  claims: Readonly<Record<string, unknown>>
  ctx: AnyContext
}
interface OrganizationChange {
  act: string
  organizationId: string
  userId?: string
  ctx: AnyContext
}

// The key is refused at once, because the membership is read at each use. Without its row it stays refused when the user comes back.
async function deleteKeysOfLeavers({ act, organizationId: organization, userId, ctx }: OrganizationChange): Promise<void> {
  const isLeaver = act === 'member.removed' || act === 'member.left'
  if (isLeaver && userId !== undefined) await ctx.records('apiKey').deleteWhere({ where: { organization, userId } })
  if (act === 'deleted') await ctx.records('apiKey').deleteWhere({ where: { organization } })
}
