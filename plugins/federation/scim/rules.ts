/** What the groups of a user give in the organization by the rules of the directory: a role and teams. */
import { listRows } from 'authkernel/kernel/stores'
import type { Connection } from './caller.ts'
import { isOfType } from './errors.ts'
import type { DirectoryRules } from './options.ts'
import type { DirectoryRow, ScimGroupRow } from './tables.ts'

type Place = Pick<Connection, 'ctx' | 'directory'>

/** What a user should be in the organization. */
export interface WantedPlace {
  /** Undefined: no rule gives roles by group, and the organization decides. */
  role: string | undefined
  /** Ids of all teams that rules name: true where the user should be in it. */
  teams: ReadonlyMap<string, boolean>
}

/** The rules of a directory. */
export function rulesOf({ rules }: Pick<DirectoryRow, 'rules'>): DirectoryRules {
  return (rules ?? {}) as DirectoryRules
}

/** Whether a rule names a group of this name, so that its members must be looked at. */
export function namesGroup({ directory }: Pick<Place, 'directory'>, { nameKey }: Pick<ScimGroupRow, 'nameKey'>): boolean {
  const { roles = [], teams = [] } = rulesOf(directory)
  return [...roles, ...teams].some(({ group }) => group.toLowerCase() === nameKey)
}

/** What the rules want for a resource. `rules`: default those of the directory. */
export async function findWantedPlace(
  place: Place,
  scimUserId: string | undefined,
  rules: DirectoryRules = rulesOf(place.directory),
): Promise<WantedPlace> {
  const { roles = [], teams = [], role = 'member' } = rules
  const names = roles.length + teams.length > 0 && scimUserId !== undefined ? await listGroupNames(place, scimUserId) : new Set<string>()
  const wanted = new Map<string, boolean>()
  for (const { group, team } of teams) wanted.set(team, wanted.get(team) === true || names.has(group.toLowerCase()))
  return { role: roles.length > 0 ? (roles.find(({ group }) => names.has(group.toLowerCase()))?.role ?? role) : undefined, teams: wanted }
}

/** Gives a user the role and the teams that the rules want. A user who is no member, or whose membership is suspended, is left alone. */
export async function applyRules(place: Place, userId: string): Promise<void> {
  // Groups may change while they are read: after each write they are read again, so that the last read counts.
  for (let tries = 0; tries < 5; tries++) if (!(await applyOnce(place, userId))) return
}

/** Whether it wrote something. */
async function applyOnce(place: Place, userId: string): Promise<boolean> {
  const { ctx, directory } = place
  const { roles = [], teams = [] } = rulesOf(directory)
  if (roles.length + teams.length === 0) return false
  const organizations = ctx.service('organizations')
  const of = { organizationId: directory.organizationId, userId }
  const row = await ctx.records('scimUser').get({ directoryId: directory.id, userId })
  const member = await organizations.findMember(ctx, of)
  if (!member || member.suspended) return false
  const wanted = await findWantedPlace(place, row?.id)
  let isChanged = false
  if (wanted.role !== undefined && wanted.role !== member.role) isChanged = await setRole(place, userId, wanted.role)
  if (wanted.teams.size === 0) return isChanged
  const held = new Set(await organizations.teamsOf(ctx, of))
  for (const [teamId, isIn] of wanted.teams)
    if (held.has(teamId) !== isIn) isChanged = (await setTeam(place, { userId, teamId, isIn })) || isChanged
  return isChanged
}

async function setRole({ ctx, directory }: Place, userId: string, role: string): Promise<boolean> {
  try {
    await ctx.service('organizations').setRole(ctx, { organizationId: directory.organizationId, userId, role })
    return true
  } catch (error) {
    // The organization keeps its last owner until there is another one. The next change of groups tries again.
    if (!isOfType(error, 'LastOwner')) throw error
    ctx.logger.warn('scim-last-owner')
    return false
  }
}

async function setTeam(
  { ctx, directory }: Place,
  { userId, teamId, isIn }: { userId: string; teamId: string; isIn: boolean },
): Promise<boolean> {
  const organizations = ctx.service('organizations')
  const of = { organizationId: directory.organizationId, userId, teamId }
  try {
    await (isIn ? organizations.joinTeam(ctx, of) : organizations.leaveTeam(ctx, of))
    return true
  } catch (error) {
    // A team that the organization deleted gives nothing: the rule is out of date.
    if (!isOfType(error, 'OrganizationInput')) throw error
    ctx.logger.warn('scim-no-such-team')
    return false
  }
}

async function listGroupNames({ ctx }: Place, scimUserId: string): Promise<Set<string>> {
  const rows = await listRows(ctx.records('scimMember'), { where: { scimUserId } })
  const names = new Set<string>()
  for (let at = 0; at < rows.length; at += 500) {
    const groups = await ctx.records('scimGroup').getMany(rows.slice(at, at + 500).map(({ groupId }) => groupId))
    for (const { nameKey } of groups) names.add(nameKey)
  }
  return names
}
