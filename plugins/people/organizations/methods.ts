/** `auth.can`, `auth.organizations` and `client.organizations`. */
import {
  clientMethod,
  clientMethods,
  type ClientPart,
  type Context,
  jobFor,
  type Kernel,
  type OfTenant,
  redirectTo,
  type Session,
  type Wire,
  toLocalPath,
} from 'authkernel/kernel'
import { setActive, setFirstActive } from './active-organization.ts'
import { type Actor, type By, createActor, createVisitor, type PluginInstance, rowsOf } from './actor.ts'
import * as domains from './domains.ts'
import { readTexts } from './input.ts'
import * as invitations from './invitations.ts'
import * as members from './members.ts'
import * as organizations from './organizations.ts'
import { type CanWhere, checkPermission } from './permission.ts'
import * as teams from './teams.ts'

/**
 * Each throws AccessDenied for a request that is signed out, for an API key and for an impersonator, and without the permission; NoSuchOrganization (404) for a user who is no member;
 * OrganizationInput (400) for values that cannot be taken; OrganizationBusy (409) when others changed the organization at the same moment.
 */
export interface OrganizationActs {
  /** The user who creates it is its owner. Throws OrganizationTaken for a slug that is taken, OrganizationFull. */
  create(by: By, organization: organizations.NewOrganization): Promise<organizations.Organization>
  /** Null: there is none, or the user is no member. */
  get(by: By, id: string): Promise<organizations.OwnOrganization | null>
  /** Those that the user is in. */
  list(by: By): Promise<organizations.OwnOrganization[]>
  /** Needs `organization:update`. */
  update(by: By, id: string, change: { name?: string; slug?: string }): Promise<organizations.Organization>
  /** Needs `organization:delete`. */
  delete(by: By, id: string): Promise<void>
  /** Hands it over: the other member becomes owner, and who does it gets `role` (default `admin`). Needs `organization:transfer`, and to be an owner. */
  transfer(by: By, id: string, userId: string, role?: string): Promise<void>
  /** Needs `member:read`. */
  members(by: By, id: string, search?: members.MemberSearch): Promise<members.MemberPage>
  /** Needs `member:role`, and a role that may do all that the old and the new one may. Throws LastOwner. */
  setRole(by: By, id: string, userId: string, role: string): Promise<void>
  /** Needs `member:remove`. Throws LastOwner. */
  remove(by: By, id: string, userId: string): Promise<void>
  /** Throws LastOwner. */
  leave(by: By, id: string): Promise<void>
  /** Without an invitation; for `{ system: true }` alone. Throws AlreadyMember, OrganizationFull. */
  add(by: By, id: string, userId: string, role?: string): Promise<void>
  /** Mails an invitation. Needs `invitation:create`. Throws AlreadyMember, OrganizationFull, HttpError 429 for too many mails. */
  invite(by: By, id: string, invitation: invitations.NewInvitation): Promise<invitations.Invitation>
  /** Needs `invitation:create`. */
  invitations(by: By, id: string): Promise<invitations.Invitation[]>
  /** Needs `invitation:cancel`. False: there is no such invitation. */
  cancel(by: By, id: string, invitationId: string): Promise<boolean>
  /** The user of a request joins by the token of the mail. Throws InvitationInvalid, InvitationOther, AlreadyMember, OrganizationFull. */
  accept(request: Request, token: string): Promise<{ organization: string; role: string }>
  /** A redirect whose cookie makes it the active one of the session; null: none. `returnTo`: a path of the own origin; default `/`. */
  setActive(request: Request, id: string | null, order?: { returnTo?: string }): Promise<Response>
  teams: TeamActs
  domains: DomainActs
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

/** `client.organizations` on `auth`, for types alone. */
export type OrganizationClient = ClientPart<{ readonly organizations: OrganizationMethods }>
type In = { organization: string }
type Answer<T> = Promise<Wire<T>>

/** `client.organizations`: as `auth.organizations`, for the user who is signed in. */
export interface OrganizationMethods {
  list(): Answer<organizations.OwnOrganization[]>
  create(input: { name: string; slug?: string }): Answer<organizations.Organization>
  update(input: In & { name?: string; slug?: string }): Answer<organizations.Organization>
  delete(input: In): Answer<void>
  transfer(input: In & { userId: string; role?: string }): Answer<void>
  setActive(input: { organization?: string }): Answer<void>
  hasPermission(input: { organization?: string; team?: string; permission: string }): Answer<boolean>
  listMembers(input: In & { role?: string; cursor?: string }): Answer<members.MemberPage>
  setRole(input: In & { userId: string; role: string }): Answer<void>
  remove(input: In & { userId: string }): Answer<void>
  leave(input: In): Answer<void>
  invite(input: In & { email: string; role?: string; team?: string; lang?: string }): Answer<invitations.Invitation>
  listInvitations(input: In): Answer<invitations.Invitation[]>
  cancel(input: In & { invitation: string }): Answer<boolean>
  accept(input: { token: string }): Answer<{ organization: string; role: string }>
  listTeams(input: In): Answer<teams.Team[]>
  createTeam(input: In & { name: string }): Answer<teams.Team>
  renameTeam(input: In & { team: string; name: string }): Answer<void>
  deleteTeam(input: In & { team: string }): Answer<void>
  listTeamMembers(input: In & { team: string }): Answer<teams.TeamMember[]>
  addToTeam(input: In & { team: string; userId: string; role?: string }): Answer<void>
  removeFromTeam(input: In & { team: string; userId: string }): Answer<boolean>
  listDomains(input: In): Answer<domains.Domain[]>
  listClaims(input: In): Answer<domains.DomainClaim[]>
  claimDomain(input: In & { domain: string }): Answer<domains.DomainClaim>
  proveDomain(input: In & { domain: string }): Answer<domains.Domain>
  setDomainProvider(input: In & { domain: string; provider?: string }): Answer<void>
  removeDomain(input: In & { domain: string }): Answer<boolean>
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
    members: as(members.listMembers),
    setRole: as(members.setRole),
    remove: as(members.removeMember),
    leave: as(members.leaveOrganization),
    add: as(members.addMember),
    invite: as(invitations.createInvitation),
    invitations: as(invitations.listInvitations),
    cancel: as(invitations.cancelInvitation),
    accept: as(invitations.acceptInvitation),
    async setActive(request, id, { returnTo = '/' } = {}) {
      const path = toLocalPath(returnTo, 'organizations.setActive')
      const ctx = await plugin.kernel.contextOf(request)
      await setActive(plugin, ctx, id)
      return plugin.kernel.answer(ctx, redirectTo(ctx.origin + path))
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
      remove: as(domains.removeDomain),
      async sweep({ max = 100, ...tenant } = {}) {
        const ctx = await plugin.kernel.contextOf(jobFor('organizations', tenant))
        return domains.recheckDueDomains(plugin, ctx, await rowsOf(plugin, ctx), max)
      },
    },
  }
}

