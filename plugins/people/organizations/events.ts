/** The event `organizationChanged`, with the name of what happened. */
import type { Actor } from './actor.ts'

/** What happened to an organization. */
export type OrganizationAct =
  | 'created'
  | 'updated'
  | 'deleted'
  | `member.${'added' | 'removed' | 'left' | 'role'}`
  | 'transferred'
  | `invitation.${'created' | 'accepted' | 'cancelled' | 'declined'}`
  | `team.${'created' | 'updated' | 'deleted' | 'joined' | 'left'}`
  | `domain.${'claimed' | 'proved' | 'provider' | 'removed' | 'lapsed'}`

/** The event `organizationChanged`. */
export interface OrganizationChange {
  act: OrganizationAct
  organizationId: string
  /** Id of who did it; null: the host's own code, or a check that runs by itself. */
  by: string | null
  /** Of whom it is about. */
  userId?: string
  role?: string
  /** Of the team, invitation or domain. */
  id?: string
}
declare module 'authkernel/kernel' {
  interface Events {
    /** Something happened to an organization. */
    organizationChanged: OrganizationChange
  }
}

export async function emitChange(
  { ctx, user }: Pick<Actor, 'ctx' | 'user'>,
  act: OrganizationAct,
  organizationId: string,
  more: Pick<OrganizationChange, 'userId' | 'role' | 'id'> = {},
): Promise<void> {
  await ctx.emit('organizationChanged', { act, organizationId, by: user?.id ?? null, ...more })
}
