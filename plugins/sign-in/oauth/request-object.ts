/** Authorization requests that a visitor cannot change on the way: pushed (RFC 9126), where the browser carries a reference, and signed (RFC 9101). */
import type { Context } from 'authkernel/kernel'
import * as oauth from 'oauth4webapi'
import { authenticationOf, oauthClient, clientSecretOf } from './client.ts'
import { Refusal } from './errors.ts'
import { isFapi, type OAuthProvider, tokenOf } from './provider.ts'
import { endpointOf, fetchOf } from './server.ts'

const pushEndpoint = 'pushed_authorization_request_endpoint'
// Seconds: the way of the browser, and clocks that differ.
const requestLifetime = 300

/** Whether the host wants it, or the provider takes no other requests. */
export function isPushed(provider: OAuthProvider, server: oauth.AuthorizationServer): boolean {
  return provider.pushedAuthorization ?? (isFapi(provider) || server.require_pushed_authorization_requests === true)
}

/** The URL with `client_id` and `request_uri` alone. Throws `Refusal`, NetworkError and the errors of oauth4webapi. */
export async function pushRequest(ctx: Context, provider: OAuthProvider, server: oauth.AuthorizationServer, url: URL): Promise<URL> {
  const located = { ...server, [pushEndpoint]: endpointOf(server, pushEndpoint, provider).href }
  const client = oauthClient(ctx, provider)
  const authentication = authenticationOf(provider, located, await clientSecretOf(ctx, provider))
  const response = await oauth.pushedAuthorizationRequest(located, client, authentication, new URLSearchParams(url.searchParams), {
    [oauth.allowInsecureRequests]: true,
    // oauth4webapi types the options of its fetch narrower than `RequestInit`.
    [oauth.customFetch]: fetchOf(ctx, provider) as never,
  })
  const { request_uri: reference } = await oauth.processPushedAuthorizationResponse(located, client, response)
  const short = new URL(url)
  short.search = new URLSearchParams({ client_id: client.client_id, request_uri: reference }).toString()
  return short
}

/** The URL with `client_id` and `request` alone. Throws `Refusal` without a key. */
export async function signRequest(ctx: Context, provider: OAuthProvider, server: oauth.AuthorizationServer, url: URL): Promise<URL> {
  const key = tokenOf(provider).clientPrivateKey
  if (key === undefined) throw new Refusal(`Provider "${provider.id}" signs its requests but has no \`token.clientPrivateKey\`.`)
  const client = oauthClient(ctx, provider)
  const request = await oauth.issueRequestObject(server, client, url.searchParams, key, {
    [oauth.modifyAssertion](_header, payload) {
      payload['exp'] = (payload['iat'] as number) + requestLifetime
    },
  })
  const short = new URL(url)
  short.search = new URLSearchParams({ client_id: client.client_id, request }).toString()
  return short
}
