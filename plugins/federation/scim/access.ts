/** What a directory that switches a user off ends, and what it rejects from then on. */
import type { AnyContext, Kernel } from 'authkernel/kernel'
import { listRows } from 'authkernel/kernel/stores'
import { endAccess } from 'authkernel/kernel/users'
import type {} from 'authkernel/plugins/organizations'
import { isOfType } from './errors.ts'
import type { ScimUserRow } from './tables.ts'

type Place = Pick<ScimUserRow, 'organizationId' | 'userId'>

/** Rejects every way in to users whom a directory has switched off, and who belong to no other organization. */
export function refuseInactive(kernel: Kernel): void {
  kernel.hook('access', async ({ userId, ctx }) => !(await isSwitchedOff(ctx, userId)))
}

/** A user who is deleted in the app is of no directory any more. The rows would go by themselves, and their number would stay. */
export function forgetDeletedUsers(kernel: Kernel): void {
  kernel.hook('deleteUser', async ({ userId, final, ctx }) => {
    if (!final) return true
    await ctx.records('scimMember').deleteWhere({ where: { userId } })
    await ctx.records('scimEmail').deleteWhere({ where: { userId } })
    for (const { id, directoryId } of await listRows(ctx.records('scimUser'), { where: { userId } }))
      await ctx.atomic([
        { record: 'scimUser', take: id },
        { record: 'scimDirectory', increment: directoryId, field: 'users', by: -1 },
      ])
    return true
  })
}

/**
 * Ends the access that the organization gave: the membership is suspended, and everything that rests on it ends. A user who belongs to no other organization loses
 * all access. Idempotent. Store `active: false` before: from then on nothing new is given.
 */
export async function endDirectoryAccess(ctx: AnyContext, place: Place): Promise<void> {
  await suspend(ctx, place)
  if (await isSwitchedOff(ctx, place.userId)) await endAccess(ctx, { userId: place.userId }, 'scim', 'directory')
}

async function suspend(ctx: AnyContext, { organizationId, userId }: Place): Promise<void> {
  try {
    await ctx.service('organizations').suspendMember(ctx, { organizationId, userId })
  } catch (error) {
    // The last owner keeps the membership, so that the organization keeps an owner: the hook refuses the user as a whole then. An owner may have removed the member.
    if (!isOfType(error, 'LastOwner', 'NoSuchOrganization')) throw error
  }
}

async function isSwitchedOff(ctx: AnyContext, userId: string): Promise<boolean> {
  const { rows } = await ctx.records('scimUser').find({ where: { userId }, limit: 100 })
  const off = new Set(rows.filter(({ active }) => !active).map(({ organizationId }) => organizationId))
  // Of a deleted organization no directory is left to switch the user on.
  for (const organizationId of off) if (!(await ctx.service('organizations').get(ctx, organizationId))) off.delete(organizationId)
  if (off.size === 0) return false
  const places = (await ctx.service('organizations').listOf(ctx, userId)).filter(({ suspended }) => !suspended)
  return places.length === 0 || places.some(({ organizationId }) => off.has(organizationId))
}
