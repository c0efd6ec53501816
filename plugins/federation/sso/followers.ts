/** Policies follow the organization: who joins, which domain is proved, and which address a user gets later. */
import type { AnyContext, Kernel } from 'authkernel/kernel'
import type { OrganizationAct } from 'authkernel/plugins/organizations'
import { applyToDomain, endOthers } from './apply.ts'
import { findDemand } from './demand.ts'
import { policyIdOf } from './policy-rules.ts'

/** Requests whose sign-in by a connection makes the membership: the access of the user ends after it, or it would end that sign-in too. */
const joiningRequests = new WeakSet<AnyContext>()

/** What makes a membership, or brings it in force again. */
const joiningActs = new Set<OrganizationAct>(['member.added', 'member.joined', 'member.restored', 'invitation.accepted'])

/** What ends the membership of a break-glass owner, whose address may be in a domain of the policy. */
const leavingActs = new Set<OrganizationAct>(['member.suspended', 'member.removed', 'member.left'])

/** Called before a sign-in by a connection makes a member. */
export function holdEnding(ctx: AnyContext): void {
  joiningRequests.add(ctx)
}

/** A session of before, by another method, ends with the event that puts its user under a policy. */
export function addFollowers(kernel: Kernel): void {
  kernel.on(
    'organizationChanged',
    async ({ act, organizationId, userId, by, role, formerRole, id, ctx }) => {
      if (act === 'deleted') await forgetOrganization(ctx, organizationId)
      if (act === 'domain.proved' && id !== undefined) {
        const policy = await ctx.records('ssoPolicy').get(policyIdOf(organizationId))
        if (policy?.domains && policy.from <= ctx.now) await applyToDomain(ctx, policy, id)
      }
      if (joiningActs.has(act) && userId !== undefined && !joiningRequests.has(ctx)) await endForbidden(ctx, userId)
      const isDemoted = (act === 'member.role' && formerRole === 'owner' && role !== 'owner') || leavingActs.has(act)
      const formerOwner = isDemoted ? userId : act === 'transferred' ? by : undefined
      if (typeof formerOwner === 'string') await endBreakGlass(ctx, organizationId, formerOwner)
    },
    { of: 'organizations' },
  )
  kernel.on('credentialChanged', async ({ kind, action, user, ctx }) => {
    if (kind === 'address' && action === 'changed' && user?.id !== undefined) await endForbidden(ctx, user.id)
  })
  kernel.on('signedIn', async ({ login, ctx }) => {
    if (joiningRequests.has(ctx) && login.user.id !== undefined) await endForbidden(ctx, login.user.id)
  })
}

/** A user of the break-glass list who is no owner any more comes under the policy. A change of role ends nothing else. */
async function endBreakGlass(ctx: AnyContext, organizationId: string, userId: string): Promise<void> {
  const policy = await ctx.records('ssoPolicy').get(policyIdOf(organizationId))
  if (policy?.breakGlass.includes(userId)) await endForbidden(ctx, userId)
}

async function endForbidden(ctx: AnyContext, userId: string): Promise<void> {
  const email = (await ctx.store?.getUser(userId))?.email
  const demand = await findDemand(ctx, { userId, email })
  if (demand) await endOthers(ctx, demand, userId)
}

/** Its connections have secrets, and its log has addresses. The guard rejects sign-ins from the moment of the deletion, also where this fails. */
async function forgetOrganization(ctx: AnyContext, organizationId: string): Promise<void> {
  await ctx.records('ssoPolicy').delete(policyIdOf(organizationId))
  const { rows } = await ctx.records('ssoConnection').find({ where: { organizationId }, limit: 100 })
  for (const { id } of rows) {
    await ctx.records('ssoConnection').delete(id)
    for (const record of ['ssoSignIn', 'ssoTrial'] as const) await ctx.records(record).deleteWhere({ where: { connectionId: id } })
  }
}
