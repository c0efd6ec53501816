/** The service `oauth`: what other plugins need of a provider (RFC 6749 section 6, RFC 7009, RFC 8414). */
import {
  type AnyContext,
  NetworkError,
  type OAuthOutcome,
  OAuthRequestError,
  type OAuthService,
  type ReadAnswer,
  type RefreshOptions,
  type TokenSet,
} from 'authkernel/kernel'
import { InvalidProvider } from 'authkernel/errors'
import type { JsonObject } from 'authkernel/kernel/protocols'
import * as oauth from 'oauth4webapi'
import { authenticationOf, oauthClient, clientSecretOf } from './client.ts'
import { Refusal, type Secrets } from './errors.ts'
import { failedRequest } from './failure.ts'
import { checkSubject, issuerFor, namedBy } from './id-token.ts'
import { decodeClaims, parseJson } from './json.ts'
import { type Signer, verifySignature } from './keys.ts'
import { verifyToken } from './other-tokens.ts'
import { fillTemplate, templateNames, type OAuthProvider, tokenOf, tokenResource } from './provider.ts'
import { endpointOf, fetchOf, knownServerOf, readOf, serverOf } from './server.ts'
import { asResponse, bindingOf, checkTokenType, decryptAnswer, tokenBody, withExpiry } from './tokens.ts'

/** One client: provider, server and how it authenticates. */
interface ClientParty {
  provider: OAuthProvider
  server: oauth.AuthorizationServer
  clientSecret: string | undefined
  secrets: Secrets
}

/** Loaded with the first call; `flow.ts` registers it. */
export const oauthService: OAuthService = {
  async metadata(ctx, id, claims) {
    const provider = await providerOf(ctx, id)
    return withRequestErrors(provider, new Set(), async () => {
      const server = await knownServerOf(ctx, provider)
      return (claims ? { ...server, issuer: quietIssuer(provider, server, claims) } : server) as Awaited<
        ReturnType<OAuthService['metadata']>
      >
    })
  },

  async named(ctx, id, issuer, name) {
    return namedBy(await providerOf(ctx, id), issuer, name)
  },

  async refresh(ctx, id, token, options = {}) {
    const provider = await providerOf(ctx, id)
    const secrets: Secrets = new Set([token])
    // What fails here was not sent: the token is as good as before.
    const party = await withRequestErrors(provider, secrets, () => partyOf(ctx, provider, secrets), 'unused')
    return withRequestErrors(provider, secrets, () => refreshTokens(ctx, party, token, options))
  },

  async request(ctx, id, endpoint, parameters) {
    const provider = await providerOf(ctx, id)
    const secrets: Secrets = new Set(Object.values(parameters))
    return withRequestErrors(provider, secrets, async () =>
      postToServer(ctx, await partyOf(ctx, provider, secrets, true), endpoint, parameters),
    )
  },

  async verify(ctx, id, jwt, options) {
    const provider = await providerOf(ctx, id)
    const secrets: Secrets = new Set([jwt])
    return withRequestErrors(provider, secrets, async () =>
      verifyToken(ctx, { ...(await partyOf(ctx, provider, secrets)), ctx }, jwt, options),
    )
  },

  async fetch(ctx, id, tokens, url, init = {}) {
    const provider = await providerOf(ctx, id)
    const { access_token: token = '', dpop_key: key, token_type: type } = tokens
    const { fetch } = ctx.runtime
    const headers = new Headers(init.headers)
    for (const name of ['authorization', 'dpop']) headers.delete(name)
    if (type !== 'dpop') {
      headers.set('authorization', `Bearer ${token}`)
      return fetch(url.href, { ...init, headers, redirect: 'manual' })
    }
    return withRequestErrors(provider, new Set([token, key ?? '']), async () => {
      if (key === undefined) throw new Refusal('The tokens are bound to a key that was not kept (`dpop_key`).')
      const { bindTokens, sendBoundRequest } = await import('./dpop.ts')
      const { dpop_signing_alg_values_supported: accepted } = await serverOf(ctx, provider)
      return sendBoundRequest(await bindTokens(oauthClient(ctx, provider), 'ES256', accepted, key), token, url, { ...init, headers, fetch })
    })
  },

  async revoke(ctx, id, token, hint) {
    const provider = await providerOf(ctx, id)
    const secrets: Secrets = new Set([token])
    return withRequestErrors(provider, secrets, async () => {
      const party = await partyOf(ctx, provider, secrets, true)
      if (party.server.revocation_endpoint === undefined) return false
      const response = await postToServer(ctx, party, 'revocation_endpoint', { token, ...(hint && { token_type_hint: hint }) })
      // RFC 7009 section 2.2: 200 for unknown tokens too.
      if (response.status !== 200) throw new Refusal(`The revocation endpoint answered with status ${response.status}.`)
      return true
    })
  },
}

