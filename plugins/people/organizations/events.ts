/** The event `organizationChanged`, with the name of what happened. */
import type { AtomicWrite } from 'authkernel/kernel'
import type { Actor } from './actor.ts'

/** What happened to an organization. */
export type OrganizationAct =
  | 'created'
  | 'updated'
  | 'deleted'
  | `member.${'added' | 'joined' | 'removed' | 'left' | 'role' | 'suspended' | 'restored'}`
  | 'transferred'
  | `invitation.${'created' | 'accepted' | 'cancelled' | 'declined'}`
  | `team.${'created' | 'updated' | 'deleted' | 'joined' | 'left'}`
  | `role.${'created' | 'updated' | 'deleted'}`
  | `domain.${'claimed' | 'proved' | 'provider' | 'joining' | 'removed' | 'lapsed'}`

/** The event `organizationChanged`. */
export interface OrganizationChange {
  act: OrganizationAct
  organizationId: string
  /** Id of who did it; null: the host's own code, or a check that runs by itself. */
  by: string | null
  /** Of whom it is about. */
  userId?: string
  role?: string
  /** With `member.role`: the main role before. */
  formerRole?: string
  /** Of the team, role, invitation or domain. */
  id?: string
}
declare module 'authkernel/kernel' {
  interface Events {
    /** Something happened to an organization. */
    organizationChanged: OrganizationChange
  }
}

export async function emitChange(
  actor: Actor,
  act: OrganizationAct,
  organizationId: string,
  more: Pick<OrganizationChange, 'userId' | 'role' | 'formerRole' | 'id'> = {},
): Promise<void> {
  const { ctx, user } = actor
  const change = { act, organizationId, by: user?.id ?? null, ...more }
  await recordChange(actor, change)
  await ctx.emit('organizationChanged', change)
}

/** The history of a change, to be written in its commit; empty: none is kept. Fire `organizationChanged` after it. */
export function historyWrites({ ctx, options }: Actor, change: OrganizationChange): AtomicWrite[] {
  const { act, organizationId, by, userId = null, role = null, id = null } = change
  if (options.history === 0 || act === 'deleted') return []
  const until = new Date(ctx.now.getTime() + options.history * 86_400_000)
  return [{ record: 'organizationEvent', create: { organizationId, at: ctx.now, act, actor: by, about: userId, role, thing: id, until } }]
}

/** A store that fails here fails nothing that was done: it is logged. */
async function recordChange(actor: Actor, change: OrganizationChange): Promise<void> {
  const { ctx, rows } = actor
  const writes = historyWrites(actor, change)
  try {
    if (writes.length > 0) await rows.atomic(writes)
  } catch (error) {
    ctx.logger.error(error as Error)
  }
}
