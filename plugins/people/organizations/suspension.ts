/** Memberships that give nothing for a while: the row and the role stay, and everything that was made with them ends. */
import type { Actor } from './actor.ts'
import { emitChange } from './events.ts'
import { assertCovers, assertOtherOwner, changeUnderVersion, endMembership, requireMember } from './members.ts'
import { heldRoles } from './roles.ts'

/** Needs `member:remove`. False: it was suspended before; what may be left of its access is ended again. Throws LastOwner. */
export async function suspendMember(actor: Actor, id: string, userId: string): Promise<boolean> {
  const done = await setSuspended(actor, id, userId, actor.ctx.now)
  await endMembership(actor, id, userId)
  if (done) await emitChange(actor, 'member.suspended', id, { userId })
  return done
}

/** Needs `member:remove`. Gives back the role, and nothing that ended. False: the membership was in force. */
export async function restoreMember(actor: Actor, id: string, userId: string): Promise<boolean> {
  const done = await setSuspended(actor, id, userId, null)
  if (done) await emitChange(actor, 'member.restored', id, { userId })
  return done
}

async function setSuspended(actor: Actor, id: string, userId: string, suspended: Date | null): Promise<boolean> {
  const end = { done: false }
  await changeUnderVersion(actor, id, 'member:remove', async (membership) => {
    const target = await requireMember(membership, userId)
    assertCovers(membership, ...heldRoles(target))
    end.done = (target.suspended === null) !== (suspended === null)
    if (!end.done) return null
    if (suspended !== null) await assertOtherOwner(membership, target)
    return [{ record: 'organizationMember', update: target.id, change: { suspended }, if: { role: target.role } }]
  })
  return end.done
}
