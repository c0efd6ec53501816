/** Invitations: mailed, bound to an address, used once, and void when the inviter may not invite any more. */
import { type AnyContext, type AtomicWrite, AuthError, type Context, randomHex, type Row, toAddress } from 'authkernel/kernel'
import { mailWithinLimit } from 'authkernel/kernel/mail'
import {
  type Actor,
  type PluginInstance,
  isId,
  isRowId,
  findMember,
  findMembershipRow,
  type Membership,
  requireMembership,
  rolesOf,
  rowsOf,
} from './actor.ts'
import { AlreadyMember, InvitationInvalid, InvitationOther, OrganizationBusy, OrganizationFull, OrganizationInput } from './errors.ts'
import { emitChange } from './events.ts'
import { domainOf, isSameMailbox } from './input.ts'
import { joinOrganization, assertCovers, readRole } from './members.ts'
import { limitPerHour } from './organizations.ts'
import { coversRole, grantsPermission, heldRoles } from './roles.ts'
import type { InvitationRow, OrganizationRow } from './tables.ts'

/** An open invitation. */
export interface Invitation {
  id: string
  email: string
  role: string
  team: string | null
  created: Date
  expires: Date
}
/** A new invitation. */
export interface NewInvitation {
  email: string
  /** Default `member`. */
  role?: string | undefined
  /** Id of a team that the user joins too. */
  team?: string | undefined
  /** Language of the mail; default: that of the request. */
  lang?: string | undefined
}

/** A second invitation of an address takes the place of the first. */
export async function createInvitation(
  actor: Actor,
  id: string,
  { email, role = 'member', team, lang }: NewInvitation,
): Promise<Invitation> {
  const membership = await requireMembership(actor, id, 'invitation:create')
  const { rows, ctx, options, organization } = membership
  const base = linkBaseOf(membership)
  const wanted = readRole(membership, role)
  assertCovers(membership, wanted)
  const address = toAddress(email)
  if (address === undefined || domainOf(address.split('@')[1]) === undefined)
    throw new OrganizationInput('organizations.invite: the address cannot be used.')
  if (team !== undefined) await requireTeam(membership, team)
  const known = await ctx.store?.getUserByEmail(address)
  if (known && (await findMembershipRow(rows, id, known.id))) throw new AlreadyMember('organizations.invite: the user is a member already.')
  const table = rows.records('organizationInvitation')
  const former = await table.get({ organizationId: id, email: address })
  const { invitations: most } = options.limits
  if (!former && (await table.count({ organizationId: id }, { max: most })) >= most)
    throw new OrganizationFull(`organizations.invite: there are ${most} open invitations.`)
  await limitPerHour(actor, `mail ${address}`, 5)
  const token = randomHex(ctx.runtime, 32)
  const row = {
    organizationId: id,
    email: address,
    role: wanted,
    teamId: team ?? null,
    token: await rows.digest('organization invitation', token),
    inviterId: actor.user?.id ?? null,
    created: ctx.now,
    expires: new Date(ctx.now.getTime() + options.invitationAge * 1000),
  }
  // Under the version with which the right to invite was read.
  const { version } = organization
  const written = await rows.atomic([
    { record: 'organization', update: id, change: { closing: false }, if: { version, closing: false } },
    former
      ? { record: 'organizationInvitation', update: former.id, change: row, if: { token: former.token } }
      : { record: 'organizationInvitation', create: row },
  ])
  if (!written) throw new OrganizationBusy('organizations.invite: others changed the organization at the same moment. Try again.')
  const invitation = written[1] as Row<InvitationRow>
  mailInvitation(membership, address, `${base}/organizations/invitation?token=${token}`, lang)
  await emitChange(actor, 'invitation.created', id, { id: invitation.id, role: wanted })
  return toInvitation(invitation)
}

/** The newest first. */
export async function listInvitations(actor: Actor, id: string): Promise<Invitation[]> {
  const { rows } = await requireMembership(actor, id, 'invitation:create')
  const found = await rows.records('organizationInvitation').find({ where: { organizationId: id }, order: 'desc', limit: 1000 })
  return found.rows.map(toInvitation)
}

/** False: there is no such invitation. */
export async function cancelInvitation(actor: Actor, id: string, invitationId: string): Promise<boolean> {
  const { rows } = await requireMembership(actor, id, 'invitation:cancel')
  if (!isRowId(invitationId)) return false
  if (!(await rows.records('organizationInvitation').take(invitationId, { if: { organizationId: id } }))) return false
  await emitChange(actor, 'invitation.cancelled', id, { id: invitationId })
  return true
}

/** The invitation of a token, with its organization; null: used, cancelled, too old, or void. */
export async function findInvitation(
  { options, ctx, rows }: Pick<Actor, 'options' | 'ctx' | 'rows'>,
  token: unknown,
): Promise<{ row: Row<InvitationRow>; organization: Row<OrganizationRow> } | null> {
  if (typeof token !== 'string' || !/^[0-9a-f]{64}$/.test(token)) return null
  for (const stored of await rows.digests('organization invitation', token)) {
    const row = await rows.records('organizationInvitation').get({ token: stored })
    if (!row) continue
    const organization = await findStanding(options, ctx, rows, row)
    return organization && { row, organization }
  }
  return null
}

