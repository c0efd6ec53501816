/** Users who were members: a proved domain alone does not bring them back. */
import type { AnyContext, AtomicWrite } from 'authkernel/kernel'
import type { Actor } from './actor.ts'
import type { MemberRow } from './tables.ts'

/** What is written in the commit that ends the membership. `removed`: another user took them out. */
export async function departureWrite(
  { rows }: Pick<Actor, 'rows'>,
  { organizationId, userId }: Pick<MemberRow, 'organizationId' | 'userId'>,
  removed: boolean,
): Promise<AtomicWrite> {
  const former = await rows.records('organizationDeparture').get({ organizationId, userId })
  return former
    ? { record: 'organizationDeparture', update: former.id, change: { removed } }
    : { record: 'organizationDeparture', create: { organizationId, userId, removed } }
}

export async function forgetDeparture(rows: AnyContext, organizationId: string, userId: string): Promise<void> {
  await rows.records('organizationDeparture').deleteWhere({ where: { organizationId, userId } })
}

/** How a user left: by choice, or removed; null: the user was no member before. */
export async function findDeparture(rows: AnyContext, organizationId: string, userId: string): Promise<'left' | 'removed' | null> {
  const row = await rows.records('organizationDeparture').get({ organizationId, userId })
  if (!row) return null
  return row.removed ? 'removed' : 'left'
}
