/** Companies sign in with their own identity provider: connections per organization, routing by domain, policies that demand them. */
import type { Plugin } from 'authkernel/kernel'
import type {} from 'authkernel/plugins/organizations'
import { connectionTarget } from './connection-import.ts'
import { addEnforcement } from './enforce.ts'
import { addFollowers } from './followers.ts'
import { addGuard } from './guard.ts'
import { messages } from './messages.ts'
import { fixMessages } from './messages-fixes.ts'
import { addClientMethods, createApi, type SsoApi, type SsoClient } from './methods.ts'
import { resolveOptions, type SsoOptions } from './options.ts'
import { addPages } from './pages.ts'
import { findConnection, findProvider } from './provider.ts'
import { answerHomeRealm } from './routing.ts'
import { addLog } from './sign-ins.ts'
import { createService } from './service.ts'
import { connectionTable, hostDomainTable, noticeTable, policyTable, signInTable, trialTable } from './tables.ts'
import { addTrials } from './trials.ts'
import { addUpkeep } from './certificate-warnings.ts'

export type { By } from './actor.ts'
export type { ConnectionTaken } from './connection-import.ts'
export type { Connection } from './connections.ts'
export { NoSuchConnection, SsoInput, SsoRefused, SsoRequired, SsoStepUp } from './errors.ts'
export type { ConnectionBasics, ConnectionChange, NewConnection, NewDraft, NewOidcConnection, NewSamlConnection } from './input.ts'
export type { Attributes, MappedUser } from './mapping.ts'
export type { ConnectionTest, SsoApi, SsoClient } from './methods.ts'
export type { SsoOptions } from './options.ts'
export type { NewPolicy, Policy, PolicyReport } from './policies.ts'
export type { LoggedSignIn, SignInPage } from './sign-ins.ts'
export type { AttributeMapping, FormerConnection, OidcSettings, RoleMapping, SamlSettings } from './tables.ts'
export type { ConnectionCheck } from './test-connection.ts'
export type { ConnectionCertificate } from './certificates.ts'
export type { FailureCause } from './explain.ts'
export type { OrganizationSso, SsoService } from './service.ts'
export type { Trial } from './trials.ts'
export type { TrialCheck, TrialReport } from './trial-report.ts'

/**
 * Adds `auth.sso`, the providers `sso-<connection>`, the page `/sso/start` and `client.sso`. Connections of organizations need `organizationsPlugin`.
 * Throws AuthError for options of the wrong shape.
 */
export function ssoPlugin(options: SsoOptions = {}): Plugin<SsoApi & SsoClient> {
  const resolved = resolveOptions(options)
  return {
    name: 'sso',
    requires: ['records', 'store', 'limit', 'publicFetch'],
    prefers: ['session:attributes', 'session:list'],
    setup(kernel) {
      kernel.records('ssoConnection', connectionTable)
      kernel.records('ssoDomain', hostDomainTable)
      kernel.records('ssoPolicy', policyTable)
      kernel.records('ssoSignIn', signInTable)
      kernel.records('ssoTrial', trialTable)
      kernel.records('ssoNotice', noticeTable)
      kernel.messages(messages)
      kernel.messages(fixMessages)
      kernel.hook('provider', ({ id, ctx }) => findProvider(ctx, id))
      kernel.hook('homeRealm', ({ identifier, ctx }) => answerHomeRealm(ctx, identifier))
      kernel.hook('providerOrganization', async ({ provider, ctx }) => (await findConnection(ctx, provider))?.organizationId || undefined, {
        of: 'organizations',
      })
      kernel.provide('connectionImport', connectionTarget())
      // Before the guard: a test ends where a sign-in would be refused.
      addTrials(kernel)
      addGuard(kernel)
      addEnforcement(kernel)
      addFollowers(kernel)
      addLog(kernel, resolved)
      addUpkeep(kernel)
      kernel.provide('sso', createService(resolved))
      addPages(kernel)
      addClientMethods(kernel, resolved)
      return { sso: createApi(kernel, resolved) }
    },
  }
}
