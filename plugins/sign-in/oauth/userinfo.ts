/** The profile: claims of the ID token, or the answer of the userinfo endpoint (row 198). */
import type { Profile, TokenSet, UserinfoEndpoint } from 'authkernel/kernel'
import { isJsonObject, type JsonObject } from 'authkernel/kernel/protocols'
import * as oauth from 'oauth4webapi'
import { oauthClient } from './client.ts'
import { Refusal } from './errors.ts'
import { mediaTypeOf, parseJson, readJson } from './json.ts'
import { verifySignature } from './keys.ts'
import { fillTemplate, tokenMember, templateNames, type OAuthProvider, type TemplateValues, userinfoOf, wantsUserinfo } from './provider.ts'
import { endpointOf, fetchOf } from './server.ts'
import { bindingOf, type TokenExchange } from './tokens.ts'

const userinfoAnswer = 'The answer of the userinfo endpoint'

/** Reads the profile. Throws `Refusal`, NetworkError and the errors of oauth4webapi and jose. */
export async function profileOf(exchanged: TokenExchange): Promise<Profile> {
  const { provider, claims, params } = exchanged
  const profile = claims !== undefined && !wantsUserinfo(provider) ? claims : await fetchUserinfo(exchanged)
  if (!provider.callback) return profile
  const folded: unknown = await provider.callback(Object.fromEntries(params), profile)
  // The other parameters come from the browser: they may add to a profile, not change whose it is.
  if (!isJsonObject(folded) || folded['sub'] !== profile['sub']) {
    throw new Refusal(`\`callback\` of provider "${provider.id}" must return the claims it was given, \`sub\` unchanged.`)
  }
  return folded
}

async function fetchUserinfo(exchanged: TokenExchange): Promise<JsonObject> {
  const { ctx, provider, tokens, claims, server, clientSecret } = exchanged
  const endpoint = userinfoOf(provider)
  const fetcher = fetchOf(ctx, provider)
  if (endpoint.request) {
    const profile: unknown = await endpoint.request({ tokens, provider, fetch: fetcher })
    if (!isJsonObject(profile)) throw new Refusal(`\`userinfo.request\` of provider "${provider.id}" returned no profile.`)
    if (claims === undefined) return requireIdentified(profile)
    if (profile['sub'] !== undefined) assertSameSubject(profile, claims)
    return profile
  }
  const values = { ...templateNames(provider), clientSecret, tokens }
  const url = endpointOf(server, 'userinfo_endpoint', provider, values)
  const signed = provider.client?.userinfo_signed_response_alg !== undefined
  const response = await requestUserinfo(endpoint, url.href, values, await senderOf(exchanged, fetcher), signed)
  if (response.status !== 200) throw new Refusal(`The userinfo endpoint answered with status ${response.status}.`)
  // Without an ID token there is no subject to compare, and hardly two of these providers answer alike.
  if (claims === undefined) return requireIdentified(await readProfile(response, endpoint.unwrap))
  const profile = await readSignedOrJson(exchanged, claims, response)
  assertSameSubject(profile, claims)
  return profile
}

/** Sends the userinfo request as the provider's data describes it. Throws `Refusal`, NetworkError. */
async function requestUserinfo(
  endpoint: UserinfoEndpoint,
  location: string,
  values: TemplateValues & { tokens: TokenSet },
  fetcher: typeof fetch,
  signedAnswer: boolean,
): Promise<Response> {
  const url = new URL(location)
  if (endpoint.path !== undefined) appendPath(url, fillTemplate(endpoint.path, values, encodeURIComponent))
  for (const [name, value] of Object.entries(endpoint.params ?? {})) url.searchParams.set(name, fillTemplate(value, values))
  const headers = new Headers({ accept: signedAnswer ? 'application/jwt' : 'application/json', 'user-agent': 'authkernel' })
  for (const [name, value] of Object.entries(endpoint.headers ?? {})) headers.set(name, fillTemplate(value, values))
  const way = endpoint.token ?? 'header'
  const token = (): string => tokenMember(values.tokens, 'access_token')
  if (way === 'header' && !headers.has('authorization')) headers.set('authorization', `Bearer ${token()}`)
  else if (way === 'path') appendPath(url, encodeURIComponent(token()))
  else if (typeof way === 'object') url.searchParams.set(way.query, token())
  const body = endpoint.body === undefined ? undefined : JSON.stringify(fillTemplates(endpoint.body, values))
  if (body !== undefined) headers.set('content-type', 'application/json')
  return fetcher(url.href, {
    method: endpoint.method ?? (body === undefined ? 'GET' : 'POST'),
    headers: Object.fromEntries(headers.entries()),
    ...(body !== undefined && { body }),
  })
}

