/** Metadata of the server (RFC 8414, OpenID Connect Discovery 1.0) and of its resources (RFC 9728). */
import { proofAlgorithms } from 'authkernel/jwt'
import type { Context } from 'authkernel/kernel'
import { clientAlgorithms } from './client-metadata.ts'
import { jwtBearerGrant } from './assertion-grant.ts'
import { deviceGrantType } from './device-request.ts'
import { assertionTokenType } from './identity-assertion-issue.ts'
import { certificateMethods } from './mutual-tls.ts'
import { openidScopes, type Resource, type ResolvedOptions } from './options.ts'
import { acrValues } from './claims-request.ts'

/** Members of the server's metadata. The issuer is the address of the routes: origin and base path. */
export function serverMetadata(ctx: Context, options: ResolvedOptions): Record<string, unknown> {
  const { base } = ctx
  const methods = ['client_secret_basic', 'client_secret_post', 'private_key_jwt', ...certificateMethods(options.mutualTls)]
  const scopes = [...openidScopes, ...[...options.resources.values()].flatMap((resource) => resource.scopes)]
  return {
    issuer: base,
    authorization_endpoint: `${base}/oauth2/authorize`,
    token_endpoint: `${base}/oauth2/token`,
    userinfo_endpoint: `${base}/oauth2/userinfo`,
    jwks_uri: `${ctx.origin}/.well-known/jwks.json`,
    revocation_endpoint: `${base}/oauth2/revoke`,
    introspection_endpoint: `${base}/oauth2/introspect`,
    pushed_authorization_request_endpoint: `${base}/oauth2/par`,
    end_session_endpoint: `${base}/oauth2/logout`,
    ...(options.registration && { registration_endpoint: `${base}/oauth2/register` }),
    scopes_supported: [...new Set(scopes)],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: grantTypesOf(ctx, options),
    ...(options.device && { device_authorization_endpoint: `${base}/oauth2/device_authorization` }),
    ...(options.ciba && {
      backchannel_authentication_endpoint: `${base}/oauth2/bc-authorize`,
      backchannel_token_delivery_modes_supported: ['poll', 'ping'],
      backchannel_authentication_request_signing_alg_values_supported: clientAlgorithms,
      backchannel_user_code_parameter_supported: options.ciba.checkUserCode !== undefined,
    }),
    token_endpoint_auth_methods_supported: ['none', ...methods],
    token_endpoint_auth_signing_alg_values_supported: clientAlgorithms,
    revocation_endpoint_auth_methods_supported: ['none', ...methods],
    introspection_endpoint_auth_methods_supported: methods,
    code_challenge_methods_supported: ['S256'],
    dpop_signing_alg_values_supported: [...proofAlgorithms],
    subject_types_supported: options.pairwiseSalt === undefined ? ['public'] : ['public', 'pairwise'],
    id_token_signing_alg_values_supported: ctx.service('signingKeys').algorithms,
    userinfo_signing_alg_values_supported: ctx.service('signingKeys').algorithms,
    introspection_signing_alg_values_supported: ctx.service('signingKeys').algorithms,
    ...(options.mutualTls && { tls_client_certificate_bound_access_tokens: true }),
    claims_supported: ['sub', 'iss', 'aud', 'exp', 'iat', 'auth_time', 'acr', 'amr', 'sid', 'name', 'picture', 'email', 'email_verified'],
    acr_values_supported: Object.values(acrValues),
    prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
    authorization_response_iss_parameter_supported: true,
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,
    frontchannel_logout_supported: true,
    frontchannel_logout_session_supported: true,
    request_parameter_supported: true,
    request_uri_parameter_supported: true,
    require_request_uri_registration: true,
    request_object_signing_alg_values_supported: clientAlgorithms,
    claims_parameter_supported: true,
    ...(options.authorizationDetails.size > 0 && { authorization_details_types_supported: [...options.authorizationDetails.keys()] }),
    ...(options.assertions.issueTo.size > 0 && { identity_chaining_requested_token_types_supported: [assertionTokenType] }),
    ...(options.assertions.trust.size > 0 && { authorization_grant_profiles_supported: ['urn:ietf:params:oauth:grant-profile:id-jag'] }),
    ...(options.clientDocuments && { client_id_metadata_document_supported: true }),
  }
}

/** Token exchange is there with a policy alone. */
function grantTypesOf(ctx: Context, { assertions, ciba, device }: ResolvedOptions): string[] {
  const exchange =
    ctx.has('hook', 'tokenExchange') || assertions.issueTo.size > 0 ? ['urn:ietf:params:oauth:grant-type:token-exchange'] : []
  const backchannel = ciba ? ['urn:openid:params:grant-type:ciba'] : []
  return [
    'authorization_code',
    'refresh_token',
    'client_credentials',
    ...exchange,
    ...(assertions.trust.size > 0 ? [jwtBearerGrant] : []),
    ...backchannel,
    ...(device ? [deviceGrantType] : []),
  ]
}

/** Members of the metadata of one resource, from which clients find this server. */
export function resourceMetadata(ctx: Context, { resource, name, scopes }: Resource): Record<string, unknown> {
  return {
    resource,
    resource_name: name,
    authorization_servers: [ctx.base],
    scopes_supported: scopes,
    bearer_methods_supported: ['header'],
    dpop_signing_alg_values_supported: [...proofAlgorithms],
  }
}

/** Where the metadata of a resource is (RFC 9728 section 3.1): the path of the resource comes after the well-known one. */
export function resourceMetadataPath({ resource }: Pick<Resource, 'resource'>): `/${string}` {
  const { pathname } = new URL(resource)
  return `/.well-known/oauth-protected-resource${pathname === '/' ? '' : pathname}`
}
