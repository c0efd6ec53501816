/** What the types oauth and oidc have in common: all but their names. */
import { type Kernel, lazily, type OAuthService, type OIDCConfig, type Profile, type ProviderFlow } from 'authkernel/kernel'
import { OAuthAccountNotLinked } from 'authkernel/errors'
import { unverifiedJwt } from 'authkernel/kernel/protocols'
import { registerCheckCookies } from './pending-flows.ts'
import type { OAuthProvider } from './provider.ts'
import { declareDenials } from './tables.ts'

// Loaded by the first sign-in, with oauth4webapi: a session read needs none of it.
const load = /* @__PURE__ */ lazily(() => import('./work.ts'))
// Loaded with the first provider of either type.
const loadConfigured = /* @__PURE__ */ lazily(() => import('./configured.ts'))

type ConfiguredModule = typeof import('./configured.ts')

/** A record, so that the compiler finds what is missing. */
const optionNames: Record<Exclude<keyof OIDCConfig, symbol>, true> = {
  id: true,
  name: true,
  type: true,
  signinUrl: true,
  callbackUrl: true,
  clientId: true,
  clientSecret: true,
  issuer: true,
  wellKnown: true,
  jwks_endpoint: true,
  authorization: true,
  token: true,
  userinfo: true,
  scope: true,
  checks: true,
  profile: true,
  account: true,
  allowDangerousEmailAccountLinking: true,
  trustEmail: true,
  emailVerified: true,
  emailVerifiedStrings: true,
  updateAccount: true,
  authorizationParams: true,
  style: true,
  client: true,
  redirectProxyUrl: true,
  callbackPath: true,
  pushedAuthorization: true,
  securityProfile: true,
  dpop: true,
  signedRequest: true,
  resource: true,
  claims: true,
  max_age: true,
  acr_values: true,
  decryptionKey: true,
  callback: true,
  issuerOf: true,
  discoveryIssuer: true,
  idToken: true,
  trustAssurance: true,
  options: true,
}

/** The flow of both types. */
export const oauthFlow: ProviderFlow<OAuthProvider> = {
  // form_post arrives from the provider's origin; the state proves whose answer it is (row 67).
  callback: { POST: 'crossSite' },
  env: { clientId: 'ID', clientSecret: 'SECRET', issuer: 'ISSUER' },
  options: optionNames,
  notLinked: (message) => new OAuthAccountNotLinked(message),
  provesAddress: ({ trustEmail }) => trustEmail === true || (Array.isArray(trustEmail) && trustEmail.length > 0),
  // Providers are validated before the first request.
  vouches: (...given) => (loadConfigured() as ConfiguredModule).vouchesForEmail(...given),
  validate: async (...given) => (await loadConfigured()).validateProvider(...given),
  start: async (ctx, provider) => (await load()).startOAuthSignIn(ctx, provider),
  finish: async (ctx, provider) => (await load()).finishOAuthSignIn(ctx, provider),
  // Only an ID token says which session it belongs to; elsewhere a claim of that name means something else.
  namesIn: ({ type, id_token: token }, profile) => (type === 'oidc' && profile ? sessionNames(profile, token) : {}),
  stepUp: async (...given) => (await load()).startStepUp(...given),
}

/** The profile may come from userinfo, which knows no session; the ID token was validated. */
function sessionNames(profile: Profile, token: string | undefined): { sub?: string; sid?: string } {
  const fieldOf = (key: 'sub' | 'sid', value: unknown): object => (typeof value === 'string' && value !== '' ? { [key]: value } : {})
  return { ...fieldOf('sub', profile.sub), ...fieldOf('sid', profile['sid'] ?? (token && unverifiedJwt(token)?.claims['sid'])) }
}

/** The same object for both plugins, so that the kernel sees one candidate. */
const service: OAuthService = {
  metadata: async (...given) => (await load()).oauthService.metadata(...given),
  named: async (ctx, ...given) => (await load()).oauthService.named?.(ctx, ...given) ?? given[2],
  refresh: async (...given) => (await load()).oauthService.refresh(...given),
  request: async (...given) => (await load()).oauthService.request(...given),
  verify: async (...given) => (await load()).oauthService.verify(...given),
  fetch: async (...given) => (await load()).oauthService.fetch(...given),
  revoke: async (...given) => (await load()).oauthService.revoke(...given),
}

/** Cookies of pending flows, and the service `oauth`. */
export function registerOAuth(kernel: Kernel): void {
  registerCheckCookies(kernel)
  declareDenials(kernel)
  kernel.provide('oauth', service, { fallback: true })
  kernel.preload(async () => load())
}
