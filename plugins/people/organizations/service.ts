/** The service `organizations`: what other plugins do with organizations. The caller is code and needs no permission. */
import type { AnyContext } from 'authkernel/kernel'
import { listRows } from 'authkernel/kernel/stores'
import { type Actor, findMembershipRow, isId, isRowId, type PluginInstance, rolesOf, rowsOf } from './actor.ts'
import {
  claimDomain,
  type Domain,
  type DomainClaim,
  findDomainOwner,
  isProofLive,
  listClaims,
  listDomains,
  proveDomain,
  removeDomain,
} from './domains.ts'
import { AlreadyMember, NoSuchOrganization, OrganizationBusy } from './errors.ts'
import { findDeparture } from './departures.ts'
import { addMember, type Addition, removeMember, setRole } from './members.ts'
import { type Organization, toOrganization } from './organizations.ts'
import { heldRoles } from './roles.ts'
import { restoreMember, suspendMember } from './suspension.ts'
import type { MemberRow } from './tables.ts'
import { addToTeam, removeFromTeam, type Team } from './teams.ts'

/** A user in an organization, by their ids. */
export interface MemberOf {
  organizationId: string
  userId: string
}
/** What a user is in an organization. */
export interface MembershipState {
  organizationId: string
  /** The main role. */
  role: string
  /** All roles, the main one first. */
  roles: readonly string[]
  /** The membership is there and gives nothing. */
  suspended: boolean
  joined: Date
}
/**
 * Organizations for other plugins: `ctx.service('organizations')`. Each change is under the rules of the plugin (limits, last owner), emits `organizationChanged`
 * with `by: null`, and is atomic between processes. Throws NoSuchOrganization, OrganizationBusy.
 */
