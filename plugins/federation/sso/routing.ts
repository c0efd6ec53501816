/** Where the users of a domain sign in: the answer to the hook `homeRealm`. */
import type { AnyContext, HomeRealmAnswer, Row } from 'authkernel/kernel'
import { domainOfAddress, findDomainOwner, speaksFor } from './organizations.ts'
import { providerIdOf } from './provider.ts'
import type { ConnectionRow } from './tables.ts'

/** By the domain alone, so that it tells nothing about users. Undefined: no connection, and other plugins are asked. */
export async function answerHomeRealm(ctx: AnyContext, identifier: string): Promise<readonly HomeRealmAnswer[] | undefined> {
  const rows = await findConnectionsOf(ctx, domainOfAddress(identifier))
  return rows.length > 0 ? rows.map((row) => ({ provider: providerIdOf(row) })) : undefined
}

/** The connections that are switched on for a domain. */
export async function findConnectionsOf(ctx: AnyContext, domain: string | undefined): Promise<readonly Row<ConnectionRow>[]> {
  const owner = domain === undefined ? undefined : await findDomainOwner(ctx, domain)
  if (!owner || domain === undefined) return []
  const rows = owner.connectionIds
    ? await ctx.records('ssoConnection').getMany(owner.connectionIds)
    : await listEnabled(ctx, owner.organizationId)
  return rows.filter((row) => row.enabled && speaksFor(row, domain, owner))
}

/** Connections of an organization that are switched on, oldest first. */
export async function listEnabled(ctx: AnyContext, organizationId: string): Promise<readonly Row<ConnectionRow>[]> {
  const { rows } = await ctx.records('ssoConnection').find({ where: { organizationId }, limit: 50 })
  return rows.filter(({ enabled }) => enabled)
}
