/** Mistakes in a provider's options, found before the first request (rows 184, 362, D9). */
import { allowInsecureRequests, InvalidEndpoints, isSecureUrl, type ResolvedConfig } from 'authkernel/kernel'
import { authorizationOf, fill, namesOf, responseMode, tokenOf, userinfoOf, wantsUserinfo } from './endpoints.ts'
import { checkStrength } from './strength.ts'
import type { OAuthProvider } from './types.ts'

const methods = ['client_secret_basic', 'client_secret_post', 'client_secret_jwt', 'private_key_jwt', 'none'].concat([
  'tls_client_auth',
  'self_signed_tls_client_auth',
])

/** Throws InvalidEndpoints with provider, option and remedy. */
export function validate(provider: OAuthProvider, _all: unknown, config: ResolvedConfig): void {
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
  checkStrength(provider, fail)
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

type Fail = (problem: string) => never

function checkUrls(provider: OAuthProvider, config: ResolvedConfig, fail: Fail): void {
  const names = namesOf(provider)
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
    const text = typeof value === 'string' ? fill(value, names) : ''
    if (text.includes('{issuer}'))
      fail(`\`issuer\` is missing, and \`${option}\` is made of it. Give it, or set AUTH_${envName(provider.id)}_ISSUER.`)
    const url = URL.canParse(text) ? new URL(text) : fail(`\`${option}\` is ${JSON.stringify(value)}, which is not an absolute URL.`)
    if (url.username !== '' || url.password !== '')
      fail(`\`${option}\` holds a user name or password. Use \`clientId\` and \`clientSecret\`.`)
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

// A deployment that believes any Host header can be made to name somebody else's host in a state, and the proxy hands the code to it.
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
  if (!methods.includes(method))
    fail(`\`client.token_endpoint_auth_method\` is ${JSON.stringify(method)}. Use one of ${methods.join(', ')}.`)
  if (method === 'private_key_jwt' && tokenOf(provider).clientPrivateKey === undefined && tokenOf(provider).request === undefined) {
    fail('`client.token_endpoint_auth_method` is private_key_jwt. Give the key as `token.clientPrivateKey`.')
  }
}

function checkTrust({ trustEmail }: OAuthProvider, fail: Fail): void {
  if (trustEmail === undefined || typeof trustEmail === 'boolean') return
  if (!Array.isArray(trustEmail) || !trustEmail.every((domain) => typeof domain === 'string' && /^[^\s@*]+$/.test(domain)))
    fail('`trustEmail` must be true, false or a list of domains such as "example.com".')
}
