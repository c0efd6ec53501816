/** Organizations with members, teams, roles, invitations and domains. */
import type { AnyContext, Guard, Plugin, SessionPart } from 'authkernel/kernel'
import type {} from 'authkernel/plugins/admission'
import type {} from 'authkernel/plugins/api-keys'
import { activateAtSignIn, activeCookie, addActiveOrganization, findKeyOrganization } from './active-organization.ts'
import { keepOwners } from './deleted-users.ts'
import { answerByDomain, createHomeRealm, guardProviders } from './home-realm.ts'
import { isInvited } from './invitations.ts'
import { messages } from './messages.ts'
import { addClientMethods, createApi, type OrganizationClient, type OrganizationsApi } from './methods.ts'
import { type OrganizationsOptions, resolveOptions } from './options.ts'
import { provideImports } from './organization-import.ts'
import { addPages, invitationTokens } from './pages.ts'
import { checkPermission } from './permission.ts'
import type { PermissionOf, Statements } from './roles.ts'
import { addRoutes } from './routes.ts'
import {
  activeTable,
  claimTable,
  domainTable,
  invitationTable,
  memberTable,
  organizationTable,
  teamMemberTable,
  teamTable,
} from './tables.ts'

export type { ActiveOrganization } from './active-organization.ts'
export type { NewOrganization, Organization, OwnOrganization } from './organizations.ts'
export type { DomainActs, OrganizationActs, OrganizationsApi, TeamActs } from './methods.ts'
export type { CanWhere } from './permission.ts'
export type { By } from './actor.ts'
export type { Domain, DomainClaim } from './domains.ts'
export * from './errors.ts'
export type { Invitation, NewInvitation } from './invitations.ts'
export type { InvitationTaken, MemberTaken, OrganizationTaken, TeamMemberTaken, TeamTaken } from './organization-import.ts'
export type { Member, MemberPage, MemberSearch } from './members.ts'
export type { DomainOptions, OrganizationLimits, OrganizationsOptions } from './options.ts'
export type { PermissionOf, RoleRights, Statements } from './roles.ts'
export type { OrganizationClient, OrganizationMethods } from './methods.ts'
export type { ActiveRow, ClaimRow, DomainRow, InvitationRow, MemberRow, OrganizationRow, TeamMemberRow, TeamRow } from './tables.ts'
export type { Team, TeamMember } from './teams.ts'
export type { OrganizationAct, OrganizationChange } from './events.ts'

declare module 'authkernel/kernel' {
  interface Hooks {
    /** Whether an invitation still counts; asked when it is opened and accepted. `adminPlugin` refuses those of banned users. */
    invitation: Guard<{ organizationId: string; inviterId: string; email: string; role: string }, AnyContext>
  }
}

/**
 * Puts `auth.can` and `auth.organizations` on `auth`, adds pages, `client.organizations` and the service `homeRealm`. Needs an adapter with `getUser` and
 * `getUserByEmail`, the services `records` and `limit`, and a mail transport. Throws AuthError for options of the wrong shape.
 */
export function organizationsPlugin<const S extends Statements = Record<never, never>>(
  options: OrganizationsOptions<S> = {},
): Plugin<OrganizationsApi<PermissionOf<S>> & OrganizationClient & SessionPart<'organization'>> {
  const resolved = resolveOptions(options as OrganizationsOptions)
  return {
    name: 'organizations',
    requires: ['store', 'records', 'limit', 'mail', 'mailTransport', 'store:getUser', 'store:getUserByEmail'],
    setup(kernel) {
      const plugin = { kernel, options: resolved }
      kernel.declareEvent('organizationChanged')
      kernel.declareHook('invitation', 'guard')
      kernel.records('organization', organizationTable)
      kernel.records('organizationMember', memberTable)
      kernel.records('organizationTeam', teamTable)
      kernel.records('organizationTeamMember', teamMemberTable)
      kernel.records('organizationInvitation', invitationTable)
      kernel.records('organizationClaim', claimTable)
      kernel.records('organizationDomain', domainTable)
      kernel.records('organizationActive', activeTable)
      kernel.cookie(activeCookie)
      activateAtSignIn(kernel, plugin)
      kernel.pending(invitationTokens)
      kernel.decorate('session', (inner) => addActiveOrganization(plugin, inner))
      kernel.hook('keyOrganization', (question) => findKeyOrganization(plugin, question), { of: 'api-keys' })
      kernel.hook('admission', (question) => isInvited(plugin, question), { of: 'admission' })
      kernel.provide('homeRealm', createHomeRealm(plugin), { fallback: true })
      kernel.hook('homeRealm', answerByDomain, { last: true })
      if (options.domains?.own) guardProviders(kernel, plugin)
      kernel.messages(messages)
      kernel.mailTemplate('organizations.invitation', {
        subject: 'organizations.mail.subject',
        lines: ['organizations.mail.by', 'organizations.mail.text'],
        button: { text: 'organizations.mail.open', url: 'url' },
        after: ['organizations.mail.left'],
        note: 'organizations.mail.ignore',
      })
      keepOwners(kernel, plugin)
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