/** The profile inside an answer of an OAuth 2.0 provider. Throws `Refusal`. */
async function readProfile(response: Response, unwrap: string | undefined): Promise<JsonObject> {
  let profile: unknown = await readJson(response, 'The answer of the userinfo endpoint', false)
  for (const step of unwrap?.split('.') ?? []) {
    profile = (isJsonObject(profile) || Array.isArray(profile)) && Object.hasOwn(profile, step) ? (profile as JsonObject)[step] : undefined
  }
  if (!isJsonObject(profile)) {
    throw new Refusal(
      `The answer of the userinfo endpoint holds no object${unwrap === undefined ? '' : ` at "${unwrap}" (\`userinfo.unwrap\`)`}.`,
    )
  }
  return profile
}

// OpenID Connect Core 5.3: JSON, or a JWT signed with the keys of the issuer where client metadata or the provider's documentation says so.
async function readSignedOrJson(exchanged: TokenExchange, claims: JsonObject, response: Response): Promise<JsonObject> {
  const { ctx, provider, server } = exchanged
  const client = oauthClient(ctx, provider)
  const subject = String(claims['sub'])
  if (mediaTypeOf(response) === 'application/jwt') {
    const token = await decryptUserinfo(provider, (await response.clone().text()).trim())
    await oauth.processUserInfoResponse(server, client, subject, new Response(token, { headers: { 'content-type': 'application/jwt' } }))
    const { payload } = await verifySignature(exchanged, token, client.userinfo_signed_response_alg)
    return parseJson(payload, userinfoAnswer)
  }
  const body = await readJson(response, userinfoAnswer, true)
  const headers = { 'content-type': 'application/json' }
  await oauth.processUserInfoResponse(server, client, subject, new Response(JSON.stringify(body), { headers }))
  return body
}

/** Sends the access token with proof of its key, where it has one. */
async function senderOf({ ctx, provider, server, tokens }: TokenExchange, fetcher: typeof fetch): Promise<typeof fetch> {
  if (tokens.token_type !== 'dpop') return fetcher
  const { sendBoundRequest } = await import('./dpop.ts')
  const binding = await bindingOf(ctx, provider, server, tokens.dpop_key)
  return ((input: string, init: RequestInit) =>
    sendBoundRequest(binding as NonNullable<typeof binding>, tokens.access_token ?? '', new URL(input), {
      ...init,
      fetch: fetcher,
    })) as typeof fetch
}

async function decryptUserinfo(provider: OAuthProvider, token: string): Promise<string> {
  if (provider.decryptionKey === undefined) return token
  const { userinfo_encrypted_response_alg: alg, userinfo_encrypted_response_enc: enc } = provider.client ?? {}
  return (await import('./jwe.ts')).decryptToken(provider, token, { alg, enc }, 'The userinfo')
}

// OpenID Connect Core 5.3.2: else another person's profile could be substituted.
function assertSameSubject(profile: JsonObject, claims: JsonObject): void {
  if (profile['sub'] !== claims['sub']) throw new Refusal('The userinfo endpoint answered for another user (`sub`).')
}

function requireIdentified(profile: JsonObject): JsonObject {
  if (Object.keys(profile).length === 0) throw new Refusal('The userinfo endpoint answered with an empty object.')
  const identified = ['id', 'sub', 'email'].some((name) => profile[name] !== undefined && profile[name] !== null)
  if (typeof profile['error'] === 'string' && !identified) throw new Refusal('The userinfo endpoint answered with an error.')
  // Digits beyond 2^53 were lost in parsing: two people could get one id.
  for (const name of ['id', 'sub']) {
    const id = profile[name]
    if (typeof id === 'number' && !Number.isSafeInteger(id))
      throw new Refusal(`The userinfo endpoint answered with a numeric "${name}" that is not exact.`)
  }
  return profile
}

/** Fills every string in a JSON value. */
function fillTemplates(value: unknown, values: TemplateValues): unknown {
  if (typeof value === 'string') return fillTemplate(value, values)
  if (Array.isArray(value)) return value.map((item) => fillTemplates(item, values))
  return isJsonObject(value) ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillTemplates(item, values)])) : value
}

function appendPath(url: URL, segment: string): void {
  // Percent-encoding leaves dots alone, and a dot segment would lead to another resource.
  if (segment === '.' || segment === '..') throw new Refusal('The path of the userinfo endpoint would contain a dot segment.')
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${segment.replace(/^\//, '')}`
}
