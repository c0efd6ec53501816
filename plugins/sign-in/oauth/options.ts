/** Mistakes in a provider's options, found before the first request (rows 184, 362, D9). */
import { allowInsecureRequests, isSecureUrl, type ResolvedConfig } from 'authkernel/kernel'
import { InvalidEndpoints } from 'authkernel/errors'
import {
  authorizationOf,
  bindsCertificate,
  certificateMethods,
  dpopOf,
  fapiAlgorithms,
  fillTemplate,
  isFapi,
  templateNames,
  type OAuthProvider,
  responseMode,
  tokenOf,
  userinfoOf,
  wantsUserinfo,
} from './provider.ts'

const clientMethods = ['client_secret_basic', 'client_secret_post', 'client_secret_jwt', 'private_key_jwt', 'none'].concat([
  'tls_client_auth',
  'self_signed_tls_client_auth',
])

const dpopAlgorithms: readonly unknown[] = [undefined, true, false, 'ES256', 'Ed25519']
const maxSeconds = 1_000_000_000

type Fail = (problem: string) => never

/** Throws InvalidEndpoints with provider, option and remedy. */
export function validateProvider(provider: OAuthProvider, _all: unknown, config: ResolvedConfig): void {
  const fail = (problem: string): never => {
    throw new InvalidEndpoints(`Provider "${provider.id}" (${provider.type}): ${problem}`)
  }
  if (!provider.clientId) {
    fail(`\`clientId\` is missing. Give it, or set AUTH_${envName(provider.id)}_ID.`)
  }
  checkUrls(provider, config, fail)
  checkProxy(provider, config, fail)
  checkEndpoints(provider, fail)
  checkChecks(provider, fail)
  checkClient(provider, fail)
  checkTrust(provider, fail)
  checkSecurity(provider, fail)
  const { callbackPath } = provider
  if (callbackPath !== undefined && !(typeof callbackPath === 'string' && /^(?:\/[\w.~-]{1,64}){1,8}$/.test(callbackPath)))
    fail(`\`callbackPath\` is ${JSON.stringify(callbackPath)}. It must be a path below the base path, such as "/sso/callback/acme".`)
  if (provider.pushedAuthorization !== undefined && typeof provider.pushedAuthorization !== 'boolean')
    fail('`pushedAuthorization` must be true or false.')
  const mode = responseMode(provider)
  if (mode !== null && mode !== 'query' && mode !== 'form_post') {
    fail(`\`authorization.params.response_mode\` is ${JSON.stringify(mode)}. Answers are read from the query or from form_post.`)
  }
}

function envName(id: string): string {
  return id.toUpperCase().replaceAll('-', '_')
}

function checkUrls(provider: OAuthProvider, config: ResolvedConfig, fail: Fail): void {
  const names = templateNames(provider)
  const urls: [string, unknown][] = [
    ['issuer', provider.issuer],
    ['wellKnown', provider.wellKnown],
    ['jwks_endpoint', provider.jwks_endpoint],
    ['authorization.url', authorizationOf(provider).url],
    ['token.url', tokenOf(provider).url],
    ['userinfo.url', userinfoOf(provider).url],
    ['redirectProxyUrl', provider.redirectProxyUrl ?? config.redirectProxyUrl],
  ]
  for (const [option, value] of urls) {
    if (value === undefined || value === '') continue
    const text = typeof value === 'string' ? fillTemplate(value, names) : ''
    if (text.includes('{issuer}'))
      fail(`\`issuer\` is missing, and \`${option}\` is made of it. Give it, or set AUTH_${envName(provider.id)}_ISSUER.`)
    const url = URL.canParse(text) ? new URL(text) : fail(`\`${option}\` is ${JSON.stringify(value)}, which is not an absolute URL.`)
    if (url.username !== '' || url.password !== '')
      fail(`\`${option}\` holds a username or password. Use \`clientId\` and \`clientSecret\`.`)
    if (!isSecureUrl(url, option === 'redirectProxyUrl' || provider[allowInsecureRequests])) {
      fail(
        `\`${option}\` is ${url.origin}, which is not https. Use https, or set the imported symbol [allowInsecureRequests]: true if the network is yours.`,
      )
    }
    if (option === 'issuer' && (url.search !== '' || url.hash !== '')) {
      fail('`issuer` has a query or a fragment (OpenID Connect Discovery section 3). Use the value that the provider publishes.')
    }
  }
}

