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
    const owned = await ownedBy(rows, userId)
    for (const id of owned) {
      // The first question writes nothing: somebody else may refuse.
      if (final) await leave(actor, id, userId, ownerDeleted === 'handOver')
      else if (ownerDeleted === 'refuse' && (await isLast(rows, id)))
        throw new LastOwner(`The user is the last owner of the organization ${id}. Hand it over first, or delete it.`)
    }
    // What stands above the tenants does not go with the rows of the person's tenant.
    if (final && tenants === 'over')
      for (const record of ['organizationTeamMember', 'organizationMember'] as const)
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

async function ownedBy(rows: AnyContext, userId: string): Promise<string[]> {
  const owned: string[] = []
  let cursor: string | undefined
  do {
    const page = await rows.records('organizationMember').find({ where: { userId }, limit: 1000, cursor })
    for (const { organizationId, role } of page.rows) if (role === 'owner') owned.push(organizationId)
    cursor = page.cursor
  } while (cursor !== undefined)
  return owned
}

async function isLast(rows: AnyContext, id: string): Promise<boolean> {
  const organization = await rows.records('organization').get(id)
  if (!organization || organization.closing) return false
  return (await rows.records('organizationMember').count({ organizationId: id, role: 'owner' }, { max: 2 })) < 2
}
