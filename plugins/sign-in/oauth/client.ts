/** The client towards the OAuth library: metadata, authentication, transport. */
import type { AnyContext, ClientAuthMethod } from 'authkernel/kernel'
import * as oauth from 'oauth4webapi'
import { Refusal } from './errors.ts'
import { isFapi, type OAuthProvider, tokenOf } from './provider.ts'

/** Seconds that a provider's clock may differ; one minute and the way of the answer. */
export const clockTolerance = 70
const clients = new WeakMap<OAuthProvider, oauth.Client>()

/** Client metadata for the library, on the clock of the runtime. */
export function oauthClient(ctx: AnyContext, provider: OAuthProvider): oauth.Client {
  const skew = Math.floor(ctx.runtime.now() / 1000) - Math.floor(Date.now() / 1000)
  const known = clients.get(provider)
  if (known?.[oauth.clockSkew] === skew) return known
  const client = {
    ...(provider.client as oauth.Client | undefined),
    client_id: provider.client?.client_id ?? provider.clientId ?? '',
    [oauth.clockTolerance]: clockTolerance,
    [oauth.clockSkew]: skew,
  }
  clients.set(provider, client)
  return client
}

/** The client secret, asked for when it is a function. */
export async function clientSecretOf(ctx: AnyContext, provider: OAuthProvider): Promise<string | undefined> {
  return typeof provider.clientSecret === 'function'
    ? provider.clientSecret({ now: ctx.now, clientId: provider.clientId ?? '' })
    : provider.clientSecret
}

/** How the client proves itself at the token endpoint (row 189). Throws `Refusal` when the secret or key is missing. */
export function authenticationOf(provider: OAuthProvider, server: oauth.AuthorizationServer, secret: string | undefined): oauth.ClientAuth {
  const method = methodOf(provider, server, secret)
  const demand = (): string => {
    if (secret) return secret
    throw new Refusal(`Provider "${provider.id}" authenticates by ${method} but its clientSecret is empty.`)
  }
  switch (method) {
    case 'client_secret_basic':
      return basicAuthentication(demand())
    case 'client_secret_post':
      return oauth.ClientSecretPost(demand())
    case 'client_secret_jwt':
      return oauth.ClientSecretJwt(demand())
    case 'private_key_jwt':
      return privateKeyJwt(provider, server)
    case 'tls_client_auth':
    case 'self_signed_tls_client_auth':
      return oauth.TlsClientAuth()
    case 'none':
      return oauth.None()
  }
}

function methodOf(provider: OAuthProvider, server: oauth.AuthorizationServer, secret: string | undefined): ClientAuthMethod {
  const chosen = provider.client?.token_endpoint_auth_method
  if (chosen !== undefined) return chosen
  if (tokenOf(provider).clientPrivateKey !== undefined) return 'private_key_jwt'
  if (secret === undefined) return 'none'
  const offered = server.token_endpoint_auth_methods_supported
  return offered?.includes('client_secret_post') && !offered.includes('client_secret_basic') ? 'client_secret_post' : 'client_secret_basic'
}

// RFC 6749 section 2.3.1 form-encodes both parts. The library also encodes "-", "_", "." and "~", which servers that do not
// decode get wrong; nothing demands it.
function basicAuthentication(secret: string): oauth.ClientAuth {
  const encode = (value: string): string => encodeURIComponent(value).replaceAll('%20', '+')
  return (_server, client, _body, headers) => {
    headers.set('authorization', `Basic ${btoa(`${encode(client.client_id)}:${encode(secret)}`)}`)
  }
}

function privateKeyJwt(provider: OAuthProvider, server: oauth.AuthorizationServer): oauth.ClientAuth {
  const key = tokenOf(provider).clientPrivateKey
  if (key === undefined)
    throw new Refusal(`Provider "${provider.id}" authenticates by private_key_jwt but has no \`token.clientPrivateKey\`.`)
  return oauth.PrivateKeyJwt(key, {
    [oauth.modifyAssertion](_header, payload) {
      // Servers expect one or the other.
      const both = !isFapi(provider) && server.token_endpoint !== undefined
      payload['aud'] = both ? [server.issuer, server.token_endpoint] : isFapi(provider) ? server.issuer : [server.issuer]
    },
  })
}
