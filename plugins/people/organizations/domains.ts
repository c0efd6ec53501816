/** Domains of organizations: claimed, proved by a TXT record, checked again every day. */
import { type AnyContext, HttpError, randomHex, type Row } from 'authkernel/kernel'
import { type Actor, type Membership, type PluginInstance, requireMembership } from './actor.ts'
import { isPublicDomain, findRecord, recordName, recordText } from './dns.ts'
import { DomainTaken, DomainUnproved, OrganizationBusy, OrganizationFull, OrganizationInput } from './errors.ts'
import { emitChange } from './events.ts'
import { domainOf } from './input.ts'
import { limitPerHour } from './organizations.ts'
import { findProviderOwner } from './provider-owner.ts'
import type { DomainRow } from './tables.ts'

/** A TXT record that proves a domain. */
export interface DomainClaim {
  domain: string
  /** Where the record must stand: `_authkernel.<domain>`. */
  record: string
  /** What it must say. */
  text: string
  /** Until then it can be proved. */
  expires: Date
}
/** A proved domain. */
export interface Domain {
  domain: string
  /** Id of the provider that its users are sent to; null: none. */
  provider: string | null
  verified: Date
  /** When the record was last seen. After three days without it the domain counts no more. */
  checked: Date
  /** How users with an address in it become members; null: by invitation alone. */
  joining: 'suggest' | 'join' | null
}

const day = 86_400_000

/** What to put into the DNS. A second claim of a domain gives a new value. */
export async function claimDomain(actor: Actor, id: string, typed: string): Promise<DomainClaim> {
  const { rows, ctx, options } = await requireMembership(actor, id, 'domain:claim')
  const domain = domainOf(typed)
  if (domain === undefined) throw new OrganizationInput('organizations.domains.claim: this is no domain.')
  if (await isPublicDomain(options.domains, domain))
    throw new OrganizationInput('organizations.domains.claim: the public may register names below this domain.')
  const former = await rows.records('organizationClaim').get({ organizationId: id, domain })
  const [claimed, proved] = await Promise.all([
    rows.records('organizationClaim').count({ organizationId: id }, { max: options.limits.domains }),
    rows.records('organizationDomain').count({ organizationId: id }, { max: options.limits.domains }),
  ])
  if (!former && claimed + proved >= options.limits.domains)
    throw new OrganizationFull(`organizations.domains.claim: there are ${options.limits.domains} domains.`)
  const row = {
    organizationId: id,
    domain,
    value: randomHex(ctx.runtime, 16),
    created: ctx.now,
    expires: new Date(ctx.now.getTime() + 30 * day),
  }
  const table = rows.records('organizationClaim')
  await (former ? table.put({ ...row, id: former.id }) : table.create(row))
  await emitChange(actor, 'domain.claimed', id, { id: domain })
  return { domain, record: recordName(domain), text: recordText(row.value), expires: row.expires }
}

/** Looks for the record now. Throws DomainUnproved, and DomainTaken while the record of another organization is there. */
export async function proveDomain(actor: Actor, id: string, typed: string): Promise<Domain> {
  const { rows, ctx, options, organization } = await requireMembership(actor, id, 'domain:claim')
  const domain = domainOf(typed) ?? ''
  const claimed = domain === '' ? null : await rows.records('organizationClaim').get({ organizationId: id, domain })
  if (!claimed) throw new OrganizationInput('organizations.domains.prove: claim the domain first.')
  await limitPerHour(actor, `domain ${id}`, 60)
  const former = await rows.records('organizationDomain').get({ domain })
  // What the DNS says now counts, not who came first.
  if (former && former.organizationId !== id && (await findRecord(options.domains, domain, former.value)) !== 'gone')
    throw new DomainTaken('organizations.domains.prove: another organization has proved the domain.')
  const found = await findRecord(options.domains, domain, claimed.value)
  if (found === 'unknown') throw new HttpError(503, 'The DNS did not answer. Try again later.', { 'Retry-After': '60' })
  if (found === 'gone')
    throw new DomainUnproved(`organizations.domains.prove: ${recordName(domain)} has no TXT record ${recordText(claimed.value)}.`)
  const { version } = organization
  const { provider = null, joining = null } = former?.organizationId === id ? former : {}
  const row = { organizationId: id, domain, value: claimed.value, provider, joining, verified: ctx.now, checked: ctx.now }
  const written = await rows.atomic([
    { record: 'organization', update: id, change: { closing: false }, if: { version, closing: false } },
    { record: 'organizationClaim', take: claimed.id, if: { value: claimed.value } },
    ...(former ? [{ record: 'organizationDomain' as const, take: former.id, if: { value: former.value } }] : []),
    { record: 'organizationDomain', create: row },
  ])
  if (!written) throw new OrganizationBusy('organizations.domains.prove: something changed at the same moment. Try again.')
  if (former && former.organizationId !== id)
    await emitChange({ ...actor, user: null }, 'domain.lapsed', former.organizationId, { id: domain })
  await emitChange(actor, 'domain.proved', id, { id: domain })
  return toDomain(row)
}