/** The routes of `client.organizations`: the user who is signed in acts, by the rules of the API. */
export function addClientMethods(kernel: Kernel, plugin: PluginInstance): OrganizationClient {
  const as: AsVisitor = (act) => async (ctx, input) => act(await createVisitor(plugin, ctx), input)
  return clientMethods(kernel, 'organizations', {
    ...organizationMethods(plugin, as),
    ...memberMethods(as),
    ...invitationMethods(as),
    ...teamMethods(as),
    ...domainMethods(as),
  })
}

/** A handler in which the user of the session acts. */
type AsVisitor = <I, R>(act: (actor: Actor, input: I) => Promise<R>) => (ctx: Context, input: I) => Promise<R>

const one = 'organization'

function organizationMethods(plugin: PluginInstance, as: AsVisitor) {
  return {
    list: clientMethod(async (ctx) => organizations.listOrganizations(await createVisitor(plugin, ctx))),
    create: clientMethod(readTexts(['name'], ['slug']), async (ctx, input) => {
      const organization = await organizations.createOrganization(await createVisitor(plugin, ctx), input)
      await setFirstActive(plugin, ctx, organization.id)
      return organization
    }),
    update: clientMethod(
      readTexts([one], ['name', 'slug']),
      as((by, { organization, ...change }) => organizations.updateOrganization(by, organization, change)),
    ),
    delete: clientMethod(
      readTexts([one]),
      as((by, { organization }) => organizations.deleteOrganization(by, organization)),
    ),
    transfer: clientMethod(
      readTexts([one, 'userId'], ['role']),
      as((by, i) => members.transferOwnership(by, i.organization, i.userId, i.role)),
    ),
    setActive: clientMethod(readTexts([], [one]), (ctx, { organization = null }) => setActive(plugin, ctx, organization)),
    hasPermission: clientMethod(readTexts(['permission'], [one, 'team']), (ctx, { permission, ...where }) => {
      // An undeclared name is a mistake of the client here, and not of the host.
      return plugin.options.all.has(permission) ? checkPermission(plugin, ctx.request, permission, where) : Promise.resolve(false)
    }),
  }
}

