/** The issuer of a token, where each token may name another (Entra: one per tenant). */
import type { AuthorizationServer } from 'oauth4webapi'
import type { JsonObject, OAuthProvider } from './types.ts'

/** The one that a token with these claims must name. Throws what `issuerOf` of the provider throws. */
export function issuerFor(provider: OAuthProvider, server: AuthorizationServer, claims: Readonly<JsonObject>): string {
  if (provider.type !== 'oidc' || !provider.issuerOf) return server.issuer
  return provider.issuerOf(claims, { id: provider.id, issuer: provider.issuer })
}
