/** Organizations with members, teams, roles, invitations and domains. */
import type { AnyContext, First, Guard, Pipe, Plugin, SessionPart } from 'authkernel/kernel'
import type {} from 'authkernel/plugins/admission'
import type {} from 'authkernel/plugins/api-keys'
import { activateAtSignIn, activeCookie, addActiveOrganization, findKeyOrganization } from './active-organization.ts'
import { keepOwners } from './deleted-users.ts'
import { answerByDomain, createHomeRealm, guardProviders } from './home-realm.ts'
import { isInvited } from './invitations.ts'
import { joinAtSignIn } from './joining.ts'
import { messages } from './messages.ts'
import { historyMessages } from './messages-history.ts'
import { peopleMessages } from './messages-people.ts'
import { permissionMessages } from './messages-permissions.ts'
import { createApi, type OrganizationsApi } from './methods.ts'
import { addClientMethods, type OrganizationClient } from './methods-client.ts'
import { type OrganizationsOptions, resolveOptions } from './options.ts'
import { provideImports } from './organization-import.ts'
import { addPages, invitationTokens } from './pages.ts'
import { checkPermission } from './permission.ts'
import type { PermissionOf, Statements } from './roles.ts'
import { endAtProviders } from './provider-owner.ts'
import { addRoutes } from './routes.ts'
import { createService } from './service.ts'
import {
  activeTable,
  claimTable,
  departureTable,
  domainTable,
  eventTable,
  invitationTable,
  memberTable,
  organizationTable,
  organizationRoleTable,
  teamMemberTable,
  teamTable,
} from './tables.ts'

export type { ActiveOrganization } from './active-organization.ts'
export type { NewOrganization, Organization, OrganizationChanges, OwnOrganization } from './organizations.ts'
export type { BulkInvitations, BulkLine } from './bulk-invitations.ts'
export type { NewRole, OrganizationRole } from './custom-roles.ts'
export type { OrganizationEvent, OrganizationHistory } from './history.ts'
export type { Joining, Suggestion } from './joining.ts'
export type { OrganizationField, OrganizationFields } from './organization-fields.ts'
export type { DomainActs, OrganizationActs, OrganizationsApi, RoleActs, TeamActs } from './methods.ts'
export type { CanWhere } from './permission.ts'
export type { By } from './actor.ts'
export type { Domain, DomainClaim } from './domains.ts'
export * from './errors.ts'
export type { Invitation, NewInvitation } from './invitations.ts'
export type { InvitationTaken, MemberTaken, OrganizationTaken, TeamMemberTaken, TeamTaken } from './organization-import.ts'
export type { Member, MemberPage, MemberSearch } from './member-list.ts'
export type { DomainOptions, OrganizationLimits, OrganizationsOptions } from './options.ts'
export type { PermissionOf, RoleRights, Statements } from './roles.ts'
export type { OrganizationClient, OrganizationMethods } from './methods-client.ts'
export type {
  ActiveRow,
  ClaimRow,
  DomainRow,
  InvitationRow,
  MemberRow,
  OrganizationRow,
  TeamMemberRow,
  TeamRow,
  RoleRow,
  DepartureRow,
  EventRow,
  OrganizationValue,
} from './tables.ts'
export type { MemberOf, MembershipState, OrganizationsService } from './service.ts'
export type { Team, TeamMember } from './teams.ts'
export type { OrganizationAct, OrganizationChange } from './events.ts'

declare module 'authkernel/kernel' {
  interface Hooks {
    /** Whether an invitation still counts; asked when it is opened and accepted. `adminPlugin` rejects those of banned users. */
    invitation: Guard<{ organizationId: string; inviterId: string; email: string; role: string }, AnyContext>
    /**
     * Answers the id of the organization that brought a provider, for connections that are not in the option `domains.own`. What rests on such a provider ends
     * with the membership of its user.
     */
    providerOrganization: First<{ provider: string }, string, AnyContext>
    /** Adds links to the navigation of the pages of an organization: `label` is the key of a text, `to` a path. `userId` is the member who looks. */
    organizationNavigation: Pipe<
      { items: readonly { label: string; to: string }[]; organizationId: string; userId: string; role: string },
      'items',
      AnyContext
    >
  }
}

/**
 * Puts `auth.can` and `auth.organizations` on `auth`, adds pages, `client.organizations` and the service `homeRealm`. Needs an adapter with `getUser` and
 * `getUserByEmail`, the services `records` and `limit`, and a mail transport. Throws AuthError for options of the wrong shape.
 */
export function organizationsPlugin<const S extends Statements = Record<never, never>>(
  options: OrganizationsOptions<S> = {},
): Plugin<OrganizationsApi<PermissionOf<S>> & OrganizationClient<PermissionOf<S>> & SessionPart<'organization'>> {
  const resolved = resolveOptions(options as OrganizationsOptions)
  return {
    name: 'organizations',
    requires: ['store', 'records', 'limit', 'mail', 'mailTransport', 'store:getUser', 'store:getUserByEmail'],
    setup(kernel) {
      const plugin = { kernel, options: resolved }
      kernel.declareEvent('organizationChanged')
      kernel.declareHook('invitation', 'guard')
      kernel.declareHook('providerOrganization', 'first')
      kernel.declareHook('organizationNavigation', 'pipe', 'items')
      kernel.records('organization', organizationTable)
      kernel.records('organizationMember', memberTable)
      kernel.records('organizationRole', organizationRoleTable)
      kernel.records('organizationDeparture', departureTable)
      kernel.records('organizationEvent', eventTable)
      kernel.records('organizationTeam', teamTable)
      kernel.records('organizationTeamMember', teamMemberTable)
      kernel.records('organizationInvitation', invitationTable)
      kernel.records('organizationClaim', claimTable)
      kernel.records('organizationDomain', domainTable)
      kernel.records('organizationActive', activeTable)
      kernel.cookie(activeCookie)
      // Before the choice of the active organization: it may be the first.
      joinAtSignIn(kernel, plugin)
      activateAtSignIn(kernel, plugin)
      kernel.pending(invitationTokens)
      kernel.decorate('session', (inner) => addActiveOrganization(plugin, inner))
      kernel.hook('keyOrganization', (question) => findKeyOrganization(plugin, question), { of: 'api-keys' })
      kernel.hook('admission', (question) => isInvited(plugin, question), { of: 'admission' })
      kernel.provide('homeRealm', createHomeRealm(plugin), { fallback: true })
      kernel.hook('homeRealm', answerByDomain, { last: true })
      if (options.domains?.own) guardProviders(kernel, plugin)
      kernel.messages(messages)
      kernel.messages(historyMessages)
      kernel.messages(peopleMessages)
      kernel.messages(permissionMessages)
      kernel.mailTemplate('organizations.invitation', {
        subject: 'organizations.mail.subject',
        lines: ['organizations.mail.by', 'organizations.mail.text'],
        button: { text: 'organizations.mail.open', url: 'url' },
        after: ['organizations.mail.left'],
        note: 'organizations.mail.ignore',
      })
      keepOwners(kernel, plugin)
      endAtProviders(kernel, plugin)
      kernel.provide('organizations', createService(plugin))
      provideImports(kernel, plugin)
      addRoutes(kernel, plugin)
      addPages(kernel, plugin)
      return {
        can: (who, permission, where = {}) => checkPermission(plugin, who, permission, where),
        organizations: createApi(plugin),
        ...addClientMethods(kernel, plugin),
      }
    },
  }
}
