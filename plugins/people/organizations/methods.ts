/** `auth.can` and `auth.organizations`. */
import { jobFor, type OfTenant, redirectTo, type Session, toLocalPath } from 'authkernel/kernel'
import { setActive } from './active-organization.ts'
import { type Actor, type By, createActor, type PluginInstance, rowsOf } from './actor.ts'
import { type BulkInvitations, type BulkLine, inviteMany } from './bulk-invitations.ts'
import * as roles from './custom-roles.ts'
import * as domains from './domains.ts'
import { listHistory, type OrganizationHistory } from './history.ts'
import * as invitations from './invitations.ts'
import { joinByDomain, type Joining, listSuggestions, setJoining, type Suggestion } from './joining.ts'
import { listMembers, type MemberPage, type MemberSearch } from './member-list.ts'
import * as members from './members.ts'
import * as organizations from './organizations.ts'
import type { CanWhere } from './permission.ts'
import { restoreMember, suspendMember } from './suspension.ts'
import * as teams from './teams.ts'

/**
 * Each throws AccessDenied for a request that is signed out, for an API key and for an impersonator, and without the permission. Other errors: NoSuchOrganization (404) for a user who is no member, OrganizationInput (400) for invalid values, OrganizationBusy (409) when others changed the organization at the same moment.
 */
export interface OrganizationActs {
  /** The user who creates it is its owner. Throws OrganizationTaken for a slug that is taken, OrganizationFull. */
  create(by: By, organization: organizations.NewOrganization): Promise<organizations.Organization>
  /** Null: there is none, or the user is no member. */
  get(by: By, id: string): Promise<organizations.OwnOrganization | null>
  /** Those that the user is in. */
  list(by: By): Promise<organizations.OwnOrganization[]>
  /** Needs `organization:update`. */
  update(by: By, id: string, change: organizations.OrganizationChanges): Promise<organizations.Organization>
  /** Needs `organization:delete`. */
  delete(by: By, id: string): Promise<void>
  /** Hands it over: the other member becomes owner, and who does it gets `role` (default `admin`). Needs `organization:transfer`, and to be an owner. */
  transfer(by: By, id: string, userId: string, role?: string): Promise<void>
  /** Needs `member:read`. */
  members(by: By, id: string, search?: MemberSearch): Promise<MemberPage>
  /**
   * One role, or up to 10 with the main one first: the member may do what any of them permits. Needs `member:role`, and a role that may do all that the old and the
   * new ones may. Throws LastOwner.
   */
  setRole(by: By, id: string, userId: string, role: string | readonly string[]): Promise<void>
  /** Needs `member:remove`. Throws LastOwner. */
  remove(by: By, id: string, userId: string): Promise<void>
  /** The member stays on the list and may do nothing until `restore`; what was made with the membership ends. Needs `member:remove`. False: it was suspended before. Throws LastOwner. */
  suspend(by: By, id: string, userId: string): Promise<boolean>
  /** Gives back the role, and nothing that ended. Needs `member:remove`. False: the membership was in force. */
  restore(by: By, id: string, userId: string): Promise<boolean>
  /** Throws LastOwner. */
  leave(by: By, id: string): Promise<void>
  /** Without an invitation; for `{ system: true }` alone. Throws AlreadyMember, OrganizationFull. */
  add(by: By, id: string, userId: string, role?: string): Promise<void>
  /** Mails an invitation. Needs `invitation:create`. Throws AlreadyMember, OrganizationFull, HttpError 429 for too many mails. */
  invite(by: By, id: string, invitation: invitations.NewInvitation): Promise<invitations.Invitation>
  /**
   * Invites up to 100 addresses, one in a line. Each line has its own result, so that a wrong one stops no other. Needs `invitation:create`. Throws
   * OrganizationInput for too many lines, before any mail.
   */
  inviteMany(by: By, id: string, invitations: BulkInvitations): Promise<BulkLine[]>
  /** Needs `invitation:create`. */
  invitations(by: By, id: string): Promise<invitations.Invitation[]>
  /** Needs `invitation:cancel`. False: there is no such invitation. */
  cancel(by: By, id: string, invitationId: string): Promise<boolean>
  /** The user of a request joins by the token of the mail. Throws InvitationInvalid, InvitationOther, AlreadyMember, OrganizationFull. */
  accept(request: Request, token: string): Promise<{ organization: string; role: string }>
  /** A redirect whose cookie makes it the active one of the session; null: none. `returnTo`: a path of the own origin; default `/`. */
  setActive(request: Request, id: string | null, order?: { returnTo?: string }): Promise<Response>
  /** Organizations that the user may join, because they have proved the domain of the user's verified address. */
  suggestions(by: By): Promise<Suggestion[]>
  /** The user joins one of them as `member`. Throws NoSuchOrganization for any other, OrganizationFull. */
  join(by: By, id: string): Promise<{ organization: string; role: string }>
  /** What happened in the organization, the newest first. Needs `organization:history`. `limit`: default 50, at most 200. */
  history(by: By, id: string, search?: { cursor?: string | undefined; limit?: number | undefined }): Promise<OrganizationHistory>
  teams: TeamActs
  roles: RoleActs
  domains: DomainActs
}
/** `auth.organizations.roles`. */
export interface RoleActs {
  /** Those of the options, and those that the members made. Needs `member:read`. */
  list(by: By, id: string): Promise<roles.OrganizationRole[]>
  /** Needs `role:create` and each of its permissions. Throws OrganizationTaken, OrganizationFull. */
  create(by: By, id: string, role: roles.NewRole): Promise<roles.OrganizationRole>
  /** Needs `role:update` and each of its permissions, before and after. Members with the role may do it at once. Throws OrganizationTaken. */
  update(by: By, id: string, role: string, change: Partial<roles.NewRole>): Promise<roles.OrganizationRole>
  /** Needs `role:delete` and each of its permissions. Throws RoleInUse while it is the main role of a member. */
  delete(by: By, id: string, role: string): Promise<void>
}
/** `auth.organizations.teams`. */
export interface TeamActs {
  /** Needs `member:read`. */
  list(by: By, id: string): Promise<teams.Team[]>
  /** Needs `team:create`. Throws OrganizationTaken, OrganizationFull. */
  create(by: By, id: string, team: { name: string }): Promise<teams.Team>
  /** Needs `team:update`. */
  rename(by: By, id: string, teamId: string, team: { name: string }): Promise<void>
  /** Needs `team:delete`. */
  delete(by: By, id: string, teamId: string): Promise<void>
  /** Needs `member:read`. */
  members(by: By, id: string, teamId: string): Promise<teams.TeamMember[]>
  /** `role` holds in this team alone, beside the role in the organization. Needs `team:members`. */
  add(by: By, id: string, teamId: string, userId: string, role?: string | null): Promise<void>
  /** Needs `team:members`, for oneself nothing. False: the user was not in the team. */
  remove(by: By, id: string, teamId: string, userId: string): Promise<boolean>
}
/** `auth.organizations.domains`. */
export interface DomainActs {
  /** Answers the TXT record to make. Needs `domain:claim`. */
  claim(by: By, id: string, domain: string): Promise<domains.DomainClaim>
  /** Looks for the record. Needs `domain:claim`. Throws DomainUnproved, DomainTaken, HttpError 503 when the DNS does not answer. */
  prove(by: By, id: string, domain: string): Promise<domains.Domain>
  /** Needs `domain:claim`. */
  list(by: By, id: string): Promise<domains.Domain[]>
  /** Those that are claimed and not proved yet, with their TXT records. Needs `domain:claim`. */
  claims(by: By, id: string): Promise<domains.DomainClaim[]>
  /** Where users with an address in the domain sign in. Needs `domain:provider`. Throws InvalidProvider. */
  setProvider(by: By, id: string, domain: string, provider: string | null): Promise<void>
  /**
   * How users with a verified address in the domain become members: `join` at a sign-in, unless they were members before; `suggest` when they say so; null by
   * invitation alone, the default. Needs `domain:joining`.
   */
  setJoining(by: By, id: string, domain: string, joining: Joining): Promise<void>
  /** Needs `domain:remove`. */
  remove(by: By, id: string, domain: string): Promise<boolean>
  /** Looks again at all records that were not seen for a day; answers how many domains have lapsed. Call it once a day for each tenant. */
  sweep(order?: { max?: number } & OfTenant): Promise<number>
}
/** What the plugin puts on `auth`. */
export interface OrganizationsApi<P extends string = string> {
  /**
   * Whether a user has a permission in an organization, as it is now: one query by a unique key. False when signed out, and for a user who is no member. A session of an
   * API key or of an app also needs the permission among its scopes. Throws AuthError for a permission that no statement names.
   */
  can(who: Session | Request | null, permission: P, where?: CanWhere): Promise<boolean>
  organizations: OrganizationActs
}

