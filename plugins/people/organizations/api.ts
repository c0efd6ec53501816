/** `auth.organizations`: every call names who asks. */
import { HttpError, jobFor, type OfTenant, redirectTo, type Session } from 'authkernel/kernel'
import { setActive } from './active.ts'
import * as acts from './acts.ts'
import type { CanWhere } from './can.ts'
import { type Actor, actorBy, type By, type Desk, rowsOf } from './desk.ts'
import * as domains from './domains.ts'
import * as invitations from './invitations.ts'
import * as members from './members.ts'
import * as teams from './teams.ts'

/**
 * Each throws AccessDenied when nobody, an API key or an impersonator asks, and without the permission; NoSuchOrganization (404) for whoever is no member;
 * OrganizationInput (400) for values that cannot be taken; OrganizationBusy (409) when others changed the organization at the same moment.
 */
export interface OrganizationActs {
  /** Whoever makes it is its owner. Throws OrganizationTaken for a slug that is taken, OrganizationFull. */
  create(by: By, organization: acts.NewOrganization): Promise<acts.Organization>
  /** Null: there is none, or the person is no member. */
  get(by: By, id: string): Promise<acts.OwnOrganization | null>
  /** Those that the person is in. */
  list(by: By): Promise<acts.OwnOrganization[]>
  /** Needs `organization:update`. */
  update(by: By, id: string, change: { name?: string; slug?: string }): Promise<acts.Organization>
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
  /** The person of a request joins by the token of the mail. Throws InvitationInvalid, InvitationOther, AlreadyMember, OrganizationFull. */
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
  /** Needs `team:members`, for oneself nothing. False: the person was not in the team. */
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
  /** Where people with an address in the domain sign in. Needs `domain:provider`. Throws InvalidProvider. */
  setProvider(by: By, id: string, domain: string, provider: string | null): Promise<void>
  /** Needs `domain:remove`. */
  remove(by: By, id: string, domain: string): Promise<boolean>
  /** Looks again at all records that were not seen for a day; answers how many domains have lapsed. Call it once a day for each tenant. */
  sweep(order?: { max?: number } & OfTenant): Promise<number>
}
/** What the plugin puts on `auth`. */
export interface OrganizationsApi<P extends string = string> {
  /**
   * Whether somebody may do something in an organization, as it is now: one query by a unique key. False for nobody and for whoever is no member. A session of an
   * API key or of an app also needs the permission among its scopes. Throws AuthError for a permission that no statement names.
   */
  can(who: Session | Request | null, permission: P, where?: CanWhere): Promise<boolean>
  organizations: OrganizationActs
}

export function organizationActs(desk: Desk): OrganizationActs {
  const as =
    <A extends unknown[], R>(act: (actor: Actor, ...rest: A) => Promise<R>) =>
    async (by: By, ...rest: A): Promise<R> =>
      act(await actorBy(desk, by), ...rest)
  return {
    create: as(acts.create),
    get: as(acts.get),
    list: as(acts.listOwn),
    update: as(acts.update),
    delete: as(acts.remove),
    transfer: as(members.transfer),
    members: as(members.list),
    setRole: as(members.setRole),
    remove: as(members.remove),
    leave: as(members.leave),
    add: as(members.add),
    invite: as(invitations.invite),
    invitations: as(invitations.listInvitations),
    cancel: as(invitations.cancel),
    accept: as(invitations.accept),
    async setActive(request, id, { returnTo = '/' } = {}) {
      if (typeof returnTo !== 'string' || !/^\/(?![/\\])/.test(returnTo))
        throw new HttpError(400, 'organizations.setActive: `returnTo` must be a path that begins with one "/".')
      const ctx = await desk.kernel.contextOf(request)
      await setActive(desk, ctx, id)
      return desk.kernel.answer(ctx, redirectTo(ctx.origin + returnTo))
    },
    teams: {
      list: as(teams.list),
      create: as(teams.create),
      rename: as(teams.rename),
      delete: as(teams.remove),
      members: as(teams.members),
      add: as(teams.join),
      remove: as(teams.leave),
    },
    domains: {
      claim: as(domains.claim),
      prove: as(domains.prove),
      list: as(domains.list),
      claims: as(domains.claims),
      setProvider: as(domains.setProvider),
      remove: as(domains.remove),
      async sweep({ max = 100, ...tenant } = {}) {
        const ctx = await desk.kernel.contextOf(jobFor('organizations', tenant))
        return domains.sweep(desk, ctx, await rowsOf(desk, ctx), max)
      },
    },
  }
}
