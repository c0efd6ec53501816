/** What a provider's options demand beyond OpenID Connect Core: bound tokens, certificates, the FAPI 2.0 Security Profile. */
import { allowInsecureRequests } from 'authkernel/kernel'
import { authorizationOf, tokenOf, userinfoOf } from './endpoints.ts'
import type { OAuthProvider } from './types.ts'

/** How proofs of possession are signed. */
export type DPoPAlgorithm = 'ES256' | 'Ed25519'

const dpopAlgorithms: readonly unknown[] = [undefined, true, false, 'ES256', 'Ed25519']
const certificateMethods: readonly unknown[] = ['tls_client_auth', 'self_signed_tls_client_auth']
/** What FAPI 2.0 Security Profile section 5.4 leaves; both names of EdDSA with Ed25519 (RFC 9864). */
export const fapiAlgorithms: readonly string[] = ['PS256', 'ES256', 'EdDSA', 'Ed25519']
const maxSeconds = 1_000_000_000

/** Whether the FAPI 2.0 Security Profile holds. */
export function isFapi({ profile, securityProfile }: OAuthProvider): boolean {
  return profile === 'fapi2' || securityProfile === 'fapi2'
}

/** How tokens are bound to a key; undefined: they are not. */
export function dpopOf(provider: OAuthProvider): DPoPAlgorithm | undefined {
  const { dpop = isFapi(provider) && !bindsCertificate(provider) } = provider
  return dpop === true ? 'ES256' : dpop === false ? undefined : dpop
}

/** Whether the client shows a certificate, with the `fetch` of the host (RFC 8705). */
export function usesCertificate(provider: OAuthProvider): boolean {
  return certificateMethods.includes(provider.client?.token_endpoint_auth_method) || bindsCertificate(provider)
}

function bindsCertificate({ client }: OAuthProvider): boolean {
  return client?.['tls_client_certificate_bound_access_tokens'] === true
}

/** Resource indicators of the token request: servers take one there (RFC 8707 section 2.2). */
export function tokenResource({ resource }: OAuthProvider): [string, string][] {
  const [one, ...more] = [resource ?? []].flat()
  return one !== undefined && more.length === 0 ? [['resource', one]] : []
}

/** Calls `fail` with what contradicts itself. */
export function checkStrength(provider: OAuthProvider, fail: (problem: string) => never): void {
  const { dpop, signedRequest, resource, claims, max_age: maxAge, acr_values: classes, decryptionKey, securityProfile, profile } = provider
  const token = tokenOf(provider)
  if (!dpopAlgorithms.includes(dpop)) fail('`dpop` must be true, false, "ES256" or "Ed25519".')
  if (signedRequest !== undefined && typeof signedRequest !== 'boolean') fail('`signedRequest` must be true or false.')
  if (signedRequest && token.clientPrivateKey === undefined)
    fail('`signedRequest` needs a key to sign with. Give it as `token.clientPrivateKey`.')
  if (dpopOf(provider) && token.request !== undefined) fail('`dpop` cannot bind the tokens of a `token.request` of its own.')
  if (dpopOf(provider) && (userinfoOf(provider).token ?? 'header') !== 'header')
    fail('`dpop` sends the access token in a header, and `userinfo.token` says otherwise.')
  for (const one of [resource ?? []].flat() as unknown[])
    if (typeof one !== 'string' || !URL.canParse(one) || one.includes('#'))
      fail(`\`resource\` has ${JSON.stringify(one)}. Write an absolute URI without a fragment.`)
  if (claims !== undefined && (typeof claims !== 'object' || claims === null || Array.isArray(claims)))
    fail('`claims` must be an object such as { id_token: { acr: { essential: true } } }.')
  if (maxAge !== undefined && !(Number.isSafeInteger(maxAge) && maxAge >= 0 && maxAge < maxSeconds))
    fail('`max_age` must be a whole number of seconds.')
  if (classes !== undefined && ![classes].flat().every((one) => typeof one === 'string' && one !== ''))
    fail('`acr_values` must be a text or a list of texts.')
  for (const one of [decryptionKey ?? []].flat() as ({ key?: unknown } | undefined)[])
    if (!isKey(one) && !isKey(one?.key)) fail('`decryptionKey` must be a private CryptoKey, `{ key, kid }`, or a list of these.')
  if (typeof profile === 'string' && profile !== 'fapi2') fail(`\`profile\` is ${JSON.stringify(profile)}. Use "fapi2", or a function.`)
  if (securityProfile !== undefined && securityProfile !== 'fapi2') fail('`securityProfile` must be "fapi2".')
  if (isFapi(provider)) checkFapi(provider, (problem) => fail(`the FAPI 2.0 Security Profile ${problem}`))
}

function checkFapi(provider: OAuthProvider, fail: (problem: string) => never): void {
  const { checks, clientSecret, client = {}, pushedAuthorization, dpop } = provider
  const { clientPrivateKey: given, request } = tokenOf(provider)
  const method = client.token_endpoint_auth_method ?? 'private_key_jwt'
  if (pushedAuthorization === false) fail('needs pushed requests. Leave `pushedAuthorization` out.')
  if (checks && (!checks.includes('pkce') || checks.includes('none'))) fail('needs PKCE. Add "pkce" to `checks`.')
  if (method !== 'private_key_jwt' && !certificateMethods.includes(method))
    fail(`does not permit \`client.token_endpoint_auth_method: "${method}"\`. Use private_key_jwt, or mTLS.`)
  if (clientSecret !== undefined) fail('permits no `clientSecret`. Use `token.clientPrivateKey`, or mTLS.')
  if (dpop === false && !bindsCertificate(provider))
    fail('needs bound tokens. Leave `dpop` out, or set `client.tls_client_certificate_bound_access_tokens: true`.')
  if (request !== undefined) fail('cannot be held with a `token.request` of its own.')
  if (provider[allowInsecureRequests]) fail('needs https. Leave [allowInsecureRequests] out.')
  const signed = client.id_token_signed_response_alg
  if (signed !== undefined && !fapiAlgorithms.includes(signed))
    fail(`does not permit \`client.id_token_signed_response_alg: "${signed}"\`. Use ${fapiAlgorithms.join(', ')}.`)
  const type = authorizationOf(provider).params?.['response_type'] ?? 'code'
  if (type !== 'code') fail('needs the response type code.')
  const key = given === undefined ? undefined : 'key' in given ? given.key : given
  if (method === 'private_key_jwt' && key === undefined) fail('needs `token.clientPrivateKey` (private_key_jwt).')
  if (key !== undefined && !isStrong(key.algorithm))
    fail(`does not permit a key of ${key.algorithm.name}. Use RSA-PSS with SHA-256 and 2048 bits or more, ECDSA P-256, or Ed25519.`)
}

function isStrong(algorithm: KeyAlgorithm): boolean {
  const { name, hash, modulusLength = 0, namedCurve } = algorithm as KeyAlgorithm & Partial<RsaHashedKeyAlgorithm & EcKeyAlgorithm>
  if (name === 'RSA-PSS') return hash?.name === 'SHA-256' && modulusLength >= 2_048
  return name === 'Ed25519' || (name === 'ECDSA' && namedCurve === 'P-256')
}

function isKey(value: unknown): boolean {
  return value instanceof CryptoKey && value.type === 'private'
}
