/** Users who are deleted: no organization is left without an owner, and no membership without a user. */
import type { AnyContext, Kernel } from 'authkernel/kernel'
import { remove } from './acts.ts'
import { type Actor, type Desk, rowsOf } from './desk.ts'
import { LastOwner, NoSuchOrganization } from './errors.ts'
import { giveUp } from './members.ts'

/** Answers the hook `deleteUser`: refuses the last owner, or hands over, by the option `ownerDeleted`. */
export function keepOwners(kernel: Kernel, desk: Desk): void {
  const { ownerDeleted, tenants } = desk.options
  kernel.hook('deleteUser', async ({ userId, final, ctx }) => {
    const rows = await rowsOf(desk, ctx)
    const actor: Actor = { ...desk, ctx, rows, user: null }
    const seats = await seatsOf(rows, userId)
    // Before the seats go: afterwards nobody finds them.
    if (final) for (const { organizationId } of seats) await withdrawInvitations(rows, organizationId, userId)
    for (const { organizationId: id, role } of seats) {
      if (role !== 'owner') continue
      // The first question writes nothing: somebody else may refuse.
      if (final) await leave(actor, id, userId, ownerDeleted === 'handOver')
      else if (ownerDeleted === 'refuse' && (await isLast(rows, id)))
        throw new LastOwner(`The user is the last owner of the organization ${id}. Hand it over first, or delete it.`)
    }
    // What stands above the tenants does not go with the rows of the person's tenant.
    if (final && tenants === 'over')
      for (const record of ['organizationTeamMember', 'organizationMember', 'organizationActive'] as const)
        await rows.records(record).deleteWhere({ where: { userId } })
    return true
  })
}

async function leave(actor: Actor, id: string, userId: string, handOver: boolean): Promise<void> {
  try {
    // Nobody else is in it: it goes with the person.
    if (!(await giveUp(actor, id, userId, handOver))) await remove(actor, id)
  } catch (error) {
    // It is being deleted itself.
    if (!(error instanceof NoSuchOrganization)) throw error
  }
}

/** What the person had offered in an organization is offered no more. */
async function withdrawInvitations(rows: AnyContext, organizationId: string, inviterId: string): Promise<void> {
  const table = rows.records('organizationInvitation')
  const open: string[] = []
  let cursor: string | undefined
  do {
    const page = await table.find({ where: { organizationId }, limit: 1000, cursor })
    for (const row of page.rows) if (row.inviterId === inviterId) open.push(row.id)
    cursor = page.cursor
  } while (cursor !== undefined)
  for (const id of open) await table.take(id, { if: { inviterId } })
}

async function seatsOf(rows: AnyContext, userId: string): Promise<{ organizationId: string; role: string }[]> {
  const seats: { organizationId: string; role: string }[] = []
  let cursor: string | undefined
  do {
    const page = await rows.records('organizationMember').find({ where: { userId }, limit: 1000, cursor })
    for (const { organizationId, role } of page.rows) seats.push({ organizationId, role })
    cursor = page.cursor
  } while (cursor !== undefined)
  return seats
}

async function isLast(rows: AnyContext, id: string): Promise<boolean> {
  const organization = await rows.records('organization').get(id)
  if (!organization || organization.closing) return false
  return (await rows.records('organizationMember').count({ organizationId: id, role: 'owner' }, { max: 2 })) < 2
}