/** The organization of an invitation. Null: it is gone, or the inviter may not invite any more. */
async function findStanding(
  options: PluginInstance['options'],
  ctx: AnyContext,
  rows: AnyContext,
  row: Row<InvitationRow>,
): Promise<Row<OrganizationRow> | null> {
  // The organization first: a role that changes afterwards raises its version.
  const organization = await rows.records('organization').get(row.organizationId)
  if (!organization || organization.closing) return null
  if (row.inviterId === null) return organization
  const inviter = await findMember(rows, row.organizationId, row.inviterId)
  const [held, roles] = [inviter ? heldRoles(inviter) : [], await rolesOf(rows, options, row.organizationId)]
  const may = grantsPermission(roles, held, 'invitation:create') && coversRole(roles, held, row.role)
  return may && (await isInviterAllowed(ctx, row, row.inviterId)) ? organization : null
}

/** Answers the hook `admission`: true for an address with an open invitation, no opinion for others. */
export async function isInvited(plugin: PluginInstance, { email, ctx }: { email: string; ctx: AnyContext }): Promise<true | undefined> {
  const rows = await rowsOf(plugin, ctx)
  const found = await rows.records('organizationInvitation').find({ where: { email }, order: 'desc', limit: 20 })
  for (const row of found.rows) if (await findStanding(plugin.options, ctx, rows, row)) return true
  return undefined
}

async function isInviterAllowed(ctx: AnyContext, { organizationId, email, role }: InvitationRow, inviterId: string): Promise<boolean> {
  return !ctx.has('hook', 'invitation') || (await ctx.ask('invitation', { organizationId, inviterId, email, role })) === true
}

/** The user joins. Throws InvitationInvalid, and InvitationOther unless the address of the invitation is theirs and proved. */
export async function acceptInvitation(actor: Actor, token: string): Promise<{ organization: string; role: string }> {
  const { rows, user, ctx } = actor
  for (let tries = 0; tries < 16; tries++) {
    const found = await findInvitation(actor, token)
    if (!found || !user) throw new InvitationInvalid('organizations.accept: the invitation is used, cancelled, too old or void.')
    const { row, organization } = found
    if (!user.emailVerified || !isSameMailbox(user.email, row.email))
      throw new InvitationOther('organizations.accept: the invitation is for an address that the user has not proved.')
    const more: AtomicWrite[] = [{ record: 'organizationInvitation', take: row.id, if: { token: row.token } }]
    const team = row.teamId === null ? null : await rows.records('organizationTeam').get(row.teamId)
    if (team?.organizationId === organization.id) {
      const member = { teamId: team.id, organizationId: organization.id, userId: user.id, role: null, joined: ctx.now }
      more.push({ record: 'organizationTeamMember', create: member })
    }
    if (await joinOrganization({ ...actor, organization }, user.id, row.role, { after: more })) {
      await emitChange(actor, 'invitation.accepted', organization.id, { userId: user.id, role: row.role, id: row.id })
      return { organization: organization.id, role: row.role }
    }
  }
  throw new OrganizationBusy('organizations.accept: others changed the organization at the same moment. Try again.')
}

/** The token is enough to decline. False: there is no such invitation. */
export async function declineInvitation(plugin: PluginInstance, ctx: Context, rows: AnyContext, token: unknown): Promise<boolean> {
  const found = await findInvitation({ ...plugin, ctx, rows }, token)
  if (!found || !(await rows.records('organizationInvitation').take(found.row.id, { if: { token: found.row.token } }))) return false
  await emitChange({ ...plugin, ctx, rows, user: null }, 'invitation.declined', found.organization.id, { id: found.row.id })
  return true
}

export async function requireTeam({ rows, organization }: Membership, team: unknown): Promise<string> {
  const row = isRowId(team) ? await rows.records('organizationTeam').get(team) : null
  if (row?.organizationId !== organization.id) throw new OrganizationInput('organizations: the organization has no such team.')
  return row.id
}

// The answer does not wait for it.
function mailInvitation({ ctx, user, organization, options }: Membership, to: string, url: string, lang: string | undefined): void {
  const { name } = user ?? {}
  const data = { url, organization: organization.name, ...(isId(name) && { inviter: name }), left: { seconds: options.invitationAge } }
  // A mailbox is spared, whatever is in the mails and whichever organization sends them.
  mailWithinLimit(ctx, to, () => ctx.service('mail').send(ctx, to, 'organizations.invitation', data, { lang })).catch((error: unknown) =>
    ctx.logger.error(error as Error),
  )
}

function linkBaseOf({ ctx }: Membership): string {
  if (ctx.request) return ctx.base
  const { origin, basePath } = ctx.settings
  if (!origin) throw new AuthError('organizations.invite: without a request the origin must be set: `origin` of the options, or AUTH_URL.')
  return origin + (basePath === '/' ? '' : basePath)
}

function toInvitation({ id, email, role, teamId, created, expires }: Row<InvitationRow>): Invitation {
  return { id, email, role, team: teamId, created, expires }
}
