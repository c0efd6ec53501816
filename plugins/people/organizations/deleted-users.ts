/** Users who are deleted: no organization is left without an owner, and no membership without a user. */
import type { AnyContext, Kernel } from 'authkernel/kernel'
import { listRows } from 'authkernel/kernel/stores'
import { type Actor, type PluginInstance, rowsOf } from './actor.ts'
import { LastOwner, NoSuchOrganization } from './errors.ts'
import { countOwners, giveUpOwnership } from './members.ts'
import { deleteOrganization } from './organizations.ts'

/** Answers the hook `deleteUser`: rejects the last owner, or hands over, by the option `ownerDeleted`. */
export function keepOwners(kernel: Kernel, plugin: PluginInstance): void {
  const { ownerDeleted, tenants } = plugin.options
  kernel.hook('deleteUser', async ({ userId, final, ctx }) => {
    const rows = await rowsOf(plugin, ctx)
    const actor: Actor = { ...plugin, ctx, rows, user: null }
    const memberships = await listRows(rows.records('organizationMember'), { where: { userId } })
    // Before the memberships go: afterwards they cannot be found.
    if (final) for (const { organizationId } of memberships) await withdrawInvitations(rows, organizationId, userId)
    for (const { organizationId: id, role, suspended } of memberships) {
      if (role !== 'owner' || suspended !== null) continue
      // The first question writes nothing: another plugin may refuse.
      if (final) await withdrawOwner(actor, id, userId, ownerDeleted === 'handOver')
      else if (ownerDeleted === 'refuse' && (await isLastOwner(rows, id)))
        throw new LastOwner(`The user is the last owner of the organization ${id}. Hand it over first, or delete it.`)
    }
    // What stands above the tenants does not go with the rows of the user's tenant.
    if (final && tenants === 'over')
      for (const record of ['organizationTeamMember', 'organizationMember', 'organizationActive', 'organizationDeparture'] as const)
        await rows.records(record).deleteWhere({ where: { userId } })
    return true
  })
}

async function withdrawOwner(actor: Actor, id: string, userId: string, handOver: boolean): Promise<void> {
  try {
    // The user is its only member: it goes with the user.
    if (!(await giveUpOwnership(actor, id, userId, handOver))) await deleteOrganization(actor, id)
  } catch (error) {
    // It is being deleted itself.
    if (!(error instanceof NoSuchOrganization)) throw error
  }
}

/** What the user had offered in an organization is offered no more. */
async function withdrawInvitations(rows: AnyContext, organizationId: string, inviterId: string): Promise<void> {
  const table = rows.records('organizationInvitation')
  const invitations = await listRows(table, { where: { organizationId } })
  for (const { id, inviterId: by } of invitations) if (by === inviterId) await table.take(id, { if: { inviterId } })
}

async function isLastOwner(rows: AnyContext, id: string): Promise<boolean> {
  const organization = await rows.records('organization').get(id)
  if (!organization || organization.closing) return false
  return (await countOwners(rows, id)) < 2
}
