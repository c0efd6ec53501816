/** Plugins that can be switched on and off while the playground runs, with the options that it gives them. */
import type { Adapter } from 'authkernel'
import type { Plugin } from 'authkernel/kernel'
import { accountsPlugin } from 'authkernel/plugins/accounts'
import { addressPlugin } from 'authkernel/plugins/address'
import { adminPlugin } from 'authkernel/plugins/admin'
import { admissionPlugin } from 'authkernel/plugins/admission'
import { agentsPlugin } from 'authkernel/plugins/agents'
import { apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { auditPlugin } from 'authkernel/plugins/audit'
import { authjsCompatPlugin } from 'authkernel/plugins/authjs-compat'
import { authorizationServerPlugin } from 'authkernel/plugins/authorization-server'
import { bearerPlugin } from 'authkernel/plugins/bearer'
import { betterAuthCompatPlugin } from 'authkernel/plugins/better-auth-compat'
import { altcha, captchaPlugin } from 'authkernel/plugins/captcha'
import { codesPlugin, email as byEmail } from 'authkernel/plugins/codes'
import { idTokenPlugin } from 'authkernel/plugins/id-token'
import { lastUsedPlugin } from 'authkernel/plugins/last-used'
import { cleanupPlugin } from 'authkernel/plugins/cleanup'
import { debugPlugin } from 'authkernel/plugins/debug'
import { devPlugin } from 'authkernel/plugins/dev'
import { deviceFlowPlugin } from 'authkernel/plugins/device-flow'
import { deviceSessionsPlugin } from 'authkernel/plugins/device-sessions'
import { guestPlugin } from 'authkernel/plugins/guest'
import { healthPlugin } from 'authkernel/plugins/health'
import { impersonationPlugin } from 'authkernel/plugins/impersonation'
import { importPlugin } from 'authkernel/plugins/import'
import { jwtPlugin } from 'authkernel/plugins/jwt'
import { limitsPlugin } from 'authkernel/plugins/limits'
import { multiSessionPlugin } from 'authkernel/plugins/multi-session'
import { revocationFeedPlugin } from 'authkernel/plugins/revocation-feed'
import { nextAuth4CompatPlugin } from 'authkernel/plugins/next-auth-4-compat'
import { noticesPlugin } from 'authkernel/plugins/notices'
import { organizationsPlugin } from 'authkernel/plugins/organizations'
import { passwordsPlugin } from 'authkernel/plugins/passwords'
import { phonePlugin } from 'authkernel/plugins/phone'
import { providerTokensPlugin } from 'authkernel/plugins/provider-tokens'
import { samlPlugin } from 'authkernel/plugins/saml'
import { portalPlugin } from 'authkernel/plugins/portal'
import { scimPlugin } from 'authkernel/plugins/scim'
import { sharedSignalsPlugin } from 'authkernel/plugins/shared-signals'
import { singleLogoutPlugin } from 'authkernel/plugins/single-logout'
import { ssoPlugin } from 'authkernel/plugins/sso'
import { stepUpPlugin } from 'authkernel/plugins/step-up'
import { telemetryPlugin } from 'authkernel/plugins/telemetry'
import { tenantsPlugin } from 'authkernel/plugins/tenants'
import { twoFactorPlugin } from 'authkernel/plugins/two-factor'
import { usernamesPlugin } from 'authkernel/plugins/usernames'
import type { Audit } from './audit.ts'
import { foundations } from './foundations.ts'

/** A switch. */
export interface Switch {
  /** File name of its page in docs/plugins. */
  id: string
  /** What it does, in a line. */
  text: string
  /** On when the playground starts. */
  on?: boolean
  make(): Plugin
  /** What takes its place when it is switched off, for what no host can be without. */
  otherwise?(): Plugin
}

/** What the plugins are given of the playground. */
export interface Around {
  audit: Audit
  secret: string
  adapter: Adapter
  /** Where text messages go: the playground has no carrier. */
  text(to: string, message: string): void
}

/** In groups, as the page shows them. `first`: the ways to sign in that the playground begins with. */
export function catalogue(first: readonly Switch[], around: Around): Readonly<Record<string, readonly Switch[]>> {
  const { audit, secret, text } = around
  return {
    'Ways to sign in': [
      ...first,
      {
        id: 'passwords',
        text: 'Registration, sign-in and reset with a password that this server keeps.',
        make: () => passwordsPlugin({ breached: false }),
      },
      {
        id: 'id-token',
        text: 'Native apps sign users in with an ID token of Acme ID.',
        make: () => idTokenPlugin({ providers: { acme: { audiences: ['playground-ios'] } } }),
      },
      { id: 'last-used', text: 'The sign-in page marks the method that this browser used last.', make: () => lastUsedPlugin() },
      { id: 'codes', text: 'A code by mail instead of a link.', make: () => codesPlugin({ via: byEmail() }) },
      {
        id: 'usernames',
        text: 'A name instead of the address, for people with a password.',
        make: () => usernamesPlugin(),
      },
      {
        id: 'phone',
        text: 'A code by text message, which the audit page shows here.',
        make: () => phonePlugin({ send: (message) => text(message.to, message.text) }),
      },
      { id: 'guest', text: 'People begin without signing in; their data goes to the user they become.', make: () => guestPlugin() },
    ],
    Security: [
      { id: 'two-factor', text: 'A second factor after every way to sign in.', make: () => twoFactorPlugin({ issuer: 'Playground' }) },
      { id: 'step-up', text: 'A proof of the last minutes before what matters.', make: () => stepUpPlugin() },
      { id: 'limits', text: 'Limits by route, account, address and network.', make: () => limitsPlugin() },
      { id: 'captcha', text: 'A proof of work before a password is checked or a mail is sent.', make: () => captchaPlugin(altcha()) },
    ],
    People: [
      {
        id: 'accounts',
        text: 'Linked accounts and devices, for the account page.',
        on: true,
        make: () => accountsPlugin({ routes: true }),
      },
      { id: 'address', text: 'People change their mail address, and can take it back.', make: () => addressPlugin() },
      { id: 'notices', text: 'Mails about new browsers, passkeys, accounts and keys.', make: () => noticesPlugin() },
      { id: 'admin', text: 'Search, ban, end sessions. No user is an administrator here.', make: () => adminPlugin({ can: () => false }) },
      { id: 'impersonation', text: 'Act as a user. No user may do it here.', make: () => impersonationPlugin({ can: () => false }) },
      {
        id: 'device-sessions',
        text: 'Sessions know their device: a mail after a sign-in from a new browser, and an end after an hour without a request.',
        make: () => deviceSessionsPlugin({ idle: 3600 }),
      },
      {
        id: 'multi-session',
        text: 'Several accounts in one browser, with a page to switch between them.',
        make: () => multiSessionPlugin(),
      },
      {
        id: 'revocation-feed',
        text: 'Revoked cookies are rejected by every server within five seconds, where sessions are in cookies.',
        make: () => revocationFeedPlugin({ staleness: 5 }),
      },
      {
        id: 'admission',
        text: 'New users need an invitation, and ask for one on a waitlist.',
        make: () => admissionPlugin({ mode: 'waitlist' }),
      },
      { id: 'organizations', text: 'Organizations with roles and invitations.', make: () => organizationsPlugin() },
    ],
    'Identity providers': [
      { id: 'provider-tokens', text: 'Tokens of the provider that stay fresh.', on: true, make: () => providerTokensPlugin() },
      {
        id: 'single-logout',
        text: 'Sign-outs reach the provider, and those of the provider arrive.',
        on: true,
        // "Sign out" ends the session here; the button that leads past `?goodbye` ends the one at Acme ID as well.
        make: () =>
          singleLogoutPlugin({
            providers: { acme: { endSession: ({ callbackUrl }) => new URL(callbackUrl).searchParams.has('goodbye') } },
          }),
      },
      { id: 'saml', text: 'SAML 2.0 of identity providers that organizations bring.', make: () => samlPlugin() },
      { id: 'sso', text: 'Organizations bring their own identity provider.', make: () => ssoPlugin() },
      { id: 'portal', text: 'A link with which the IT of a customer sets up sign-in by itself.', make: () => portalPlugin() },
      { id: 'scim', text: 'Directories of organizations manage users.', make: () => scimPlugin() },
      { id: 'shared-signals', text: 'CAEP and RISC signals of Acme ID.', make: () => sharedSignalsPlugin({ providers: { acme: {} } }) },
    ],
    'Programs and apps': [
      {
        id: 'agents',
        text: 'Agents act for users, with a budget and approvals.',
        make: () => agentsPlugin({ scopes: ['read', 'pay'], approve: ['pay'] }),
      },
      { id: 'api-keys', text: 'Keys for programs.', make: () => apiKeysPlugin({ routes: true }) },
      {
        id: 'jwt',
        text: 'Signed access tokens for other services.',
        make: () => jwtPlugin({ audiences: ['https://api.example'], routes: true }),
      },
      {
        id: 'bearer',
        text: 'Access and refresh tokens for mobile and desktop apps.',
        make: () =>
          bearerPlugin({ apps: [{ id: 'tv', name: 'Playground TV', redirectUris: ['http://127.0.0.1/callback'], scopes: ['watch'] }] }),
      },
      {
        id: 'device-flow',
        text: 'Sign-in with a code for devices without a browser. Needs bearer.',
        make: () => deviceFlowPlugin({ apps: ['tv'], scopes: ['watch'] }),
      },
      {
        id: 'authorization-server',
        text: 'The app as OpenID Provider for partners and AI agents. Needs jwt.',
        make: () =>
          authorizationServerPlugin({
            clients: [{ client_id: 'partner', client_name: 'Playground partner', redirect_uris: ['http://127.0.0.1/callback'] }],
          }),
      },
    ],
    Evidence: [
      {
        id: 'audit',
        text: 'Every event and every refusal, written to the audit page.',
        make: () =>
          auditPlugin({
            sink: (records) => records.forEach(({ name, outcome }) => audit.write(`audit ${name}`, outcome, outcome !== 'success')),
          }),
      },
      {
        id: 'dev',
        text: 'A panel with users, mails, routes, hooks, traces and a clock. Its link is in the terminal.',
        make: () => devPlugin({ development: true }),
      },
      { id: 'health', text: 'Whether the store answers, for probes.', make: () => healthPlugin() },
      { id: 'telemetry', text: 'Spans and metrics by OpenTelemetry.', make: () => telemetryPlugin() },
      { id: 'cleanup', text: 'Removes by a timer what has ended, once a day.', make: () => cleanupPlugin() },
      { id: 'debug', text: 'What a request does, in the console of the server.', make: () => debugPlugin() },
    ],
    Hosting: [
      {
        id: 'tenants',
        text: 'Another tenant for each host name: localhost and 127.0.0.1 have people of their own.',
        make: () =>
          tenantsPlugin({
            settings: (request) => (new URL(request.url).hostname === '127.0.0.1' ? { namespace: 'numbers', secret: [secret] } : undefined),
          }),
      },
      {
        id: 'authjs-compat',
        text: 'Cookies of Auth.js. It signs you out here: the cookies have other names.',
        make: () => authjsCompatPlugin(),
      },
      {
        id: 'better-auth-compat',
        text: 'The cookie of better-auth. It signs you out here.',
        make: () => betterAuthCompatPlugin({ secret }),
      },
      {
        id: 'next-auth-4-compat',
        text: 'Cookies and answers of NextAuth 4. It signs you out here: the cookies have other names.',
        make: () => nextAuth4CompatPlugin(),
      },
      { id: 'import', text: 'Users of other services and libraries, by `npx authkernel migrate --from`.', make: () => importPlugin() },
    ],
    ...foundations(around),
  }
}
