/** Signed authorization requests (RFC 9101): nobody on the way can change them. Loaded where a provider has `signedRequest`. */
import type { Context } from 'authkernel/kernel'
import * as oauth from 'oauth4webapi'
import { clientOf } from './client.ts'
import { tokenOf } from './endpoints.ts'
import { Refusal } from './failure.ts'
import type { OAuthProvider } from './types.ts'

// Seconds: the way of the browser, and clocks that differ.
const lifetime = 300

/** The URL with `client_id` and `request` alone. Throws Refusal without a key. */
export async function signedRequest(ctx: Context, provider: OAuthProvider, server: oauth.AuthorizationServer, url: URL): Promise<URL> {
  const key = tokenOf(provider).clientPrivateKey
  if (key === undefined) throw new Refusal(`Provider "${provider.id}" signs its requests but has no \`token.clientPrivateKey\`.`)
  const client = clientOf(ctx, provider)
  const request = await oauth.issueRequestObject(server, client, url.searchParams, key, {
    [oauth.modifyAssertion](_header, payload) {
      payload['exp'] = (payload['iat'] as number) + lifetime
    },
  })
  const short = new URL(url)
  short.search = new URLSearchParams({ client_id: client.client_id, request }).toString()
  return short
}
