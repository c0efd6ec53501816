/** What OAuth clients and resource servers need to know (RFC 8414). */
import { type Context, HttpError } from 'authkernel/kernel'
import { jwtIssuer, type ResolvedOptions } from './options.ts'

export const metadataPath = '/.well-known/oauth-authorization-server'

/** Members of this plugin, also for the metadata of a plugin with a token endpoint. */
export function metadataMembers(ctx: Context, { introspection }: ResolvedOptions): Record<string, unknown> {
  return {
    jwks_uri: `${ctx.origin}/.well-known/jwks.json`,
    ...(introspection && {
      introspection_endpoint: `${ctx.base}/jwt/introspect`,
      introspection_endpoint_auth_methods_supported: [
        ...(introspection.clients?.length ? ['client_secret_basic', 'client_secret_post'] : []),
        // RFC 8414 section 2: a value of the registry of access token types.
        ...(introspection.apiKey ? ['Bearer'] : []),
      ],
    }),
  }
}

/** The whole document where no plugin has a token endpoint: there is nothing to sign in with, and keys and introspection are found all the same. */
export function wholeMetadata(ctx: Context, options: ResolvedOptions): Response {
  const issuer = jwtIssuer(ctx, options)
  // RFC 8414 section 3.3: the issuer is the one that the address names.
  if (issuer !== issuerAt(ctx)) throw new HttpError(404, `The issuer is ${issuer}.`)
  const members = { issuer, ...metadataMembers(ctx, options), response_types_supported: [], grant_types_supported: [] }
  return new Response(JSON.stringify(members), { headers: { 'Content-Type': 'application/json' } })
}

/** RFC 8414 section 3.1: the path of the issuer comes after the well-known one. */
function issuerAt(ctx: Context): string {
  return ctx.origin + ctx.url.pathname.slice(metadataPath.length)
}
