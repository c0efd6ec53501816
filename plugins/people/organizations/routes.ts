/** What a browser calls: `client.organizations`. The person is who is signed in; the rules are those of the API. */
import { clientMethod, clientMethods, type ClientPart, type Context, type Kernel, type Wire } from 'authkernel/kernel'
import { setActive, setFirstActive } from './active.ts'
import * as acts from './acts.ts'
import { can } from './can.ts'
import { type Actor, actorOf, type Desk } from './desk.ts'
import * as domains from './domains.ts'
import { texts } from './input.ts'
import * as invitations from './invitations.ts'
import * as members from './members.ts'
import * as teams from './teams.ts'

/** `client.organizations` on `auth`, for types alone. */
export type OrganizationClient = ClientPart<{ readonly organizations: OrganizationMethods }>
type In = { organization: string }
type Answer<T> = Promise<Wire<T>>

/** `client.organizations`: as `auth.organizations`, for the person who is signed in. */
export interface OrganizationMethods {
  list(): Answer<acts.OwnOrganization[]>
  create(input: { name: string; slug?: string }): Answer<acts.Organization>
  update(input: In & { name?: string; slug?: string }): Answer<acts.Organization>
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

export function addRoutes(kernel: Kernel, desk: Desk): OrganizationClient {
  const as =
    <I, R>(act: (actor: Actor, input: I) => Promise<R>): ((ctx: Context, input: I) => Promise<R>) =>
    async (ctx, input) =>
      act(await actorOf(desk, ctx), input)
  const one = 'organization'
  return clientMethods(kernel, 'organizations', {
    list: clientMethod(async (ctx) => acts.listOwn(await actorOf(desk, ctx))),
    create: clientMethod(texts(['name'], ['slug']), async (ctx, input) => {
      const made = await acts.create(await actorOf(desk, ctx), input)
      await setFirstActive(desk, ctx, made.id)
      return made
    }),
    update: clientMethod(
      texts([one], ['name', 'slug']),
      as((by, { organization, ...change }) => acts.update(by, organization, change)),
    ),
    delete: clientMethod(
      texts([one]),
      as((by, { organization }) => acts.remove(by, organization)),
    ),
    transfer: clientMethod(
      texts([one, 'userId'], ['role']),
      as((by, i) => members.transfer(by, i.organization, i.userId, i.role)),
    ),
    setActive: clientMethod(texts([], [one]), (ctx, { organization = null }) => setActive(desk, ctx, organization)),
    hasPermission: clientMethod(texts(['permission'], [one, 'team']), (ctx, { permission, ...where }) => {
      // A name that nobody declared is a mistake of the client here, and not of the host.
      return desk.options.all.has(permission) ? can(desk, ctx.request, permission, where) : Promise.resolve(false)
    }),
    listMembers: clientMethod(
      texts([one], ['role', 'cursor']),
      as((by, { organization, ...search }) => members.list(by, organization, search)),
    ),
    setRole: clientMethod(
      texts([one, 'userId', 'role']),
      as((by, i) => members.setRole(by, i.organization, i.userId, i.role)),
    ),
    remove: clientMethod(
      texts([one, 'userId']),
      as((by, i) => members.remove(by, i.organization, i.userId)),
    ),
    leave: clientMethod(
      texts([one]),
      as((by, { organization }) => members.leave(by, organization)),
    ),
    invite: clientMethod(
      texts([one, 'email'], ['role', 'team', 'lang']),
      as((by, { organization, ...invitation }) => invitations.invite(by, organization, invitation)),
    ),
    listInvitations: clientMethod(
      texts([one]),
      as((by, { organization }) => invitations.listInvitations(by, organization)),
    ),
    cancel: clientMethod(
      texts([one, 'invitation']),
      as((by, i) => invitations.cancel(by, i.organization, i.invitation)),
    ),
    accept: clientMethod(
      texts(['token']),
      as((by, { token }) => invitations.accept(by, token)),
    ),
    listTeams: clientMethod(
      texts([one]),
      as((by, { organization }) => teams.list(by, organization)),
    ),
    createTeam: clientMethod(
      texts([one, 'name']),
      as((by, { organization, name }) => teams.create(by, organization, { name })),
    ),
    renameTeam: clientMethod(
      texts([one, 'team', 'name']),
      as((by, i) => teams.rename(by, i.organization, i.team, { name: i.name })),
    ),
    deleteTeam: clientMethod(
      texts([one, 'team']),
      as((by, i) => teams.remove(by, i.organization, i.team)),
    ),
    listTeamMembers: clientMethod(
      texts([one, 'team']),
      as((by, i) => teams.members(by, i.organization, i.team)),
    ),
    addToTeam: clientMethod(
      texts([one, 'team', 'userId'], ['role']),
      as((by, i) => teams.join(by, i.organization, i.team, i.userId, i.role)),
    ),
    removeFromTeam: clientMethod(
      texts([one, 'team', 'userId']),
      as((by, i) => teams.leave(by, i.organization, i.team, i.userId)),
    ),
    listDomains: clientMethod(
      texts([one]),
      as((by, { organization }) => domains.list(by, organization)),
    ),
    listClaims: clientMethod(
      texts([one]),
      as((by, { organization }) => domains.claims(by, organization)),
    ),
    claimDomain: clientMethod(
      texts([one, 'domain']),
      as((by, i) => domains.claim(by, i.organization, i.domain)),
    ),
    proveDomain: clientMethod(
      texts([one, 'domain']),
      as((by, i) => domains.prove(by, i.organization, i.domain)),
    ),
    setDomainProvider: clientMethod(
      texts([one, 'domain'], ['provider']),
      as((by, i) => domains.setProvider(by, i.organization, i.domain, i.provider ?? null)),
    ),
    removeDomain: clientMethod(
      texts([one, 'domain']),
      as((by, i) => domains.remove(by, i.organization, i.domain)),
    ),
  })
}
