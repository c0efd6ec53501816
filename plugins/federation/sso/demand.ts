/** Which connections a user must sign in with. */
import type { AnyContext, Row } from 'authkernel/kernel'
import { applyInBackground } from './apply.ts'
import { domainOfAddress, findDomainOwner, organizationsOf } from './organizations.ts'
import { type Demand, findExemption, policyIdOf, type Subject } from './policy-rules.ts'
import type { PolicyRow } from './tables.ts'

/**
 * Null: every sign-in method is open. The domain of the address goes before memberships: a user of several organizations signs in where the address is from.
 * `onBreakGlass` is called where an owner is exempt.
 */
export async function findDemand(
  ctx: AnyContext,
  { userId, email }: Subject,
  onBreakGlass?: (organizationId: string) => unknown,
): Promise<Demand | null> {
  const domain = domainOfAddress(email)
  const owner = domain === undefined ? undefined : await findDomainOwner(ctx, domain)
  if (owner) {
    const policy = await findPolicy(ctx, owner.organizationId)
    if (policy?.domains) {
      const exempt = await findExemption(ctx, policy, { userId, email })
      if (!exempt) return { organizationIds: [owner.organizationId], domain, keepsKeys: policy.keepsKeys }
      if (exempt === 'breakGlass') await onBreakGlass?.(owner.organizationId)
    }
  }
  const all = userId === undefined ? [] : ((await organizationsOf(ctx)?.listOf(ctx, userId)) ?? [])
  // A suspended membership gives nothing, and demands nothing.
  const memberships = all.filter(({ suspended }) => !suspended)
  if (memberships.length === 0) return null
  const policies = await ctx.records('ssoPolicy').getMany(memberships.slice(0, 500).map(({ organizationId }) => organizationId))
  const demanding: Row<PolicyRow>[] = []
  for (const policy of policies) {
    if (!policy.members || !isInForce(ctx, policy)) continue
    const exempt = await findExemption(ctx, policy, { userId, email })
    if (!exempt) demanding.push(policy)
    else if (exempt === 'breakGlass') await onBreakGlass?.(policy.id)
  }
  if (demanding.length === 0) return null
  const keepsKeys = demanding.every((policy) => policy.keepsKeys)
  return { organizationIds: demanding.map(({ id }) => id), domain: undefined, keepsKeys }
}

async function findPolicy(ctx: AnyContext, organizationId: string): Promise<Row<PolicyRow> | null> {
  const policy = await ctx.records('ssoPolicy').get(policyIdOf(organizationId))
  return policy && isInForce(ctx, policy) ? policy : null
}

/** The grace is over. What it forbids is ended by the first request that sees it, where no clean-up was faster. */
function isInForce(ctx: AnyContext, policy: Row<PolicyRow>): boolean {
  if (policy.from > ctx.now) return false
  if (!policy.applied) applyInBackground(ctx, policy)
  return true
}
