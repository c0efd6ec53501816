/** What gives access back: a ban that is lifted, a membership that is in force again, a directory that switches a user on. */
import type { AnyContext, Kernel } from 'authkernel/kernel'
import type {} from 'authkernel/plugins/admin'
import type {} from 'authkernel/plugins/organizations'
import type {} from 'authkernel/plugins/scim'
import { deliverSoon } from './delivery.ts'
import { eventTypes } from './event-types.ts'
import type { ResolvedTransmitter } from './options.ts'
import { queueEvents } from './outbox.ts'

/** Queues `account-enabled`. A user whom something else rejects still is not enabled, and gets none. */
export function addRestorations(kernel: Kernel, { subjects }: ResolvedTransmitter): void {
  const enable = async (ctx: AnyContext, userId: string, organizationIds: readonly string[]): Promise<void> => {
    if (organizationIds.length === 0 || !(await ctx.access.allows(userId, 'signal'))) return
    if (await queueEvents(ctx, { organizationIds, userId, subjects, types: [eventTypes.accountEnabled] })) deliverSoon(kernel, ctx)
  }
  kernel.on('organizationChanged', async ({ act, organizationId, userId, ctx }) => {
    if (act === 'member.restored' && userId !== undefined) await enable(ctx, userId, [organizationId])
  })
  // Fires when the last rejection of the directory is gone. The last owner of an organization was no suspended member.
  kernel.on(
    'scimChanged',
    async ({ act, organizationId, userId, ctx }) => {
      if (act === 'user.restored' && userId !== undefined) await enable(ctx, userId, [organizationId])
    },
    { of: 'scim' },
  )
  kernel.on(
    'adminAct',
    async ({ act, user: { id }, ctx }) => {
      if (act === 'unban' && id !== undefined) await enable(ctx, id, await listOrganizations(ctx, id))
    },
    { of: 'admin' },
  )
}

/** Where the user is a member. A suspended membership stays ended. */
async function listOrganizations(ctx: AnyContext, userId: string): Promise<string[]> {
  const memberships = await ctx.service('organizations').listOf(ctx, userId)
  return memberships.filter(({ suspended }) => !suspended).map(({ organizationId }) => organizationId)
}