async function providerOf(ctx: AnyContext, id: string): Promise<OAuthProvider> {
  const provider = await ctx.providerById(id)
  if (provider.type === 'oauth' || provider.type === 'oidc') return provider
  throw new InvalidProvider(`Provider "${id}" is of type ${provider.type}: the service \`oauth\` is for oauth and oidc.`)
}

async function partyOf(ctx: AnyContext, provider: OAuthProvider, secrets: Secrets, all = false): Promise<ClientParty> {
  const server = await (all ? knownServerOf(ctx, provider) : serverOf(ctx, provider))
  const clientSecret = await clientSecretOf(ctx, provider)
  if (clientSecret !== undefined) secrets.add(clientSecret)
  return { provider, server, clientSecret, secrets }
}

async function withRequestErrors<T>(provider: OAuthProvider, secrets: Secrets, work: () => Promise<T>, outcome?: OAuthOutcome): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof OAuthRequestError || error instanceof InvalidProvider ? error : failedRequest(provider, error, secrets, outcome)
  }
}

/** Empty, which no token names, where the provider has no issuer for such claims. */
function quietIssuer(provider: OAuthProvider, server: oauth.AuthorizationServer, claims: Readonly<JsonObject>): string {
  try {
    return issuerFor(provider, server, claims)
  } catch {
    return ''
  }
}

async function refreshTokens(
  ctx: AnyContext,
  { provider, server, clientSecret, secrets }: ClientParty,
  token: string,
  { scope, subject, deadline, dpopKey }: RefreshOptions,
): Promise<TokenSet> {
  const client = oauthClient(ctx, provider)
  const values = { ...templateNames(provider), clientSecret }
  const { href } = endpointOf(server, 'token_endpoint', provider, values)
  const located = { ...server, token_endpoint: href }
  const extra = Object.entries(tokenOf(provider).params ?? {}).map(([name, value]): [string, string] => [name, fillTemplate(value, values)])
  const binding = await bindingOf(ctx, provider, server, dpopKey)
  if (binding) secrets.add(binding.key)
  const more = [...tokenResource(provider), ...(scope === undefined ? [] : [['scope', scope]])]
  const request: Parameters<typeof oauth.refreshTokenGrantRequest>[4] = {
    additionalParameters: new URLSearchParams([...extra, ...more]),
    ...(binding && { DPoP: binding.handle }),
    [oauth.allowInsecureRequests]: true,
    // An ignored response would lose the new refresh token: the end of the request does not end the call.
    [oauth.customFetch]: readOf(ctx, provider, true, deadline) as never,
  }
  const ask = async (): Promise<JsonObject> => {
    const authentication = authenticationOf(provider, located, clientSecret)
    const response: unknown = await oauth.refreshTokenGrantRequest(located, client, authentication, token, request)
    return tokenBody(response as ReadAnswer, tokenOf(provider), provider)
  }
  const body = await decryptAnswer(provider, await (binding ? binding.once(ask) : ask()), secrets)
  const { id_token: idToken, ...rest } = body
  const oidc = provider.type === 'oidc' && typeof idToken === 'string'
  const from = oidc ? { ...server, issuer: issuerFor(provider, server, decodeClaims(idToken)) } : server
  const tokens = await oauth.processRefreshTokenResponse(from, client, asResponse(oidc ? body : rest))
  checkTokenType(tokens, binding)
  const verified = oidc ? await verifiedClaims({ ctx, provider, server: from, clientSecret }, idToken) : undefined
  if (oidc) {
    const { sub } = verified ?? decodeClaims(idToken)
    checkSubject(sub)
    if (subject !== undefined && sub !== subject) throw new Refusal('The refreshed ID token is of another user (`sub`).')
  }
  const { id_token: kept, ...others } = tokens
  return withExpiry({ ...others, ...(verified && { id_token: kept }), ...(binding && { dpop_key: binding.key }) }, ctx)
}

/** Undefined: the keys cannot be had. The refresh token is used up by then, so its answer counts without the ID token. */
async function verifiedClaims(signer: Signer, idToken: string): Promise<JsonObject | undefined> {
  const { id_token_signed_response_alg: algorithm } = oauthClient(signer.ctx, signer.provider)
  try {
    return parseJson((await verifySignature(signer, idToken, algorithm)).payload, 'The ID token')
  } catch (error) {
    if (error instanceof NetworkError || (error instanceof Refusal && error.status !== undefined)) return undefined
    throw error
  }
}

async function postToServer(
  ctx: AnyContext,
  { provider, server, clientSecret }: ClientParty,
  endpoint: string,
  parameters: Readonly<Record<string, string>>,
): Promise<Response> {
  const { href } = endpointOf(server, endpoint as `${string}_endpoint`, provider, { ...templateNames(provider), clientSecret })
  const body = new URLSearchParams(parameters)
  const headers = new Headers({ accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' })
  await authenticationOf(provider, server, clientSecret)(server, oauthClient(ctx, provider), body, headers)
  return fetchOf(ctx, provider)(href, { method: 'POST', headers: Object.fromEntries(headers.entries()), body: body.toString() })
}
