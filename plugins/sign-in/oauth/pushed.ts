/** Pushed authorization requests (RFC 9126): the parameters go to the provider directly, and the browser carries a reference. */
import type { Context } from 'authkernel/kernel'
import * as oauth from 'oauth4webapi'
import { authenticationOf, clientOf, secretOf } from './client.ts'
import { endpointOf, fetchOf } from './server.ts'
import { isFapi } from './strength.ts'
import type { OAuthProvider } from './types.ts'

const endpoint = 'pushed_authorization_request_endpoint'

/** Whether the host wants it, or the provider takes no other requests. */
export function isPushed(provider: OAuthProvider, server: oauth.AuthorizationServer): boolean {
  return provider.pushedAuthorization ?? (isFapi(provider) || server.require_pushed_authorization_requests === true)
}

/** The URL with `client_id` and `request_uri` alone. Throws Refusal, NetworkError and the errors of oauth4webapi. */
export async function pushed(ctx: Context, provider: OAuthProvider, server: oauth.AuthorizationServer, url: URL): Promise<URL> {
  const located = { ...server, [endpoint]: endpointOf(server, endpoint, provider).href }
  const client = clientOf(ctx, provider)
  const authentication = authenticationOf(provider, located, await secretOf(ctx, provider))
  const response = await oauth.pushedAuthorizationRequest(located, client, authentication, new URLSearchParams(url.searchParams), {
    [oauth.allowInsecureRequests]: true,
    [oauth.customFetch]: fetchOf(ctx, provider) as never,
  })
  const { request_uri: reference } = await oauth.processPushedAuthorizationResponse(located, client, response)
  const short = new URL(url)
  short.search = new URLSearchParams({ client_id: client.client_id, request_uri: reference }).toString()
  return short
}
