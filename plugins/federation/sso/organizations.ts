/** Which organization owns a domain, and which addresses a connection may speak for. */
import { type AnyContext, type Row, toAddress } from 'authkernel/kernel'
import type { OrganizationsService } from 'authkernel/plugins/organizations'
import type { ConnectionRow } from './tables.ts'

/** The service of organizations; undefined without `organizationsPlugin`: then there are connections of the host alone. */
export function organizationsOf(ctx: AnyContext): OrganizationsService | undefined {
  return ctx.app.services.organizations
}

/** Who has a domain. `connectionIds`: connections of the host that it was given to; undefined for a domain that an organization has proved. */
export interface DomainOwner {
  /** '' : the host. */
  organizationId: string
  connectionIds?: readonly string[]
}

/** Undefined: the domain is of none. What an organization has proved goes before what the host gave to a connection. */
export async function findDomainOwner(ctx: AnyContext, domain: string): Promise<DomainOwner | undefined> {
  const organizationId = await organizationsOf(ctx)?.ownsDomain(ctx, domain)
  if (organizationId !== undefined) return { organizationId }
  const { rows } = await ctx.records('ssoDomain').find({ where: { domain }, limit: 50 })
  return rows.length > 0 ? { organizationId: '', connectionIds: rows.map(({ connectionId }) => connectionId) } : undefined
}

/** Domains in which the connection may say who has an address. */
export async function listConnectionDomains(ctx: AnyContext, row: Row<ConnectionRow>): Promise<readonly string[]> {
  if (row.organizationId === '') {
    const given = await ctx.records('ssoDomain').find({ where: { connectionId: row.id }, limit: 1000 })
    return given.rows.map(({ domain }) => domain)
  }
  const proved = (await organizationsOf(ctx)?.listDomains(ctx, row.organizationId)) ?? []
  return row.domains === null ? proved : proved.filter((domain) => row.domains?.includes(domain))
}

/** Domains that at least one of the connections serves. */
export async function listServedDomains(ctx: AnyContext, rows: readonly Row<ConnectionRow>[]): Promise<ReadonlySet<string>> {
  return new Set((await Promise.all(rows.map((row) => listConnectionDomains(ctx, row)))).flat())
}

/** `own`: in a domain of the connection. `foreign`: in a domain that another organization or another connection has. `free`: in a domain of none. */
export async function placeAddress(
  ctx: AnyContext,
  row: Row<ConnectionRow>,
  address: unknown,
): Promise<'own' | 'foreign' | 'free' | 'none'> {
  const domain = domainOfAddress(address)
  if (domain === undefined) return 'none'
  const owner = await findDomainOwner(ctx, domain)
  if (!owner) return 'free'
  return speaksFor(row, domain, owner) ? 'own' : 'foreign'
}

/** Whether the owner of the domain leaves it to this connection. */
export function speaksFor(row: Row<ConnectionRow>, domain: string, { organizationId, connectionIds }: DomainOwner): boolean {
  if (row.organizationId !== organizationId) return false
  return connectionIds ? connectionIds.includes(row.id) : row.domains === null || row.domains.includes(domain)
}

/** In the canonical form of `toAddress`; undefined for what is no address. */
export function domainOfAddress(address: unknown): string | undefined {
  const canonical = toAddress(address)
  return canonical?.slice(canonical.lastIndexOf('@') + 1)
}
