/** Teams: groups of members, in which somebody may have a role beside that in the organization. */
import { type Row } from 'authkernel/kernel'
import { nameOf } from './acts.ts'
import { type Actor, memberOf, seatIn } from './desk.ts'
import { AlreadyMember, NoSuchOrganization, OrganizationBusy, OrganizationFull, OrganizationTaken } from './errors.ts'
import { teamIn } from './invitations.ts'
import { mayTouch, roleOf } from './members.ts'
import type { TeamRow } from './tables.ts'
import { tell } from './told.ts'

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

export async function list(actor: Actor, id: string): Promise<Team[]> {
  const { rows } = await seatIn(actor, id, 'member:read')
  const found = await rows.records('organizationTeam').find({ where: { organizationId: id }, limit: 1000 })
  return found.rows.map(shown)
}

export async function create(actor: Actor, id: string, { name }: { name: string }): Promise<Team> {
  const { rows, ctx, options, organization } = await seatIn(actor, id, 'team:create')
  const wanted = nameOf(name)
  if ((await rows.records('organizationTeam').count({ organizationId: id }, { max: options.limits.teams })) >= options.limits.teams)
    throw new OrganizationFull(`organizations.teams.create: there are ${options.limits.teams} teams.`)
  const { version } = organization
  const made = await rows.atomic([
    { record: 'organization', update: id, change: { version: version + 1 }, if: { version, closing: false } },
    { record: 'organizationTeam', create: { organizationId: id, name: wanted, created: ctx.now } },
  ])
  if (!made) throw await failed(actor, id, wanted)
  const team = made[1] as Row<TeamRow>
  await tell(actor, 'team.created', id, { id: team.id })
  return shown(team)
}

export async function rename(actor: Actor, id: string, teamId: string, { name }: { name: string }): Promise<void> {
  const seat = await seatIn(actor, id, 'team:update')
  const [team, wanted] = [await teamIn(seat, teamId), nameOf(name)]
  if (!(await seat.rows.atomic([{ record: 'organizationTeam', update: team, change: { name: wanted }, if: { organizationId: id } }])))
    throw await failed(actor, id, wanted)
  await tell(actor, 'team.updated', id, { id: team })
}

export async function remove(actor: Actor, id: string, teamId: string): Promise<void> {
  const seat = await seatIn(actor, id, 'team:delete')
  const team = await teamIn(seat, teamId)
  await seat.rows.records('organizationTeam').take(team, { if: { organizationId: id } })
  await seat.rows.records('organizationTeamMember').deleteWhere({ where: { teamId: team } })
  await tell(actor, 'team.deleted', id, { id: team })
}

/** At most 1000, in the order of joining. */
export async function members(actor: Actor, id: string, teamId: string): Promise<TeamMember[]> {
  const seat = await seatIn(actor, id, 'member:read')
  const found = await seat.rows.records('organizationTeamMember').find({ where: { teamId: await teamIn(seat, teamId) }, limit: 1000 })
  return found.rows.map(({ userId, role, joined }) => ({ userId, role, joined }))
}

/** Throws NoSuchOrganization for somebody who is no member of the organization, AccessDenied for a role that may do more than the own one. */
export async function join(actor: Actor, id: string, teamId: string, userId: string, role: string | null = null): Promise<void> {
  const seat = await seatIn(actor, id, 'team:members')
  const { rows, ctx, organization } = seat
  if (role !== null) mayTouch(seat, roleOf(actor, role))
  const [team, member] = [await teamIn(seat, teamId), await memberOf(rows, id, userId)]
  if (!member) throw new NoSuchOrganization('organizations.teams: the person is no member of the organization.')
  const { version } = organization
  const done = await rows.atomic([
    { record: 'organization', update: id, change: { version: version + 1 }, if: { version, closing: false } },
    { record: 'organizationTeam', update: team, change: { organizationId: id }, if: { organizationId: id } },
    { record: 'organizationMember', update: member.id, change: { role: member.role }, if: { role: member.role } },
    { record: 'organizationTeamMember', create: { teamId: team, organizationId: id, userId, role, joined: ctx.now } },
  ])
  if (!done) {
    const there = await rows.records('organizationTeamMember').get({ teamId: team, userId })
    throw there ? new AlreadyMember('organizations.teams: the person is in the team already.') : busy()
  }
  await tell(actor, 'team.joined', id, { id: team, userId, ...(role !== null && { role }) })
}

/** False: the person was not in the team. */
export async function leave(actor: Actor, id: string, teamId: string, userId: string): Promise<boolean> {
  const seat = await seatIn(actor, id, userId === actor.user?.id ? undefined : 'team:members')
  const team = await teamIn(seat, teamId)
  const row = (await memberOf(seat.rows, id, userId)) && (await seat.rows.records('organizationTeamMember').get({ teamId: team, userId }))
  if (!row) return false
  if (row.role !== null && userId !== actor.user?.id) mayTouch(seat, row.role)
  if (!(await seat.rows.records('organizationTeamMember').delete(row.id))) return false
  await tell(actor, 'team.left', id, { id: team, userId })
  return true
}

async function failed({ rows }: Actor, organizationId: string, name: string): Promise<Error> {
  const taken = await rows.records('organizationTeam').get({ organizationId, name })
  return taken ? new OrganizationTaken('organizations.teams: the name is taken.') : busy()
}
function busy(): OrganizationBusy {
  return new OrganizationBusy('organizations.teams: others changed the organization at the same moment. Try again.')
}
function shown({ id, name, created }: Row<TeamRow>): Team {
  return { id, name, created }
}
