/** `client.organizations`. */
import { clientMethod, clientMethods, type ClientPart, type Context, type Kernel, type Wire } from 'authkernel/kernel'
import { setActive, setFirstActive } from './active-organization.ts'
import { type Actor, createVisitor, type PluginInstance } from './actor.ts'
import { type BulkLine, inviteMany } from './bulk-invitations.ts'
import * as roles from './custom-roles.ts'
import * as domains from './domains.ts'
import { listHistory, type OrganizationHistory } from './history.ts'
import { readTexts } from './input.ts'
import * as invitations from './invitations.ts'
import { joinByDomain, type Joining, listSuggestions, setJoining, type Suggestion } from './joining.ts'
import { listMembers, type MemberPage } from './member-list.ts'
import * as members from './members.ts'
import * as organizations from './organizations.ts'
import { checkPermission } from './permission.ts'
import { restoreMember, suspendMember } from './suspension.ts'
import * as teams from './teams.ts'

/** `client.organizations` on `auth`, for types alone. */
export type OrganizationClient<P extends string = string> = ClientPart<{ readonly organizations: OrganizationMethods<P> }>
type In = { organization: string }
type Answer<T> = Promise<Wire<T>>

/** `client.organizations`: as `auth.organizations`, for the user who is signed in. `P`: the permissions that the server declares. */
export interface OrganizationMethods<P extends string = string> {
  list(): Answer<organizations.OwnOrganization[]>
  create(input: { name: string; slug?: string }): Answer<organizations.Organization>
  update(
    input: In & { name?: string; slug?: string; image?: string | null; fields?: Record<string, unknown> },
  ): Answer<organizations.Organization>
  delete(input: In): Answer<void>
  transfer(input: In & { userId: string; role?: string }): Answer<void>
  setActive(input: { organization?: string }): Answer<void>
  hasPermission(input: { organization?: string; team?: string; permission: P }): Answer<boolean>
  listMembers(input: In & { role?: string; text?: string; cursor?: string }): Answer<MemberPage>
  setRole(input: In & { userId: string; role: string | readonly string[] }): Answer<void>
  remove(input: In & { userId: string }): Answer<void>
  suspend(input: In & { userId: string }): Answer<boolean>
  restore(input: In & { userId: string }): Answer<boolean>
  leave(input: In): Answer<void>
  invite(input: In & { email: string; role?: string; team?: string; lang?: string }): Answer<invitations.Invitation>
  inviteMany(input: In & { text: string; role?: string; lang?: string }): Answer<BulkLine[]>
  listInvitations(input: In): Answer<invitations.Invitation[]>
  cancel(input: In & { invitation: string }): Answer<boolean>
  accept(input: { token: string }): Answer<{ organization: string; role: string }>
  listSuggestions(): Answer<Suggestion[]>
  join(input: In): Answer<{ organization: string; role: string }>
  listHistory(input: In & { cursor?: string }): Answer<OrganizationHistory>
  listRoles(input: In): Answer<roles.OrganizationRole[]>
  createRole(input: In & { title: string; permissions: readonly string[] }): Answer<roles.OrganizationRole>
  updateRole(input: In & { role: string; title?: string; permissions?: readonly string[] }): Answer<roles.OrganizationRole>
  deleteRole(input: In & { role: string }): Answer<void>
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
  setDomainJoining(input: In & { domain: string; joining?: Exclude<Joining, null> }): Answer<void>
  removeDomain(input: In & { domain: string }): Answer<boolean>
}

/** The routes of `client.organizations`: the user who is signed in acts, by the rules of the API. */
export function addClientMethods(kernel: Kernel, plugin: PluginInstance): OrganizationClient {
  const as: AsVisitor = (act) => async (ctx, input) => act(await createVisitor(plugin, ctx), input)
  return clientMethods(kernel, 'organizations', {
    ...organizationMethods(plugin, as),
    ...memberMethods(as),
    ...invitationMethods(as),
    ...roleMethods(as),
    ...teamMethods(as),
    ...domainMethods(as),
  })
}

