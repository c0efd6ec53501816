/** SCIM 2.0 (RFC 7643, RFC 7644): directories of organizations create, change and remove users. */
import type { Plugin } from 'authkernel/kernel'
import type {} from 'authkernel/plugins/organizations'
import { forgetDeletedUsers, refuseInactive } from './access.ts'
import { createApi, type ScimApi } from './methods.ts'
import { endWithOrganization } from './directories.ts'
import { provideImports } from './directory-import.ts'
import { resolveOptions, type ScimOptions } from './options.ts'
import { addPortalSection } from './pages.ts'
import { addRoutes } from './routes.ts'
import {
  callTable,
  clientTable,
  directoryTable,
  scimEmailTable,
  scimGroupTable,
  scimMemberTable,
  scimUserTable,
  tokenTable,
} from './tables.ts'

export type { ScimCall } from './calls.ts'
export type { ScimClient } from './clients.ts'
export type { DirectoryTaken, ScimGroupTaken, ScimMemberTaken, ScimTokenTaken, ScimUserTaken } from './directory-import.ts'
export type { Dialect } from './dialects.ts'
export type { Directory, NewDirectory } from './directories.ts'
export type { DifferenceKind, DifferencePage, ScimDifference } from './differences.ts'
export { ScimError, type ScimErrorType } from './errors.ts'
export type { ScimAct, ScimChange } from './events.ts'
export type { OfPage, ScimApi } from './methods.ts'
export type { ResyncedDifference, ResyncReport } from './resync.ts'
export type { DirectoryRules, ScimOptions } from './options.ts'
export { defineAttribute, type ScimAttribute, type ScimSchema } from './schemas.ts'
export type { CallRow, DirectoryRow, ScimEmailRow, ScimGroupRow, ScimClientRow, ScimMemberRow, ScimUserRow, TokenRow } from './tables.ts'
export type { CreatedToken, ScimToken, TokenScope } from './tokens.ts'

/**
 * Serves `/scim/v2` and puts `auth.scim` on `auth`. Needs organizationsPlugin, an adapter that can create, change and delete users, sessions that can be ended
 * from elsewhere, and `scim2-parse-filter`. Throws AuthError for options of the wrong shape.
 */
export function scimPlugin(options: ScimOptions = {}): Plugin<ScimApi> {
  const resolved = resolveOptions(options)
  return {
    name: 'scim',
    requires: [
      'organizations',
      'records',
      'limit',
      'session:revoke:user',
      'store:getUser',
      'store:getUserByEmail',
      'store:createUser',
      'store:updateUser',
      'store:deleteUser',
    ],
    setup(kernel) {
      kernel.declareEvent('scimChanged')
      kernel.records('scimDirectory', directoryTable)
      kernel.records('scimToken', tokenTable)
      kernel.records('scimClient', clientTable)
      kernel.records('scimUser', scimUserTable)
      kernel.records('scimEmail', scimEmailTable)
      kernel.records('scimGroup', scimGroupTable)
      kernel.records('scimMember', scimMemberTable)
      kernel.records('scimCall', callTable)
      provideImports(kernel, resolved)
      // From the answer to `active: false` no process serves the user for longer than a second.
      kernel.provide('sessionFreshness', { seconds: 0.5 })
      refuseInactive(kernel)
      forgetDeletedUsers(kernel)
      endWithOrganization(kernel)
      addRoutes(kernel, resolved)
      addPortalSection(kernel, resolved)
      return { scim: createApi(kernel, resolved) }
    },
  }
}