/** `auth.organizations`: the calls name who acts. */
export function createApi(plugin: PluginInstance): OrganizationActs {
  const as =
    <A extends unknown[], R>(act: (actor: Actor, ...rest: A) => Promise<R>) =>
    async (by: By, ...rest: A): Promise<R> =>
      act(await createActor(plugin, by), ...rest)
  return {
    create: as(organizations.createOrganization),
    get: as(organizations.findOrganization),
    list: as(organizations.listOrganizations),
    update: as(organizations.updateOrganization),
    delete: as(organizations.deleteOrganization),
    transfer: as(members.transferOwnership),
    members: as(listMembers),
    setRole: as(members.setRole),
    remove: as(members.removeMember),
    suspend: as(suspendMember),
    restore: as(restoreMember),
    leave: as(members.leaveOrganization),
    add: as(async (actor, id, userId, role?: string) => void (await members.addMember(actor, id, userId, { role }))),
    invite: as(invitations.createInvitation),
    inviteMany: as(inviteMany),
    invitations: as(invitations.listInvitations),
    cancel: as(invitations.cancelInvitation),
    accept: as(invitations.acceptInvitation),
    async setActive(request, id, { returnTo = '/' } = {}) {
      const path = toLocalPath(returnTo, 'organizations.setActive')
      const ctx = await plugin.kernel.contextOf(request)
      await setActive(plugin, ctx, id)
      return plugin.kernel.answer(ctx, redirectTo(ctx.origin + path))
    },
    suggestions: as(listSuggestions),
    join: as(joinByDomain),
    history: as(listHistory),
    roles: {
      list: as(roles.listRoles),
      create: as(roles.createRole),
      update: as(roles.updateRole),
      delete: as(roles.deleteRole),
    },
    teams: {
      list: as(teams.listTeams),
      create: as(teams.createTeam),
      rename: as(teams.renameTeam),
      delete: as(teams.deleteTeam),
      members: as(teams.listTeamMembers),
      add: as(teams.addToTeam),
      remove: as(teams.removeFromTeam),
    },
    domains: {
      claim: as(domains.claimDomain),
      prove: as(domains.proveDomain),
      list: as(domains.listDomains),
      claims: as(domains.listClaims),
      setProvider: as(domains.setDomainProvider),
      setJoining: as(setJoining),
      remove: as(domains.removeDomain),
      async sweep({ max = 100, ...tenant } = {}) {
        const ctx = await plugin.kernel.contextOf(jobFor('organizations', tenant))
        return domains.recheckDueDomains(plugin, ctx, await rowsOf(plugin, ctx), max)
      },
    },
  }
}