function memberMethods(as: AsVisitor) {
  return {
    listMembers: clientMethod(
      readTexts([one], ['role', 'cursor']),
      as((by, { organization, ...search }) => members.listMembers(by, organization, search)),
    ),
    setRole: clientMethod(
      readTexts([one, 'userId', 'role']),
      as((by, i) => members.setRole(by, i.organization, i.userId, i.role)),
    ),
    remove: clientMethod(
      readTexts([one, 'userId']),
      as((by, i) => members.removeMember(by, i.organization, i.userId)),
    ),
    leave: clientMethod(
      readTexts([one]),
      as((by, { organization }) => members.leaveOrganization(by, organization)),
    ),
  }
}

function invitationMethods(as: AsVisitor) {
  return {
    invite: clientMethod(
      readTexts([one, 'email'], ['role', 'team', 'lang']),
      as((by, { organization, ...invitation }) => invitations.createInvitation(by, organization, invitation)),
    ),
    listInvitations: clientMethod(
      readTexts([one]),
      as((by, { organization }) => invitations.listInvitations(by, organization)),
    ),
    cancel: clientMethod(
      readTexts([one, 'invitation']),
      as((by, i) => invitations.cancelInvitation(by, i.organization, i.invitation)),
    ),
    accept: clientMethod(
      readTexts(['token']),
      as((by, { token }) => invitations.acceptInvitation(by, token)),
    ),
  }
}

function teamMethods(as: AsVisitor) {
  return {
    listTeams: clientMethod(
      readTexts([one]),
      as((by, { organization }) => teams.listTeams(by, organization)),
    ),
    createTeam: clientMethod(
      readTexts([one, 'name']),
      as((by, { organization, name }) => teams.createTeam(by, organization, { name })),
    ),
    renameTeam: clientMethod(
      readTexts([one, 'team', 'name']),
      as((by, i) => teams.renameTeam(by, i.organization, i.team, { name: i.name })),
    ),
    deleteTeam: clientMethod(
      readTexts([one, 'team']),
      as((by, i) => teams.deleteTeam(by, i.organization, i.team)),
    ),
    listTeamMembers: clientMethod(
      readTexts([one, 'team']),
      as((by, i) => teams.listTeamMembers(by, i.organization, i.team)),
    ),
    addToTeam: clientMethod(
      readTexts([one, 'team', 'userId'], ['role']),
      as((by, i) => teams.addToTeam(by, i.organization, i.team, i.userId, i.role)),
    ),
    removeFromTeam: clientMethod(
      readTexts([one, 'team', 'userId']),
      as((by, i) => teams.removeFromTeam(by, i.organization, i.team, i.userId)),
    ),
  }
}

function domainMethods(as: AsVisitor) {
  return {
    listDomains: clientMethod(
      readTexts([one]),
      as((by, { organization }) => domains.listDomains(by, organization)),
    ),
    listClaims: clientMethod(
      readTexts([one]),
      as((by, { organization }) => domains.listClaims(by, organization)),
    ),
    claimDomain: clientMethod(
      readTexts([one, 'domain']),
      as((by, i) => domains.claimDomain(by, i.organization, i.domain)),
    ),
    proveDomain: clientMethod(
      readTexts([one, 'domain']),
      as((by, i) => domains.proveDomain(by, i.organization, i.domain)),
    ),
    setDomainProvider: clientMethod(
      readTexts([one, 'domain'], ['provider']),
      as((by, i) => domains.setDomainProvider(by, i.organization, i.domain, i.provider ?? null)),
    ),
    removeDomain: clientMethod(
      readTexts([one, 'domain']),
      as((by, i) => domains.removeDomain(by, i.organization, i.domain)),
    ),
  }
}
