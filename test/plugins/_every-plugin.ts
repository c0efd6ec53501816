/** An app with every plugin that has routes, records or an API: what walks over all of them begin with. */
import { readdirSync } from 'node:fs'
import { createAuth } from 'authkernel'
import type { Auth, AuthConfig, Kernel, MailMessage, Plugin } from 'authkernel/kernel'
import { type AccountsApi, accountsPlugin } from 'authkernel/plugins/accounts'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { addressPlugin } from 'authkernel/plugins/address'
import { type AdmissionApi, admissionPlugin } from 'authkernel/plugins/admission'
import { type AdminApi, adminPlugin } from 'authkernel/plugins/admin'
import { agentsPlugin } from 'authkernel/plugins/agents'
import { type ApiKeysApi, apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { auditPlugin, recordsSink } from 'authkernel/plugins/audit'
import { authorizationServerPlugin } from 'authkernel/plugins/authorization-server'
import { bearerPlugin } from 'authkernel/plugins/bearer'
import { codesPlugin, email } from 'authkernel/plugins/codes'
import { idTokenPlugin } from 'authkernel/plugins/id-token'
import { lastUsedPlugin } from 'authkernel/plugins/last-used'
import { deviceFlowPlugin } from 'authkernel/plugins/device-flow'
import { deviceSessionsPlugin } from 'authkernel/plugins/device-sessions'
import { guestPlugin } from 'authkernel/plugins/guest'
import { type ImpersonationApi, impersonationPlugin } from 'authkernel/plugins/impersonation'
import { type JwtApi, jwtPlugin } from 'authkernel/plugins/jwt'
import { memoryAdapter, type MemoryData, memoryData } from 'authkernel/plugins/memory'
import { multiSessionPlugin } from 'authkernel/plugins/multi-session'
import { revocationFeedPlugin } from 'authkernel/plugins/revocation-feed'
import { noticesPlugin } from 'authkernel/plugins/notices'
import { type OrganizationsApi, organizationsPlugin } from 'authkernel/plugins/organizations'
import { passwordsPlugin } from 'authkernel/plugins/passwords'
import { portalPlugin } from 'authkernel/plugins/portal'
import { phonePlugin } from 'authkernel/plugins/phone'
import { providerTokensPlugin } from 'authkernel/plugins/provider-tokens'
import { samlPlugin } from 'authkernel/plugins/saml'
import { sharedSignalsPlugin } from 'authkernel/plugins/shared-signals'
import { singleLogoutPlugin } from 'authkernel/plugins/single-logout'
import { ssoPlugin } from 'authkernel/plugins/sso'
import { type ScimApi, scimPlugin } from 'authkernel/plugins/scim'
import { stepUpPlugin } from 'authkernel/plugins/step-up'
import { type TwoFactorApi, twoFactorPlugin } from 'authkernel/plugins/two-factor'
import { usernamesPlugin } from 'authkernel/plugins/usernames'
import passkey from 'authkernel/providers/passkey'
import { baseConfig } from '../_setup.ts'

/** Plugins that are in no walk, and why. */
export const notWalked: Readonly<Record<string, string>> = {
  'authjs-compat': 'names of another product, no routes and no rows',
  'better-auth-compat': 'reads the tables of another product, no routes',
  'next-auth-4-compat': 'names, keys and answers of another product, no rows; its one route takes a line of a log and stores nothing',
  import: 'reads exports of other products for the command line, no routes',
  'encrypt-tokens': 'wraps an adapter',
  'hash-session-tokens': 'wraps an adapter',
  captcha: 'only refuses',
  cleanup: 'a timer',
  debug: 'only looks',
  dev: 'for development alone: its panel signs in as any user',
  health: 'only looks, and says 503 where a walk breaks something on purpose',
  limits: 'only refuses, and would end the walk',
  memory: 'the adapter',
  records: 'the adapter brings records',
  redis: 'session stores beside the adapter',
  sql: 'another adapter',
  telemetry: 'only looks',
  tenants: 'added by the walk of tenants',
  unstorage: 'another adapter',
}
/** Names of all plugins of this package. */
export const allPlugins: readonly string[] = [
  'adapters',
  'evidence',
  'federation',
  'hosting',
  'machines',
  'pages',
  'people',
  'security',
  'sessions',
  'sign-in',
]
  .flatMap((group) => readdirSync(new URL(`../../plugins/${group}`, import.meta.url), { withFileTypes: true }))
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)