// A deployment that trusts any Host header can be made to name an attacker's host in a state, and the proxy hands the code to it.
function checkProxy(provider: OAuthProvider, config: ResolvedConfig, fail: Fail): void {
  const proxy = provider.redirectProxyUrl ?? config.redirectProxyUrl
  if (proxy === undefined || proxy === '' || config.origin || config.allowedHosts) return
  fail(
    '`redirectProxyUrl` is set, and any Host header would decide where the proxy sends codes. ' +
      'List `allowedHosts` (the hosts of the proxy and of all deployments), or set AUTH_URL (or `origin`) to the public URL of this deployment.',
  )
}

function checkEndpoints(provider: OAuthProvider, fail: Fail): void {
  const token = tokenOf(provider)
  const userinfo = userinfoOf(provider)
  const missing = [
    authorizationOf(provider).url === undefined && 'authorization',
    token.url === undefined && token.request === undefined && 'token',
    wantsUserinfo(provider) && userinfo.url === undefined && userinfo.request === undefined && 'userinfo',
  ].filter((name) => name !== false)
  const discoverable = Boolean(provider.issuer ?? provider.wellKnown)
  if (!discoverable && missing.length > 0) {
    fail(`there is no \`issuer\` and no endpoint for ${missing.join(', ')}. Give the \`issuer\` (or \`wellKnown\`), or all endpoints.`)
  }
  if (provider.type === 'oidc' && !discoverable) {
    fail(
      '`issuer` is missing: ID tokens cannot be checked without it. Give it (or `wellKnown`), or use the type `oauth` if there are no ID tokens.',
    )
  }
}

function checkChecks(provider: OAuthProvider, fail: Fail): void {
  const { checks } = provider
  if (checks === undefined) return
  const known = provider.type === 'oidc' ? ['pkce', 'state', 'nonce', 'none'] : ['pkce', 'state', 'none']
  if (!Array.isArray(checks)) fail(`\`checks\` is not an array. Use some of ${known.join(', ')}.`)
  const unknown = checks.find((check) => !known.includes(check))
  if (unknown !== undefined) {
    const remedy = unknown === 'nonce' ? 'A nonce comes back in an ID token, which this type has not. ' : ''
    fail(`\`checks\` holds ${JSON.stringify(unknown)}. ${remedy}Use some of ${known.join(', ')}.`)
  }
}

function checkClient(provider: OAuthProvider, fail: Fail): void {
  const method = provider.client?.token_endpoint_auth_method
  if (method === undefined) return
  if (!clientMethods.includes(method))
    fail(`\`client.token_endpoint_auth_method\` is ${JSON.stringify(method)}. Use one of ${clientMethods.join(', ')}.`)
  if (method === 'private_key_jwt' && tokenOf(provider).clientPrivateKey === undefined && tokenOf(provider).request === undefined) {
    fail('`client.token_endpoint_auth_method` is private_key_jwt. Give the key as `token.clientPrivateKey`.')
  }
}

function checkTrust({ trustEmail }: OAuthProvider, fail: Fail): void {
  if (trustEmail === undefined || typeof trustEmail === 'boolean') return
  if (!Array.isArray(trustEmail) || !trustEmail.every((domain) => typeof domain === 'string' && /^[^\s@*]+$/.test(domain)))
    fail('`trustEmail` must be true, false or a list of domains such as "example.com".')
}

/** Calls `fail` with what contradicts itself. */
function checkSecurity(provider: OAuthProvider, fail: (problem: string) => never): void {
  const { dpop, signedRequest, resource, claims, max_age: maxAge, acr_values: classes, decryptionKey, securityProfile, profile } = provider
  const token = tokenOf(provider)
  if (!dpopAlgorithms.includes(dpop)) fail('`dpop` must be true, false, "ES256" or "Ed25519".')
  if (signedRequest !== undefined && typeof signedRequest !== 'boolean') fail('`signedRequest` must be true or false.')
  if (signedRequest && token.clientPrivateKey === undefined)
    fail('`signedRequest` needs a key to sign with. Give it as `token.clientPrivateKey`.')
  if (dpopOf(provider) && token.request !== undefined) fail('`dpop` cannot bind the tokens of a custom `token.request`.')
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
  if (request !== undefined) fail('cannot be held with a custom `token.request`.')
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
