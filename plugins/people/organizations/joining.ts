/** Membership by a proved domain: users with a verified address in it join by themselves, or see a suggestion. */
import type { AnyContext, AtomicWrite, EventMessage, Kernel, Row } from 'authkernel/kernel'
import { toAddress } from 'authkernel/kernel'
import { type Actor, findMembershipRow, isRowId, type PluginInstance, requireMembership, rowsOf } from './actor.ts'
import { findDeparture } from './departures.ts'
import { isProofLive, requireDomain } from './domains.ts'
import { NoSuchOrganization, OrganizationBusy, OrganizationInput } from './errors.ts'
import { emitChange } from './events.ts'
import { domainOf } from './input.ts'
import { joinOrganization } from './members.ts'
import type { DomainRow } from './tables.ts'

/** How users with an address in a domain become members: `join` at their first sign-in, `suggest` when they say so, null by invitation alone. */
export type Joining = 'suggest' | 'join' | null
/** An organization that a user may join. */
export interface Suggestion {
  id: string
  name: string
  /** The domain of the user's address. */
  domain: string
}

/** Needs `domain:joining`, and that the organization has proved the domain. */
export async function setJoining(actor: Actor, id: string, typed: string, joining: Joining): Promise<void> {
  const membership = await requireMembership(actor, id, 'domain:joining')
  if (joining !== null && joining !== 'suggest' && joining !== 'join')
    throw new OrganizationInput('organizations.domains: `joining` must be "suggest", "join" or null.')
  const row = await requireDomain(membership, typed)
  if (!(await membership.rows.records('organizationDomain').update(row.id, { joining }, { if: { organizationId: id } })))
    throw new OrganizationInput('organizations.domains: the organization has not proved this domain.')
  await emitChange(actor, 'domain.joining', id, { id: row.domain })
}

/** What the user of the actor may join; at most one, because a domain is of one organization. */
export async function listSuggestions(actor: Actor): Promise<Suggestion[]> {
  const row = actor.user && (await findOpenDomain(actor.rows, actor.user))
  if (!row || !(await isOpenTo(actor.rows, row, actor.user?.id ?? '', 'removed'))) return []
  const organization = await actor.rows.records('organization').get(row.organizationId)
  return organization && !organization.closing ? [{ id: organization.id, name: organization.name, domain: row.domain }] : []
}

/** The user joins as `member`. Throws NoSuchOrganization unless it was suggested, OrganizationFull. */
export async function joinByDomain(actor: Actor, id: string): Promise<{ organization: string; role: string }> {
  for (let tries = 0; tries < 16; tries++) {
    const row = actor.user && isRowId(id) ? await findOpenDomain(actor.rows, actor.user) : null
    if (!actor.user || row?.organizationId !== id || !(await isOpenTo(actor.rows, row, actor.user.id, 'removed')))
      throw new NoSuchOrganization('organizations.join: no organization of this id is open to the verified address of the user.')
    if (await joinWithDomain(actor, row, actor.user.id)) return { organization: id, role: 'member' }
  }
  throw new OrganizationBusy('organizations.join: others changed the organization at the same moment. Try again.')
}

/** With `join` the sign-in of a user who was never a member makes them one. */
export function joinAtSignIn(kernel: Kernel, plugin: PluginInstance): void {
  kernel.on('signIn', async ({ user, ctx }: EventMessage<'signIn'>) => {
    if (user.id === undefined) return
    const stored = await ctx.store?.getUser(user.id)
    const rows = await rowsOf(plugin, ctx)
    const row = stored && (await findOpenDomain(rows, stored))
    if (!row || row.joining !== 'join' || !(await isOpenTo(rows, row, user.id, 'left'))) return
    const actor: Actor = { ...plugin, ctx, rows, user: stored }
    for (let tries = 0; tries < 4; tries++) if (await joinWithDomain(actor, row, user.id)) return
  })
}

/** The domain of a verified address, where its organization lets users join and its proof counts. */
async function findOpenDomain(
  rows: AnyContext,
  { email, emailVerified }: { email?: string | null | undefined; emailVerified?: unknown },
): Promise<Row<DomainRow> | null> {
  const domain = emailVerified ? domainOf(toAddress(email)?.split('@')[1]) : undefined
  const row = domain === undefined ? null : await rows.records('organizationDomain').get({ domain })
  return row && row.joining !== null && isProofLive(rows, row) ? row : null
}

/** `unless`: users who left in this way are not let in; who left of their own will may still say so themselves. */
async function isOpenTo(rows: AnyContext, { organizationId }: DomainRow, userId: string, unless: 'left' | 'removed'): Promise<boolean> {
  if (await findMembershipRow(rows, organizationId, userId)) return false
  const departure = await findDeparture(rows, organizationId, userId)
  return departure === null || (unless === 'removed' && departure === 'left')
}

/** False: the organization, or the proof, changed at the same moment. */
async function joinWithDomain(actor: Actor, row: Row<DomainRow>, userId: string): Promise<boolean> {
  const organization = await actor.rows.records('organization').get(row.organizationId)
  if (!organization || organization.closing) throw new NoSuchOrganization('organizations.join: the organization is gone.')
  const { joining, value } = row
  const proof: AtomicWrite = { record: 'organizationDomain', update: row.id, change: { joining }, if: { joining, value } }
  if (!(await joinOrganization({ ...actor, organization }, userId, 'member', { after: [proof] }))) return false
  await emitChange(actor, 'member.joined', organization.id, { userId, role: 'member', id: row.domain })
  return true
}
