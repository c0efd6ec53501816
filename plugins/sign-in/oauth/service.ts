/** The service `oauth`: what other plugins need of a provider (RFC 6749 section 6, RFC 7009, RFC 8414). */
import {
  type AnyContext,
  InvalidProvider,
  OAuthRequestError,
  type OAuthService,
  type RefreshOptions,
  type TokenSet,
} from 'authkernel/kernel'
import * as oauth from 'oauth4webapi'
import { authenticationOf, clientOf, secretOf } from './client.ts'
import { fill, namesOf, tokenOf } from './endpoints.ts'
import { checkSubject } from './id-token.ts'
import { Refusal } from './failure.ts'
import { decodeClaims, parseJson } from './json.ts'
import { verify as verifySignature } from './keys.ts'
import { failedRequest } from './request-failure.ts'
import { endpointOf, fetchOf, knownServerOf, serverOf } from './server.ts'
import { tokenResource } from './strength.ts'
import { bindingOf, checkTokenType, opened, tokenBody, withExpiry } from './tokens.ts'
import type { JsonObject, OAuthProvider, Secrets } from './types.ts'
import { verifyToken } from './verify-token.ts'

/** One client: provider, server and how it authenticates. */
interface Party {
  provider: OAuthProvider
  server: oauth.AuthorizationServer
  clientSecret: string | undefined
  secrets: Secrets
}

/** Loaded with the first call; `flow.ts` registers it. */
export const oauthService: OAuthService = {
  async metadata(ctx, id) {
    const provider = await providerOf(ctx, id)
    return guarded(provider, new Set(), async () => (await knownServerOf(ctx, provider)) as Awaited<ReturnType<OAuthService['metadata']>>)
  },

  async refresh(ctx, id, token, options = {}) {
    const provider = await providerOf(ctx, id)
    const secrets: Secrets = new Set([token])
    return guarded(provider, secrets, async () => refresh(ctx, await partyOf(ctx, provider, secrets), token, options))
  },

  async request(ctx, id, endpoint, parameters) {
    const provider = await providerOf(ctx, id)
    const secrets: Secrets = new Set(Object.values(parameters))
    return guarded(provider, secrets, async () => post(ctx, await partyOf(ctx, provider, secrets, true), endpoint, parameters))
  },

  async verify(ctx, id, jwt, options) {
    const provider = await providerOf(ctx, id)
    const secrets: Secrets = new Set([jwt])
    return guarded(provider, secrets, async () => verifyToken(ctx, { ...(await partyOf(ctx, provider, secrets)), ctx }, jwt, options))
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
    return guarded(provider, new Set([token, key ?? '']), async () => {
      if (key === undefined) throw new Refusal('The tokens are bound to a key that was not kept (`dpop_key`).')
      const { bind, boundRequest } = await import('./dpop.ts')
      const { dpop_signing_alg_values_supported: accepted } = await serverOf(ctx, provider)
      return boundRequest(await bind(clientOf(ctx, provider), 'ES256', accepted, key), token, url, { ...init, headers, fetch })
    })
  },

  async revoke(ctx, id, token, hint) {
    const provider = await providerOf(ctx, id)
    const secrets: Secrets = new Set([token])
    return guarded(provider, secrets, async () => {
      const party = await partyOf(ctx, provider, secrets, true)
      if (party.server.revocation_endpoint === undefined) return false
      const response = await post(ctx, party, 'revocation_endpoint', { token, ...(hint && { token_type_hint: hint }) })
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

async function partyOf(ctx: AnyContext, provider: OAuthProvider, secrets: Secrets, all = false): Promise<Party> {
  const server = await (all ? knownServerOf(ctx, provider) : serverOf(ctx, provider))
  const clientSecret = await secretOf(ctx, provider)
  if (clientSecret !== undefined) secrets.add(clientSecret)
  return { provider, server, clientSecret, secrets }
}

async function guarded<T>(provider: OAuthProvider, secrets: Secrets, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof OAuthRequestError || error instanceof InvalidProvider ? error : failedRequest(provider, error, secrets)
  }
}

async function refresh(
  ctx: AnyContext,
  { provider, server, clientSecret, secrets }: Party,
  token: string,
  { scope, subject, deadline, dpopKey }: RefreshOptions,
): Promise<TokenSet> {
  const client = clientOf(ctx, provider)
  const values = { ...namesOf(provider), clientSecret }
  const { href } = endpointOf(server, 'token_endpoint', provider, values)
  const located = { ...server, token_endpoint: href }
  const extra = Object.entries(tokenOf(provider).params ?? {}).map(([name, value]): [string, string] => [name, fill(value, values)])
  const bound = await bindingOf(ctx, provider, server, dpopKey)
  if (bound) secrets.add(bound.key)
  const more = [...tokenResource(provider), ...(scope === undefined ? [] : [['scope', scope]])]
  const request: Parameters<typeof oauth.refreshTokenGrantRequest>[4] = {
    additionalParameters: new URLSearchParams([...extra, ...more]),
    ...(bound && { DPoP: bound.handle }),
    [oauth.allowInsecureRequests]: true,
    // An answer that nobody waits for would lose the new refresh token: the end of the request does not end the call.
    [oauth.customFetch]: fetchOf(ctx, provider, true, deadline) as never,
  }
  const ask = async (): Promise<JsonObject> => {
    const authentication = authenticationOf(provider, located, clientSecret)
    const response = await oauth.refreshTokenGrantRequest(located, client, authentication, token, request)
    return tokenBody(response, tokenOf(provider), provider)
  }
  const body = await opened(provider, await (bound ? bound.once(ask) : ask()), secrets)
  const { id_token: idToken, ...rest } = body
  const oidc = provider.type === 'oidc' && typeof idToken === 'string'
  const issuer =
    oidc && provider.issuerOf ? provider.issuerOf(decodeClaims(idToken), { id: provider.id, issuer: provider.issuer }) : server.issuer
  const from = { ...server, issuer }
  const answer = new Response(JSON.stringify(oidc ? body : rest), { headers: { 'content-type': 'application/json' } })
  const tokens = await oauth.processRefreshTokenResponse(from, client, answer)
  checkTokenType(tokens, bound)
  if (oidc) {
    const { payload } = await verifySignature({ ctx, provider, server: from, clientSecret }, idToken, client.id_token_signed_response_alg)
    const claims = parseJson(payload, 'The ID token')
    checkSubject(claims['sub'])
    if (subject !== undefined && claims['sub'] !== subject) throw new Refusal('The refreshed ID token is of another person (`sub`).')
  }
  return withExpiry({ ...tokens, ...(bound && { dpop_key: bound.key }) }, ctx)
}

async function post(
  ctx: AnyContext,
  { provider, server, clientSecret }: Party,
  endpoint: string,
  parameters: Readonly<Record<string, string>>,
): Promise<Response> {
  const { href } = endpointOf(server, endpoint as `${string}_endpoint`, provider, { ...namesOf(provider), clientSecret })
  const body = new URLSearchParams(parameters)
  const headers = new Headers({ accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' })
  await authenticationOf(provider, server, clientSecret)(server, clientOf(ctx, provider), body, headers)
  return fetchOf(ctx, provider)(href, { method: 'POST', headers: Object.fromEntries(headers.entries()), body: body.toString() })
}
