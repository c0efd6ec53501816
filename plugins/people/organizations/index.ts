/** Organizations with members, teams, roles, invitations and domains. */
import type { AnyContext, Guard, Plugin } from 'authkernel/kernel'
import type {} from 'authkernel/plugins/api-keys'
import { activateAtSignIn, activeCookie, seatOfKey, withActive } from './active.ts'
import { organizationActs, type OrganizationsApi } from './api.ts'
import { can } from './can.ts'
import { keepOwners } from './deleted-users.ts'
import { addForms } from './forms.ts'
import { messages } from './messages.ts'
import { insideMessages } from './messages-inside.ts'
import { type OrganizationsOptions, settle } from './options.ts'
import { addPages, opened } from './pages.ts'
import { guardProviders, homeRealm } from './realm.ts'
import type { PermissionOf, Statements } from './roles.ts'
import { addRoutes, type OrganizationClient } from './routes.ts'
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

export type { ActiveOrganization } from './active.ts'
export type { NewOrganization, Organization, OwnOrganization } from './acts.ts'
export type { DomainActs, OrganizationActs, OrganizationsApi, TeamActs } from './api.ts'
export type { CanWhere } from './can.ts'
export type { By } from './desk.ts'
export type { Domain, DomainClaim } from './domains.ts'
export * from './errors.ts'
export type { Invitation, NewInvitation } from './invitations.ts'
export type { Member, MemberPage, MemberSearch } from './members.ts'
export type { DomainOptions, OrganizationLimits, OrganizationsOptions } from './options.ts'
export type { PermissionOf, RoleRights, Statements } from './roles.ts'
export type { OrganizationClient, OrganizationMethods } from './routes.ts'
export type { ActiveRow, ClaimRow, DomainRow, InvitationRow, MemberRow, OrganizationRow, TeamMemberRow, TeamRow } from './tables.ts'
export type { Team, TeamMember } from './teams.ts'
export type { OrganizationAct, OrganizationChange } from './told.ts'

declare module 'authkernel/kernel' {
  interface Hooks {
    /** Whether an invitation that somebody sent still counts; asked when it is opened and accepted. Bans of `adminPlugin` answer it. */
    invitation: Guard<{ organizationId: string; inviterId: string; email: string; role: string }, AnyContext>
  }
}

/**
 * Puts `auth.can` and `auth.organizations` on `auth`, adds pages, `client.organizations` and the service `homeRealm`. Needs an adapter with `getUser` and
 * `getUserByEmail`, the services `records` and `limit`, and a mail transport. Throws AuthError for options of the wrong shape.
 */
export function organizationsPlugin<const S extends Statements = Record<never, never>>(
  options: OrganizationsOptions<S> = {},
): Plugin<OrganizationsApi<PermissionOf<S>> & OrganizationClient> {
  const settled = settle(options as OrganizationsOptions)
  return {
    name: 'organizations',
    requires: ['store', 'records', 'limit', 'mail', 'mailTransport', 'store:getUser', 'store:getUserByEmail'],
    setup(kernel) {
      const desk = { kernel, options: settled }
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
      activateAtSignIn(kernel, desk)
      kernel.pending(opened)
      kernel.decorate('session', (inner) => withActive(desk, inner))
      kernel.hook('keyOrganization', (question) => seatOfKey(desk, question), { of: 'api-keys' })
      kernel.provide('homeRealm', homeRealm(desk), { fallback: true })
      if (options.domains?.own) guardProviders(kernel, desk)
      kernel.messages(messages)
      kernel.messages(insideMessages)
      kernel.mailTemplate('organizations.invitation', {
        subject: 'organizations.mail.subject',
        lines: ['organizations.mail.by', 'organizations.mail.text'],
        button: { text: 'organizations.mail.open', url: 'url' },
        after: ['organizations.mail.left'],
        note: 'organizations.mail.ignore',
      })
      keepOwners(kernel, desk)
      addForms(kernel, desk)
      addPages(kernel, desk)
      return {
        can: (who, permission, where = {}) => can(desk, who, permission, where),
        organizations: organizationActs(desk),
        ...addRoutes(kernel, desk),
      }
    },
  }
}