const clients: { id: string; secret: string; audiences: string[] }[] = [
  { id: 'api', secret: 's'.repeat(32), audiences: ['https://api.example'] },
]
const apps: { id: string; name: string; redirectUris: string[]; scopes: string[] }[] = [
  { id: 'app', name: 'App', redirectUris: ['http://127.0.0.1/cb'], scopes: ['read'] },
]
const partners = [
  { client_id: 'partner', client_name: 'Partner', client_secret: 's'.repeat(32), redirect_uris: ['https://partner.example/cb'] },
]

export type Everything = Auth<
  AccountsApi & AdminApi & AdmissionApi & ApiKeysApi & ImpersonationApi & JwtApi & OrganizationsApi & ScimApi & TwoFactorApi
>
export interface Made {
  auth: Everything
  data: MemoryData
  store: ReturnType<typeof memoryAdapter>
  mails: MailMessage[]
  /** Ids of those who may do what administrators do. */
  admins: Set<string>
  kernel: Kernel
}

/** `more`: plugins of the walk. */
export function everything(
  config: AuthConfig = {},
  { data = memoryData(), more = [] }: { data?: MemoryData; more?: readonly Plugin[] } = {},
): Made {
  const store = memoryAdapter(data)
  const mails: MailMessage[] = []
  const admins = new Set(['root'])
  let inside: Kernel | undefined
  const probe: Plugin = {
    name: 'probe',
    setup(kernel) {
      inside = kernel
      kernel.provide('mailTransport', { send: (mail) => void mails.push(mail) })
    },
  }
  const base = baseConfig({
    session: { strategy: 'database' },
    // Else the walk would end at a limit.
    throttle: false,
    providers: [
      {
        id: 'credentials',
        name: 'Name',
        type: 'credentials',
        authorize: ({ user }: Record<string, unknown>) => (typeof user === 'string' ? { id: user, name: user } : null),
      },
      passkey(),
      { id: 'orbit', name: 'Orbit', type: 'oidc', issuer: 'https://orbit.example', clientId: 'c', clientSecret: 's' },
    ],
    experimental: { enableWebAuthn: true },
    ...config,
  })
  const auth = createAuth(base)
    .use(adapterPlugin(store))
    .use(probe)
    .use(accountsPlugin({ routes: true, accountSection: true }))
    .use(addressPlugin())
    .use(apiKeysPlugin({ routes: true, accountSection: true }))
    .use(agentsPlugin({ scopes: ['read'] }))
    .use(jwtPlugin({ audiences: ['https://api.example'], routes: true, introspection: { clients } }))
    .use(bearerPlugin({ apps }))
    .use(
      authorizationServerPlugin({
        clients: partners,
        resources: [{ resource: 'https://api.example', scopes: ['read'] }],
        registration: {},
        device: {},
        ciba: {},
        organizationClients: { scopes: ['read'] },
      }),
    )
    .use(deviceFlowPlugin({ apps: ['app'] }))
    .use(providerTokensPlugin())
    .use(singleLogoutPlugin())
    .use(samlPlugin())
    .use(sharedSignalsPlugin({ providers: { orbit: { revoke: true, experimentalGlobalTokenRevocation: true } } }))
    .use(stepUpPlugin())
    .use(passwordsPlugin({ breached: false }))
    .use(usernamesPlugin())
    .use(codesPlugin({ via: email() }))
    .use(phonePlugin({ send: () => {} }))
    .use(lastUsedPlugin())
    .use(idTokenPlugin({ providers: { orbit: { audiences: ['c'] } } }))
    .use(twoFactorPlugin())
    .use(deviceSessionsPlugin({ bind: 'optional' }))
    .use(guestPlugin())
    .use(multiSessionPlugin())
    .use(revocationFeedPlugin())
    .use(noticesPlugin())
    .use(auditPlugin({ sink: recordsSink() }))
    .use(adminPlugin({ can: ({ admin }) => admins.has(admin.id ?? ''), pages: true }))
    .use(admissionPlugin({ mode: 'open', can: ({ admin }) => admins.has(admin.id ?? ''), pages: true }))
    .use(impersonationPlugin({ can: ({ admin }) => admins.has(admin.id ?? '') }))
    .use(organizationsPlugin({ domains: { isPublicSuffix: () => false, resolveTxt: () => Promise.resolve([]) } }))
    .use(ssoPlugin())
    .use(portalPlugin())
    .use(scimPlugin({ bulk: 10 })) as unknown as Everything
  for (const plugin of more) auth.use(plugin)
  return { auth, data, store, mails, admins, kernel: inside! }
}
