/** The membership that a directory gives its users. */
import type { AnyContext, AtomicWrite } from 'authkernel/kernel'
import type { Connection } from './caller.ts'
import { isOfType, ScimError } from './errors.ts'
import { applyRules, rulesOf } from './rules.ts'
import type { ScimUserRow } from './tables.ts'

/** What is written with a membership, and whether the user was created in this request. */
export interface MembershipWrites {
  isNew?: boolean
  before?: readonly AtomicWrite[]
  after?: readonly AtomicWrite[]
}

/** `kept`: the user was a member before. `refused`: the other writes did not hold, and nothing is written. */
export async function addMembership(
  { ctx, directory }: Connection,
  userId: string,
  writes: MembershipWrites = {},
): Promise<'added' | 'kept' | 'refused'> {
  let isAdded = true
  try {
    const member = { organizationId: directory.organizationId, userId, role: rulesOf(directory).role ?? 'member', ...writes }
    if (!(await ctx.service('organizations').addMember(ctx, member))) return 'refused'
  } catch (error) {
    if (!isOfType(error, 'AlreadyMember')) throw error
    const { before = [], after = [] } = writes
    if (before.length + after.length > 0 && !(await ctx.atomic([...before, ...after]))) return 'refused'
    isAdded = false
  }
  await applyRules({ ctx, directory }, userId)
  return isAdded ? 'added' : 'kept'
}

/** The membership is in force again. An owner may have removed the member while the directory had the user switched off. */
export async function restoreMembership(caller: Connection, userId: string): Promise<void> {
  const { ctx, directory } = caller
  const member = { organizationId: directory.organizationId, userId }
  if (await ctx.service('organizations').findMember(ctx, member)) await ctx.service('organizations').restoreMember(ctx, member)
  await addMembership(caller, userId)
}

/** Throws ScimError 409 for the last owner. */
export async function removeMembership(ctx: AnyContext, { organizationId, userId }: ScimUserRow): Promise<void> {
  try {
    await ctx.service('organizations').removeMember(ctx, { organizationId, userId })
  } catch (error) {
    if (!isOfType(error, 'LastOwner')) throw error
    throw new ScimError(409, 'The user is the last owner of the organization: hand it over first. The user is rejected until then.')
  }
}
