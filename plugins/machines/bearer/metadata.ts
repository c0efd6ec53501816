/** What ordinary OAuth clients need to know (RFC 8414). */
import { proofAlgorithms } from 'authkernel/jwt'
import type { Context } from 'authkernel/kernel'
import { issuerOf, type ResolvedOptions } from './options.ts'

/** Members of the metadata, for the issuer at the origin. */
export function metadataMembers(ctx: Context, options: ResolvedOptions): Record<string, unknown> {
  const scopes = new Set([...options.apps.values()].flatMap((app) => app.scopes))
  return {
    issuer: issuerOf(ctx, options),
    authorization_endpoint: `${ctx.base}/oauth/authorize`,
    token_endpoint: `${ctx.base}/oauth/token`,
    revocation_endpoint: `${ctx.base}/oauth/revoke`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    dpop_signing_alg_values_supported: [...proofAlgorithms],
    ...(scopes.size > 0 && { scopes_supported: [...scopes] }),
  }
}

/**
 * The same for the issuer with the base path, for clients that were given that address. The authorization endpoint learns by `iss` which of the two
 * it answers for, so that `iss` of its answer (RFC 9207) is the issuer that the client knows.
 */
export function metadataOfBase(ctx: Context, members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { authorization_endpoint: endpoint } = members
  return { ...members, issuer: ctx.base, authorization_endpoint: `${String(endpoint)}?iss=${encodeURIComponent(ctx.base)}` }
}
