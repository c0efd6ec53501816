/** The issuer of a token, where each token may name another (Entra: one per tenant). */
import type { AuthorizationServer } from 'oauth4webapi'
import type { JsonObject, OAuthProvider } from './types.ts'

/** The one that a token with these claims must name. Throws what `issuerOf` of the provider throws. */
export function issuerFor(provider: OAuthProvider, server: AuthorizationServer, claims: Readonly<JsonObject>): string {
  if (provider.type !== 'oidc' || !provider.issuerOf) return server.issuer
  return provider.issuerOf(claims, { id: provider.id, issuer: provider.issuer })
}

/**
 * A name that an issuer gave to a person, an account or a session, as it is kept: where a provider has several issuers, the same name of two of them
 * means two. The names of the issuer that the provider is configured with stay as they are.
 */
export function namedBy(provider: OAuthProvider, issuer: unknown, name: string): string {
  if (provider.type !== 'oidc' || !provider.issuerOf || typeof issuer !== 'string') return name
  // An issuer has no fragment (OpenID Connect Core section 2), and an own name must not look like one of another issuer.
  return issuer === provider.issuer && !name.includes('#') ? name : `${issuer}#${name}`
}
