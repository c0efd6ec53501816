/** What happened in one organization, for its owners: `emitChange` writes it, and it is kept for the days of the option `history`. */
import { type Actor, requireMembership } from './actor.ts'
import type { OrganizationAct } from './events.ts'
import { OrganizationInput } from './errors.ts'
import { findUsers } from './member-list.ts'

/** One thing that happened. */
export interface OrganizationEvent {
  at: Date
  /** As in the event `organizationChanged`. */
  act: OrganizationAct
  /** Who did it; null: the host's own code, or a check that runs by itself. */
  by: { id: string; name: string | null } | null
  /** Of whom it is about; null: of no user. */
  user: { id: string; name: string | null } | null
  role: string | null
  /** Of the team, role, invitation or domain. */
  id: string | null
}
/** The newest first. */
export interface OrganizationHistory {
  events: OrganizationEvent[]
  /** Give it as `cursor`; undefined: this was the last page. */
  cursor: string | undefined
}

/** Needs `organization:history`. `limit`: default 50, at most 200. */
export async function listHistory(
  actor: Actor,
  id: string,
  { cursor, limit = 50 }: { cursor?: string | undefined; limit?: number | undefined } = {},
): Promise<OrganizationHistory> {
  const { rows } = await requireMembership(actor, id, 'organization:history')
  if (!Number.isInteger(limit) || limit < 1 || limit > 200)
    throw new OrganizationInput('organizations.history: `limit` must be a whole number from 1 to 200.')
  const page = await rows.records('organizationEvent').find({ where: { organizationId: id }, order: 'desc', limit, cursor })
  const users = await findUsers(
    actor,
    page.rows.flatMap(({ actor: by, about }) => [by, about].filter((one) => one !== null)),
  )
  const nameOf = (userId: string | null): OrganizationEvent['by'] => {
    if (userId === null) return null
    const { name, email } = users.get(userId) ?? {}
    return { id: userId, name: name ?? email ?? null }
  }
  const events = page.rows.map(({ at, act, actor: by, about, role, thing }) => {
    // Only `emitChange` writes the acts.
    return { at, act: act as OrganizationAct, by: nameOf(by), user: nameOf(about), role, id: thing }
  })
  return { events, cursor: page.cursor }
}