export interface OrganizationsService {
  /** Null: there is none, or it is being deleted. */
  get(ctx: AnyContext, organizationId: string): Promise<Organization | null>
  /**
   * `role`: default `member`. False: `before` or `after`, which are written in the same commit, did not hold. Where the organization has rows of another tenant they
   * are written first, and the caller removes them if this throws. Throws AlreadyMember, also for a suspended member, OrganizationFull, OrganizationInput for
   * a role or user that is not there.
   */
  addMember(ctx: AnyContext, member: MemberOf & Addition): Promise<boolean>
  /** Ends what was made with the membership. False: the user was no member; what may be left of an earlier removal is ended. Throws LastOwner. */
  removeMember(ctx: AnyContext, member: MemberOf): Promise<boolean>
  /** One role, or several with the main one first. Throws LastOwner, OrganizationInput for a role that is not there, NoSuchOrganization for a user who is no member. */
  setRole(ctx: AnyContext, member: MemberOf & { role: string | readonly string[] }): Promise<void>
  /**
   * The membership stays and gives nothing, and what was made with it ends. False: it was suspended before. Throws LastOwner, NoSuchOrganization for a user
   * who is no member.
   */
  suspendMember(ctx: AnyContext, member: MemberOf): Promise<boolean>
  /** Gives back the role, and nothing that ended. False: the membership was in force. Throws NoSuchOrganization for a user who is no member. */
  restoreMember(ctx: AnyContext, member: MemberOf): Promise<boolean>
  /** Names of the roles that members can have, those that the organization made too. */
  listRoles(ctx: AnyContext, organizationId: string): Promise<string[]>
  /** Teams of the organization, at most 1000. */
  listTeams(ctx: AnyContext, organizationId: string): Promise<Team[]>
  /** Ids of the teams of one organization that a user is in. */
  teamsOf(ctx: AnyContext, member: MemberOf): Promise<string[]>
  /** Without a role in the team. False: the user was in it. Throws OrganizationInput for a team that is not there, NoSuchOrganization for a user who is no member. */
  joinTeam(ctx: AnyContext, member: MemberOf & { teamId: string }): Promise<boolean>
  /** False: the user was not in the team. Throws OrganizationInput for a team that is not there. */
  leaveTeam(ctx: AnyContext, member: MemberOf & { teamId: string }): Promise<boolean>
  /** Null: no member. */
  findMember(ctx: AnyContext, member: MemberOf): Promise<MembershipState | null>
  /** How a user who is no member stopped being one: by leaving, or removed by another. Null: never was a member, or came back since. */
  findDeparture(ctx: AnyContext, member: MemberOf): Promise<'left' | 'removed' | null>
  /** Members in the order of joining, a page at a time: all, or those with a main role. `limit`: default 100, at most 500. */
  listMembers(
    ctx: AnyContext,
    search: { organizationId: string; role?: string | undefined; cursor?: string | undefined; limit?: number | undefined },
  ): Promise<{ members: (MembershipState & { userId: string })[]; cursor: string | undefined }>
  /** The organizations of a user, in the order of joining; at most 1000. */
  listOf(ctx: AnyContext, userId: string): Promise<MembershipState[]>
  /** Id of the organization that has proved the domain, or the domain of the address; undefined: none has, or its record is gone for three days. */
  ownsDomain(ctx: AnyContext, domainOrAddress: string): Promise<string | undefined>
  /** Domains that the organization has proved, and whose proof counts now. */
  listDomains(ctx: AnyContext, organizationId: string): Promise<string[]>
  /** All proved domains with the time of the last check, also those whose proof has lapsed, and the claims that wait for a proof. */
  describeDomains(ctx: AnyContext, organizationId: string): Promise<{ proved: Domain[]; claims: DomainClaim[] }>
  /** What to put into the DNS. Throws OrganizationInput for what is no domain, or a public one, and OrganizationFull. */
  claimDomain(ctx: AnyContext, domain: { organizationId: string; domain: string }): Promise<DomainClaim>
  /** Looks for the record now. Throws DomainUnproved, DomainTaken, OrganizationInput without a claim, HttpError 503 where the DNS does not answer. */
  proveDomain(ctx: AnyContext, domain: { organizationId: string; domain: string }): Promise<Domain>
  /** Removes a claim or a proof. False: there was neither. */
  removeDomain(ctx: AnyContext, domain: { organizationId: string; domain: string }): Promise<boolean>
}

declare module 'authkernel/kernel' {
  interface Services {
    /** Organizations for other plugins. */
    organizations: OrganizationsService
  }
}

