/** Teams: groups of members, in which a member may have a role beside that in the organization. */
import { type Row } from 'authkernel/kernel'
import { type Actor, findMember, requireMembership } from './actor.ts'
import { AlreadyMember, NoSuchOrganization, OrganizationBusy, OrganizationFull, OrganizationTaken } from './errors.ts'
import { emitChange } from './events.ts'
import { requireTeam } from './invitations.ts'
import { assertCovers, readRole } from './members.ts'
import { readName } from './organizations.ts'
import type { TeamRow } from './tables.ts'

/** A team of an organization. */
export interface Team {
  id: string
  name: string
  created: Date
}
/** A member of a team. */
export interface TeamMember {
  userId: string
  /** Beside the role in the organization; null: none. */
  role: string | null
  joined: Date
}

export async function listTeams(actor: Actor, id: string): Promise<Team[]> {
  const { rows } = await requireMembership(actor, id, 'member:read')
  const found = await rows.records('organizationTeam').find({ where: { organizationId: id }, limit: 1000 })
  return found.rows.map(toTeam)
}

export async function createTeam(actor: Actor, id: string, { name }: { name: string }): Promise<Team> {
  const { rows, ctx, options, organization } = await requireMembership(actor, id, 'team:create')
  const wanted = readName(name)
  if ((await rows.records('organizationTeam').count({ organizationId: id }, { max: options.limits.teams })) >= options.limits.teams)
    throw new OrganizationFull(`organizations.teams.create: there are ${options.limits.teams} teams.`)
  const { version } = organization
  const written = await rows.atomic([
    { record: 'organization', update: id, change: { version: version + 1 }, if: { version, closing: false } },
    { record: 'organizationTeam', create: { organizationId: id, name: wanted, created: ctx.now } },
  ])
  if (!written) throw await faultOfName(actor, id, wanted)
  const team = written[1] as Row<TeamRow>
  await emitChange(actor, 'team.created', id, { id: team.id })
  return toTeam(team)
}

export async function renameTeam(actor: Actor, id: string, teamId: string, { name }: { name: string }): Promise<void> {
  const membership = await requireMembership(actor, id, 'team:update')
  const [team, wanted] = [await requireTeam(membership, teamId), readName(name)]
  if (!(await membership.rows.atomic([{ record: 'organizationTeam', update: team, change: { name: wanted }, if: { organizationId: id } }])))
    throw await faultOfName(actor, id, wanted)
  await emitChange(actor, 'team.updated', id, { id: team })
}

export async function deleteTeam(actor: Actor, id: string, teamId: string): Promise<void> {
  const membership = await requireMembership(actor, id, 'team:delete')
  const team = await requireTeam(membership, teamId)
  await membership.rows.records('organizationTeam').take(team, { if: { organizationId: id } })
  await membership.rows.records('organizationTeamMember').deleteWhere({ where: { teamId: team } })
  await emitChange(actor, 'team.deleted', id, { id: team })
}

/** At most 1000, in the order of joining. */
export async function listTeamMembers(actor: Actor, id: string, teamId: string): Promise<TeamMember[]> {
  const membership = await requireMembership(actor, id, 'member:read')
  const found = await membership.rows
    .records('organizationTeamMember')
    .find({ where: { teamId: await requireTeam(membership, teamId) }, limit: 1000 })
  return found.rows.map(({ userId, role, joined }) => ({ userId, role, joined }))
}

/** Throws NoSuchOrganization for a user who is no member of the organization, AccessDenied for a role that may do more than the own one. */
export async function addToTeam(actor: Actor, id: string, teamId: string, userId: string, role: string | null = null): Promise<void> {
  const membership = await requireMembership(actor, id, 'team:members')
  const { rows, ctx, organization } = membership
  if (role !== null) assertCovers(membership, readRole(membership, role))
  const [team, member] = [await requireTeam(membership, teamId), await findMember(rows, id, userId)]
  if (!member) throw new NoSuchOrganization('organizations.teams: the user is no member of the organization.')
  const { version } = organization
  const done = await rows.atomic([
    { record: 'organization', update: id, change: { version: version + 1 }, if: { version, closing: false } },
    { record: 'organizationTeam', update: team, change: { organizationId: id }, if: { organizationId: id } },
    { record: 'organizationMember', update: member.id, change: { role: member.role }, if: { role: member.role } },
    { record: 'organizationTeamMember', create: { teamId: team, organizationId: id, userId, role, joined: ctx.now } },
  ])
  if (!done) {
    const there = await rows.records('organizationTeamMember').get({ teamId: team, userId })
    throw there ? new AlreadyMember('organizations.teams: the user is in the team already.') : createBusyFault()
  }
  await emitChange(actor, 'team.joined', id, { id: team, userId, ...(role !== null && { role }) })
}

/** False: the user was not in the team. */
export async function removeFromTeam(actor: Actor, id: string, teamId: string, userId: string): Promise<boolean> {
  const membership = await requireMembership(actor, id, userId === actor.user?.id ? undefined : 'team:members')
  const team = await requireTeam(membership, teamId)
  const row =
    (await findMember(membership.rows, id, userId)) &&
    (await membership.rows.records('organizationTeamMember').get({ teamId: team, userId }))
  if (!row) return false
  if (row.role !== null && userId !== actor.user?.id) assertCovers(membership, row.role)
  if (!(await membership.rows.records('organizationTeamMember').delete(row.id))) return false
  await emitChange(actor, 'team.left', id, { id: team, userId })
  return true
}

async function faultOfName({ rows }: Actor, organizationId: string, name: string): Promise<Error> {
  const taken = await rows.records('organizationTeam').get({ organizationId, name })
  return taken ? new OrganizationTaken('organizations.teams: the name is taken.') : createBusyFault()
}
function createBusyFault(): OrganizationBusy {
  return new OrganizationBusy('organizations.teams: others changed the organization at the same moment. Try again.')
}
function toTeam({ id, name, created }: Row<TeamRow>): Team {
  return { id, name, created }
}
