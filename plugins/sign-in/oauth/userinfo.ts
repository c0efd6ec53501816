/** The profile: claims of the ID token, or the answer of the userinfo endpoint (row 198). */
import type { Profile } from 'authkernel/kernel'
import * as oauth from 'oauth4webapi'
import { clientOf } from './client.ts'
import { namesOf, readProfile, requestUserinfo, userinfoOf, wantsUserinfo } from './endpoints.ts'
import { Refusal } from './failure.ts'
import { essence, isObject, parseJson, readJson } from './json.ts'
import { verify } from './keys.ts'
import { endpointOf, fetchOf } from './server.ts'
import { bindingOf, type Exchanged } from './tokens.ts'
import type { JsonObject, OAuthProvider } from './types.ts'

const answerOf = 'The answer of the userinfo endpoint'

/** Reads the profile. Throws Refusal, NetworkError and the errors of oauth4webapi and jose. */
export async function profileOf(exchanged: Exchanged): Promise<Profile> {
  const { provider, claims, params } = exchanged
  const profile = claims !== undefined && !wantsUserinfo(provider) ? claims : await userinfo(exchanged)
  if (!provider.callback) return profile
  const folded: unknown = await provider.callback(Object.fromEntries(params), profile)
  // The other parameters come from the browser: they may add to a profile, not change whose it is.
  if (!isObject(folded) || folded['sub'] !== profile['sub']) {
    throw new Refusal(`\`callback\` of provider "${provider.id}" must return the claims it was given, \`sub\` unchanged.`)
  }
  return folded
}

async function userinfo(exchanged: Exchanged): Promise<JsonObject> {
  const { ctx, provider, tokens, claims, server, clientSecret } = exchanged
  const endpoint = userinfoOf(provider)
  const fetcher = fetchOf(ctx, provider)
  if (endpoint.request) {
    const profile: unknown = await endpoint.request({ tokens, provider, fetch: fetcher })
    if (!isObject(profile)) throw new Refusal(`\`userinfo.request\` of provider "${provider.id}" returned no profile.`)
    if (claims === undefined) return usable(profile)
    if (profile['sub'] !== undefined) sameSubject(profile, claims)
    return profile
  }
  const values = { ...namesOf(provider), clientSecret, tokens }
  const url = endpointOf(server, 'userinfo_endpoint', provider, values)
  const signed = provider.client?.userinfo_signed_response_alg !== undefined
  const response = await requestUserinfo(endpoint, url.href, values, await senderOf(exchanged, fetcher), signed)
  if (response.status !== 200) throw new Refusal(`The userinfo endpoint answered with status ${response.status}.`)
  // Without an ID token there is no subject to compare, and hardly two of these providers answer alike.
  if (claims === undefined) return usable(await readProfile(response, endpoint.unwrap))
  const profile = await connectUserinfo(exchanged, claims, response)
  sameSubject(profile, claims)
  return profile
}

// OpenID Connect Core 5.3: JSON, or a JWT signed with the keys of the issuer when it said or was told so.
async function connectUserinfo(exchanged: Exchanged, claims: JsonObject, response: Response): Promise<JsonObject> {
  const { ctx, provider, server } = exchanged
  const client = clientOf(ctx, provider)
  const subject = String(claims['sub'])
  if (essence(response) === 'application/jwt') {
    const token = await innerOf(provider, (await response.clone().text()).trim())
    await oauth.processUserInfoResponse(server, client, subject, new Response(token, { headers: { 'content-type': 'application/jwt' } }))
    const { payload } = await verify(exchanged, token, client.userinfo_signed_response_alg)
    return parseJson(payload, answerOf)
  }
  const body = await readJson(response, answerOf, true)
  const headers = { 'content-type': 'application/json' }
  await oauth.processUserInfoResponse(server, client, subject, new Response(JSON.stringify(body), { headers }))
  return body
}

/** Sends the access token with proof of its key, where it has one. */
async function senderOf({ ctx, provider, server, tokens }: Exchanged, fetcher: typeof fetch): Promise<typeof fetch> {
  if (tokens.token_type !== 'dpop') return fetcher
  const { boundRequest } = await import('./dpop.ts')
  const bound = await bindingOf(ctx, provider, server, tokens.dpop_key)
  return ((input: string, init: RequestInit) =>
    boundRequest(bound as NonNullable<typeof bound>, tokens.access_token ?? '', new URL(input), {
      ...init,
      fetch: fetcher,
    })) as typeof fetch
}

async function innerOf(provider: OAuthProvider, token: string): Promise<string> {
  if (provider.decryptionKey === undefined) return token
  const { userinfo_encrypted_response_alg: alg, userinfo_encrypted_response_enc: enc } = provider.client ?? {}
  return (await import('./jwe.ts')).decrypted(provider, token, { alg, enc }, 'The userinfo')
}

// OpenID Connect Core 5.3.2: else another person's profile could be substituted.
function sameSubject(profile: JsonObject, claims: JsonObject): void {
  if (profile['sub'] !== claims['sub']) throw new Refusal('The userinfo endpoint answered for another person (`sub`).')
}

function usable(profile: JsonObject): JsonObject {
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
