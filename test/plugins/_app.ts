/** An app on a phone or a desktop: openid-client, which keeps no cookies, beside a browser that does. */
import * as client from 'openid-client'
import type { Client } from '../_setup.ts'

export const origin = 'http://localhost:3000'
export const loopback = 'http://127.0.0.1:49152/cb'

/** Something that answers requests. */
interface Host {
  handler(request: Request): Promise<Response>
}

/** Finds the server by its metadata, as any OAuth client does. Nothing of it sends or keeps a cookie. */
export async function discover(host: Host, clientId = 'desktop', issuer: string = origin): Promise<client.Configuration> {
  const fetch: client.CustomFetch = async (url, init) => {
    const headers = new Headers(init.headers)
    if (headers.has('cookie')) throw new Error('an app sent a cookie')
    const response = await host.handler(new Request(url, init as RequestInit))
    if (response.headers.getSetCookie().length > 0) throw new Error(`${url} set a cookie`)
    return response
  }
  return client.discovery(new URL(issuer), clientId, undefined, client.None(), {
    algorithm: 'oauth2',
    [client.customFetch]: fetch,
    execute: [client.allowInsecureRequests],
  })
}

/** What an app keeps while the user is in the browser. */
export interface Begun {
  url: URL
  verifier: string
  state: string
  redirectUri: string
}

export async function begin(config: client.Configuration, redirectUri: string = loopback, scope?: string): Promise<Begun> {
  const verifier = client.randomPKCECodeVerifier()
  const state = client.randomState()
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    ...(scope !== undefined && { scope }),
  })
  return { url, verifier, state, redirectUri }
}

/** The person in the browser: asked where the app is not sure, and led back. Answers where to. */
export async function visit(
  browser: Pick<Client, 'get' | 'post'>,
  url: URL | string,
  decision: 'allow' | 'deny' = 'allow',
): Promise<string> {
  const answer = await browser.get(String(url))
  if (answer.status === 302) return answer.headers.get('location') ?? ''
  const ticket = ticketOf(await answer.text())
  const decided = await browser.post('/oauth/authorize', { ticket, decision })
  return decided.headers.get('location') ?? `${decided.status}`
}

export function ticketOf(page: string): string {
  return /name="ticket" value="([^"]+)"/.exec(page)?.[1] ?? ''
}

export async function finish(
  config: client.Configuration,
  { verifier, state }: Begun,
  location: string,
): Promise<client.TokenEndpointResponse & client.TokenEndpointResponseHelpers> {
  return client.authorizationCodeGrant(config, new URL(location), { pkceCodeVerifier: verifier, expectedState: state })
}

/** The whole sign-in. */
export async function signIn(
  config: client.Configuration,
  browser: Pick<Client, 'get' | 'post'>,
  redirectUri?: string,
  scope?: string,
): Promise<client.TokenEndpointResponse & client.TokenEndpointResponseHelpers> {
  const begun = await begin(config, redirectUri, scope)
  return finish(config, begun, await visit(browser, begun.url))
}

/** The `error` of RFC 6749 that a call was refused with. */
export async function refusal(work: Promise<unknown>): Promise<string> {
  try {
    await work
  } catch (error) {
    if (error instanceof client.ResponseBodyError) return error.error
    if (error instanceof client.AuthorizationResponseError) return error.error
    throw error
  }
  throw new Error('nothing was refused')
}