/** A handler in which the user of the session acts. */
type AsVisitor = <I, R>(act: (actor: Actor, input: I) => Promise<R>) => (ctx: Context, input: I) => Promise<R>

const one = 'organization'

function organizationMethods(plugin: PluginInstance, as: AsVisitor) {
  return {
    listSuggestions: clientMethod(async (ctx) => listSuggestions(await createVisitor(plugin, ctx))),
    list: clientMethod(async (ctx) => organizations.listOrganizations(await createVisitor(plugin, ctx))),
    create: clientMethod(readTexts(['name'], ['slug']), async (ctx, input) => {
      const organization = await organizations.createOrganization(await createVisitor(plugin, ctx), input)
      await setFirstActive(plugin, ctx, organization.id)
      return organization
    }),
    update: clientMethod(
      (sent) => ({ ...readTexts([one], ['name', 'slug'])(sent), ...readParts(sent) }),
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
      readTexts([one], ['role', 'text', 'cursor']),
      as((by, { organization, ...search }) => listMembers(by, organization, search)),
    ),
    setRole: clientMethod(
      (sent) => ({ ...readTexts([one, 'userId'])(sent), role: readRoleNames(sent) }),
      as((by, i) => members.setRole(by, i.organization, i.userId, i.role)),
    ),
    remove: clientMethod(
      readTexts([one, 'userId']),
      as((by, i) => members.removeMember(by, i.organization, i.userId)),
    ),
    suspend: clientMethod(
      readTexts([one, 'userId']),
      as((by, i) => suspendMember(by, i.organization, i.userId)),
    ),
    restore: clientMethod(
      readTexts([one, 'userId']),
      as((by, i) => restoreMember(by, i.organization, i.userId)),
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
    inviteMany: clientMethod(
      (sent) => ({ ...readTexts([one], ['role', 'lang'])(sent), text: (Object(sent) as { text: string }).text }),
      as((by, { organization, ...lines }) => inviteMany(by, organization, lines)),
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

function roleMethods(as: AsVisitor) {
  return {
    join: clientMethod(
      readTexts([one]),
      as((by, { organization }) => joinByDomain(by, organization)),
    ),
    listHistory: clientMethod(
      readTexts([one], ['cursor']),
      as((by, { organization, ...search }) => listHistory(by, organization, search)),
    ),
    listRoles: clientMethod(
      readTexts([one]),
      as((by, { organization }) => roles.listRoles(by, organization)),
    ),
    createRole: clientMethod(
      (sent) => ({ ...readTexts([one, 'title'])(sent), permissions: readPermissions(sent) ?? [] }),
      as((by, { organization, ...role }) => roles.createRole(by, organization, role)),
    ),
    updateRole: clientMethod(
      (sent) => {
        const permissions = readPermissions(sent)
        return { ...readTexts([one, 'role'], ['title'])(sent), ...(permissions && { permissions }) }
      },
      as((by, { organization, role, ...change }) => roles.updateRole(by, organization, role, change)),
    ),
    deleteRole: clientMethod(
      readTexts([one, 'role']),
      as((by, i) => roles.deleteRole(by, i.organization, i.role)),
    ),
  }
}

// What the nouns check themselves: here it only gets its type.
function readPermissions(sent: unknown): string[] | undefined {
  return (Object(sent) as { permissions?: string[] }).permissions
}

function readParts(sent: unknown): Pick<organizations.OrganizationChanges, 'image' | 'fields'> {
  const { image, fields } = Object(sent) as organizations.OrganizationChanges
  return { ...(image !== undefined && { image }), ...(fields !== undefined && { fields }) }
}

function readRoleNames(sent: unknown): string | string[] {
  const { role } = Object(sent) as { role?: unknown }
  return Array.isArray(role) ? role.map(String) : readTexts(['role'])(sent).role
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
    setDomainJoining: clientMethod(
      readTexts([one, 'domain'], ['joining']),
      as((by, { organization, domain, joining = null }) => setJoining(by, organization, domain, joining as Joining)),
    ),
    removeDomain: clientMethod(
      readTexts([one, 'domain']),
      as((by, i) => domains.removeDomain(by, i.organization, i.domain)),
    ),
  }
}
