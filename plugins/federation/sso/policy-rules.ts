/** What a policy says about one user. */
import { type AnyContext, type Row, toAddress } from 'authkernel/kernel'
import { organizationsOf } from './organizations.ts'
import { findConnection } from './provider.ts'
import type { PolicyRow } from './tables.ts'

/** A user, by what is known: the address before the user is. */
export interface Subject {
  userId?: string | undefined
  email?: string | null | undefined
}
/** A policy that holds for a user. */
export interface Demand {
  /** A connection of one of these is needed; '' is the host. */
  organizationIds: readonly string[]
  /** The domain of the address, where that demands it. */
  domain: string | undefined
  /** API keys of before stay. */
  keepsKeys: boolean
}

/** Id of the row: organization ids have no asterisk. */
export function policyIdOf(organizationId: string): string {
  return organizationId === '' ? '*' : organizationId
}

/** Whether a sign-in with a provider is what a policy demands. */
export async function isSatisfied(ctx: AnyContext, { organizationIds }: Demand, providerId: string | undefined): Promise<boolean> {
  const row = providerId === undefined ? null : await findConnection(ctx, providerId)
  return row !== null && row.enabled && organizationIds.includes(row.organizationId)
}

/** `breakGlass`: an owner who may fix the connection. A user of that list who is no owner any more is under the policy. */
export async function findExemption(
  ctx: AnyContext,
  policy: Row<PolicyRow>,
  { userId, email }: Subject,
): Promise<'breakGlass' | 'exception' | undefined> {
  const { breakGlass, exceptions } = policy
  if (userId !== undefined && breakGlass.includes(userId) && (await isOwner(ctx, policy.id, userId))) return 'breakGlass'
  const address = toAddress(email)
  const isNamed = (userId !== undefined && exceptions.includes(userId)) || (address !== undefined && exceptions.includes(address))
  return isNamed ? 'exception' : undefined
}

/** Whether the user is an owner of the organization, and the membership is in force. */
export async function isOwner(ctx: AnyContext, organizationId: string, userId: string): Promise<boolean> {
  const member = await organizationsOf(ctx)?.findMember(ctx, { organizationId, userId })
  return member?.role === 'owner' && !member.suspended
}