/** The service. */
export function createService(plugin: PluginInstance): OrganizationsService {
  const asSystem = async (ctx: AnyContext): Promise<Actor> => ({ ...plugin, ctx, rows: await rowsOf(plugin, ctx), user: null })
  return {
    async get(ctx, organizationId) {
      const row = isRowId(organizationId) ? await (await rowsOf(plugin, ctx)).records('organization').get(organizationId) : null
      if (!row || row.closing) return null
      return toOrganization(row)
    },
    async addMember(ctx, { organizationId, userId, ...addition }) {
      const actor = await asSystem(ctx)
      if (actor.rows === ctx) return addMember(actor, organizationId, userId, addition)
      const { before = [], after = [], ...own } = addition
      if (before.length + after.length > 0 && !(await ctx.atomic([...before, ...after]))) return false
      return addMember(actor, organizationId, userId, own)
    },
    async removeMember(ctx, { organizationId, userId }) {
      try {
        await removeMember(await asSystem(ctx), organizationId, userId)
        return true
      } catch (error) {
        if (!(error instanceof NoSuchOrganization) || !isRowId(organizationId)) throw error
        return false
      }
    },
    findDeparture: async (ctx, { organizationId, userId }) => findDeparture(await rowsOf(plugin, ctx), organizationId, userId),
    setRole: async (ctx, { organizationId, userId, role }) => setRole(await asSystem(ctx), organizationId, userId, role),
    suspendMember: async (ctx, { organizationId, userId }) => suspendMember(await asSystem(ctx), organizationId, userId),
    restoreMember: async (ctx, { organizationId, userId }) => restoreMember(await asSystem(ctx), organizationId, userId),
    async listRoles(ctx, organizationId) {
      return isRowId(organizationId) ? [...(await rolesOf(await rowsOf(plugin, ctx), plugin.options, organizationId)).keys()] : []
    },
    async listTeams(ctx, organizationId) {
      if (!isRowId(organizationId)) return []
      const found = await (await rowsOf(plugin, ctx)).records('organizationTeam').find({ where: { organizationId }, limit: 1000 })
      return found.rows.map(({ id, name, created }) => ({ id, name, created }))
    },
    async teamsOf(ctx, { organizationId, userId }) {
      if (!isRowId(organizationId) || !isId(userId)) return []
      const rows = await rowsOf(plugin, ctx)
      const found = await listRows(rows.records('organizationTeamMember'), { where: { organizationId, userId } })
      return found.map(({ teamId }) => teamId)
    },
    joinTeam: async (ctx, member) => joinTeam(await asSystem(ctx), member),
    leaveTeam: async (ctx, { organizationId, teamId, userId }) => removeFromTeam(await asSystem(ctx), organizationId, teamId, userId),
    async findMember(ctx, { organizationId, userId }) {
      const row = await findMembershipRow(await rowsOf(plugin, ctx), organizationId, userId)
      return row && toState(row)
    },
    async listMembers(ctx, { organizationId, role, cursor, limit = 100 }) {
      if (!isRowId(organizationId)) return { members: [], cursor: undefined }
      const rows = await rowsOf(plugin, ctx)
      const where = { organizationId, ...(role !== undefined && { role }) }
      const page = await rows.records('organizationMember').find({ where, cursor, limit: Math.min(Math.max(limit, 1), 500) })
      return { members: page.rows.map((row) => ({ ...toState(row), userId: row.userId })), cursor: page.cursor }
    },
    async listOf(ctx, userId) {
      if (!isId(userId)) return []
      const found = await (await rowsOf(plugin, ctx)).records('organizationMember').find({ where: { userId }, limit: 1000 })
      return found.rows.map(toState)
    },
    ownsDomain: async (ctx, domainOrAddress) => findDomainOwner(await rowsOf(plugin, ctx), domainOrAddress),
    async listDomains(ctx, organizationId) {
      if (!isRowId(organizationId)) return []
      const rows = await rowsOf(plugin, ctx)
      const found = await rows.records('organizationDomain').find({ where: { organizationId }, limit: 1000 })
      return found.rows.filter((row) => isProofLive(rows, row)).map(({ domain }) => domain)
    },
    async describeDomains(ctx, organizationId) {
      const actor = await asSystem(ctx)
      return { proved: await listDomains(actor, organizationId), claims: await listClaims(actor, organizationId) }
    },
    claimDomain: async (ctx, { organizationId, domain }) => claimDomain(await asSystem(ctx), organizationId, domain),
    proveDomain: async (ctx, { organizationId, domain }) => proveDomain(await asSystem(ctx), organizationId, domain),
    removeDomain: async (ctx, { organizationId, domain }) => removeDomain(await asSystem(ctx), organizationId, domain),
  }
}

// Changes of other members at the same moment are no reason to fail.
async function joinTeam(actor: Actor, { organizationId, teamId, userId }: MemberOf & { teamId: string }, tries = 16): Promise<boolean> {
  try {
    await addToTeam(actor, organizationId, teamId, userId)
    return true
  } catch (error) {
    if (error instanceof AlreadyMember) return false
    if (error instanceof OrganizationBusy && tries > 1) return joinTeam(actor, { organizationId, teamId, userId }, tries - 1)
    throw error
  }
}

function toState(row: MemberRow): MembershipState {
  const { organizationId, role, suspended, joined } = row
  return { organizationId, role, roles: heldRoles(row), suspended: suspended !== null, joined }
}
