/** Ends what a policy forbids: sessions and pending sign-ins of users who did not sign in with a connection of the organization. */
import { type AdapterUser, type AnyContext, AuthError, type Row } from 'authkernel/kernel'
import { strategyWith } from 'authkernel/kernel/strategies'
import type {} from 'authkernel/plugins/organizations'
import { domainOfAddress, listConnectionDomains } from './organizations.ts'
import { type Demand, findExemption, isSatisfied } from './policy-rules.ts'
import type { PolicyRow } from './tables.ts'

const pageSize = 200

/** Answers how many users it ended access of. Idempotent: after a fault the next call finishes it. Throws MissingSessionAbility. */
export async function applyPolicy(ctx: AnyContext, policy: Row<PolicyRow>): Promise<number> {
  strategyWith(ctx, 'revoke:user', 'sso')
  const organizationId = policy.id === '*' ? '' : policy.id
  const demand: Demand = { organizationIds: [organizationId], domain: undefined, keepsKeys: policy.keepsKeys }
  const done = new Set<string>()
  for await (const user of listSubjects(ctx, policy, organizationId)) {
    if (done.has(user.id) || (await findExemption(ctx, policy, { userId: user.id, email: user.email }))) continue
    done.add(user.id)
    await endOthers(ctx, demand, user.id, policy.from)
  }
  await ctx.records('ssoPolicy').update(policy.id, { applied: true }, { if: { from: policy.from } })
  return done.size
}

/**
 * The users of a domain that was proved now come under the policy: all their keys end, also those made since the policy began. Until it is done the policy counts as
 * not applied, so that a clean-up goes on where this fails.
 */
export async function applyToDomain(ctx: AnyContext, policy: Row<PolicyRow>, domain: string): Promise<void> {
  const table = ctx.records('ssoPolicy')
  await table.update(policy.id, { applied: false }, { if: { from: policy.from } })
  const demand: Demand = { organizationIds: [policy.id === '*' ? '' : policy.id], domain, keepsKeys: policy.keepsKeys }
  for await (const { id, email } of listUsersOf(ctx, domain))
    if (!(await findExemption(ctx, policy, { userId: id, email }))) await endOthers(ctx, demand, id)
  await table.update(policy.id, { applied: true }, { if: { from: policy.from } })
}

/** Applies policies whose grace is over; answers how many. For `auth.sso.policies.applyDue` and a clean-up. */
export async function applyDuePolicies(ctx: AnyContext): Promise<number> {
  const { rows } = await ctx.records('ssoPolicy').find({ where: { applied: false }, range: { from: { lte: ctx.now } }, limit: 100 })
  for (const policy of rows) await applyPolicy(ctx, policy)
  return rows.length
}

/** One process at a time; a failure is logged, and the next request tries again. */
export function applyInBackground(ctx: AnyContext, policy: Row<PolicyRow>): void {
  const work = async (): Promise<void> => {
    if (await ctx.lease(`sso apply ${policy.id}`, 60)) await applyPolicy(ctx, policy)
  }
  void work().catch((error: unknown) => ctx.logger.error(error instanceof Error ? error : new AuthError(String(error))))
}

/**
 * The newest session of a connection stays. What began before and waits is ended in every case. API keys end too, unless the policy keeps them: those made since
 * `from` were made by a session that the policy permitted. Without `from` all end: the user comes under the policy now.
 */
export async function endOthers(ctx: AnyContext, demand: Demand, userId: string, from?: Date): Promise<void> {
  const sessions = (await ctx.session.list?.(ctx, userId)) ?? []
  let except: string | undefined
  for (const { id, attributes } of sessions) if (except === undefined && (await isSatisfied(ctx, demand, attributes?.provider))) except = id
  await ctx.access.end(
    { userId, ...(except !== undefined && { except }) },
    {
      by: 'sso',
      reason: demand.keepsKeys ? 'ssoRequired' : 'policy',
      ...(from && { before: from }),
    },
  )
}

async function* listSubjects(
  ctx: AnyContext,
  policy: Row<PolicyRow>,
  organizationId: string,
): AsyncGenerator<Pick<AdapterUser, 'id'> & { email: string | null }> {
  if (policy.members && organizationId !== '') {
    for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
      const page = await ctx.service('organizations').listMembers(ctx, { organizationId, limit: pageSize, cursor })
      const users = (await ctx.store?.getUsers(page.members.map(({ userId }) => userId))) ?? []
      const emails = new Map(users.map(({ id, email }) => [id, email]))
      for (const { userId } of page.members) yield { id: userId, email: emails.get(userId) ?? null }
      cursor = page.cursor
    }
  }
  if (policy.domains) for (const domain of await listOwnDomains(ctx, organizationId)) yield* listUsersOf(ctx, domain)
}

async function listOwnDomains(ctx: AnyContext, organizationId: string): Promise<readonly string[]> {
  const { rows } = await ctx.records('ssoConnection').find({ where: { organizationId }, limit: 100 })
  const lists = await Promise.all(rows.map((row) => listConnectionDomains(ctx, { ...row, domains: null })))
  return [...new Set(lists.flat())]
}

async function* listUsersOf(ctx: AnyContext, domain: string): AsyncGenerator<AdapterUser> {
  const { store } = ctx
  if (!store?.supports('searchUsers')) return
  for (let offset = 0, found = pageSize; found === pageSize; offset += pageSize) {
    const { users } = await store.searchUsers({ text: `@${domain}`, limit: pageSize, offset })
    found = users.length
    for (const user of users) if (domainOfAddress(user.email) === domain) yield user
  }
}
