/** What the types oauth and oidc have in common: all but their names. */
import { OAuthAccountNotLinked, type ProviderFlow } from 'authkernel/kernel'
import { finish } from './finish.ts'
import { start } from './start.ts'
import type { OAuthProvider } from './types.ts'
import { validate } from './validate.ts'

/** The flow of both types. */
export const oauthFlow: ProviderFlow<OAuthProvider> = {
  // form_post arrives from the provider's origin; the state proves whose answer it is (row 67).
  callback: { POST: 'crossSite' },
  env: { clientId: 'ID', clientSecret: 'SECRET', issuer: 'ISSUER' },
  notLinked: (message) => new OAuthAccountNotLinked(message),
  validate,
  start,
  finish,
}