export async function listDomains(actor: Actor, id: string): Promise<Domain[]> {
  const { rows } = await requireMembership(actor, id, 'domain:claim')
  return (await rows.records('organizationDomain').find({ where: { organizationId: id }, limit: 1000 })).rows.map(toDomain)
}

/** Domains that are claimed and not proved yet, with what to put into the DNS. */
export async function listClaims(actor: Actor, id: string): Promise<DomainClaim[]> {
  const { rows } = await requireMembership(actor, id, 'domain:claim')
  const found = await rows.records('organizationClaim').find({ where: { organizationId: id }, limit: 1000 })
  return found.rows.map(({ domain, value, expires }) => ({ domain, record: recordName(domain), text: recordText(value), expires }))
}

/** Null: none. A provider that another organization brought is rejected. */
export async function setDomainProvider(actor: Actor, id: string, typed: string, provider: string | null): Promise<void> {
  const { rows, ctx, options, organization } = await requireMembership(actor, id, 'domain:provider')
  if (provider !== null) {
    if (typeof provider !== 'string' || provider.length > 100)
      throw new OrganizationInput('organizations.domains: there is no such provider.')
    await ctx.providerById(provider)
    const owner = await findProviderOwner(options, ctx, provider)
    if (owner !== undefined && owner !== id) throw new OrganizationInput('organizations.domains: there is no such provider.')
  }
  const row = await requireDomain({ rows, organization }, typed)
  if (!(await rows.records('organizationDomain').update(row.id, { provider }, { if: { organizationId: id } })))
    throw new OrganizationInput('organizations.domains: the organization has not proved this domain.')
  await emitChange(actor, 'domain.provider', id, { id: row.domain })
}

/** False: there was neither a claim nor a proof. */
export async function removeDomain(actor: Actor, id: string, typed: string): Promise<boolean> {
  const { rows } = await requireMembership(actor, id, 'domain:remove')
  const domain = domainOf(typed)
  if (domain === undefined) return false
  const claimed = await rows.records('organizationClaim').take({ organizationId: id, domain })
  const row = await findOwnDomain(actor, id, domain)
  const proved = row && (await rows.records('organizationDomain').take(row.id, { if: { organizationId: id } }))
  if (!claimed && !proved) return false
  await emitChange(actor, 'domain.removed', id, { id: domain })
  return true
}

/** Id of the organization whose proof of a domain, or of the domain of an address, counts now; undefined: there is none. */
export async function findDomainOwner(rows: AnyContext, typed: string): Promise<string | undefined> {
  const domain = domainOf(typed.slice(typed.lastIndexOf('@') + 1))
  const row = domain === undefined ? null : await rows.records('organizationDomain').get({ domain })
  return row && isProofLive(rows, row) ? row.organizationId : undefined
}

/** Whether a proof counts: its record was seen within the last three days. */
export function isProofLive({ now }: AnyContext, { checked }: DomainRow): boolean {
  return now.getTime() - checked.getTime() < 3 * day
}
/** Whether it is time to look again. */
export function isDue({ now }: AnyContext, { checked }: DomainRow): boolean {
  return now.getTime() - checked.getTime() >= day
}

/** Looks again. A record that is gone ends the proof; servers that do not answer change nothing. False: it was gone. */
export async function recheckDomain(plugin: PluginInstance, ctx: AnyContext, rows: AnyContext, row: Row<DomainRow>): Promise<boolean> {
  const found = await findRecord(plugin.options.domains, row.domain, row.value)
  const table = rows.records('organizationDomain')
  if (found === 'there') await table.update(row.id, { checked: rows.now }, { if: { value: row.value } })
  if (found !== 'gone') return true
  if (await table.take(row.id, { if: { value: row.value } }))
    await emitChange({ ...plugin, ctx, rows, user: null }, 'domain.lapsed', row.organizationId, { id: row.domain })
  return false
}

/** Looks again at what was not seen for a day; answers how many have lapsed. */
export async function recheckDueDomains(plugin: PluginInstance, ctx: AnyContext, rows: AnyContext, max: number): Promise<number> {
  const { rows: due } = await rows.records('organizationDomain').find({
    range: { checked: { lte: new Date(ctx.now.getTime() - day) } },
    limit: max,
  })
  let lapsed = 0
  for (const row of due) if (!(await recheckDomain(plugin, ctx, rows, row))) lapsed++
  return lapsed
}

/** Throws OrganizationInput for a domain that the organization has not proved. */
export async function requireDomain(
  { rows, organization }: Pick<Membership, 'rows' | 'organization'>,
  typed: string,
): Promise<Row<DomainRow>> {
  const row = await findOwnDomain({ rows }, organization.id, typed)
  if (!row) throw new OrganizationInput('organizations.domains: the organization has not proved this domain.')
  return row
}

async function findOwnDomain({ rows }: Pick<Actor, 'rows'>, organizationId: string, typed: string): Promise<Row<DomainRow> | null> {
  const domain = domainOf(typed)
  const row = domain === undefined ? null : await rows.records('organizationDomain').get({ domain })
  return row?.organizationId === organizationId ? row : null
}
function toDomain({ domain, provider, verified, checked, joining }: DomainRow): Domain {
  return { domain, provider, verified, checked, joining }
}
