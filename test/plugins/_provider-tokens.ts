/** A host that keeps provider tokens, at the real `oidc-provider`: its clock, its network and what it tells can be watched and changed. */
import { type AuthConfig, createAuth } from 'authkernel'
import type { Auth } from 'authkernel/kernel'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { providerTokensPlugin, type ProviderTokensApi, type ProviderTokensOptions } from 'authkernel/plugins/provider-tokens'
import { expect } from 'vitest'
import { Client, locationOf } from '../_client.ts'
import { type RealOp, realOp } from '../_op/real.ts'

export const clientSecret = 'a-client-secret-of-some-length-for-hmac-use'
const client = (client_id: string): object => ({
  client_id,
  client_secret: clientSecret,
  redirect_uris: ['http://localhost:3000/auth/callback/acme'],
  response_types: ['code'],
  grant_types: ['authorization_code', 'refresh_token'],
})

/** Client `app` gets a new refresh token each time, and the family ends when one comes twice; client `keeps` keeps its own. */
export function tokenOp(): Promise<RealOp> {
  return realOp([client('app'), client('keeps')], {
    features: { devInteractions: { enabled: false }, revocation: { enabled: true } },
    scopes: ['openid', 'offline_access', 'email', 'calendar', 'mail'],
    rotateRefreshToken: ({ oidc }: { oidc: { client: { clientId: string } } }) => oidc.client.clientId === 'app',
    ttl: { AccessToken: 300, AuthorizationCode: 60, IdToken: 3600, Interaction: 600, Grant: 36_000, Session: 36_000, RefreshToken: 36_000 },
  })
}

export interface World {
  auth: Auth<ProviderTokensApi>
  browser: Client
  /** Of the browser, with its cookies. */
  request(): Request
  signIn(query?: string): Promise<void>
  refreshes(): number
  events: [string, unknown][]
  clock: { ahead: number }
  /** Replaces the next answers of the token endpoint for refreshes. */
  answers: ((send: () => Promise<Response>) => Promise<Response>)[]
  /** Answers requests to other endpoints, where it answers. */
  elsewhere: { answer?: ((url: string) => Promise<Response> | undefined) | undefined }
  errors: Error[]
  /** Who signed in last. */
  person: { userId: string }
  /** Refresh tokens in the order in which they were sent. */
  sent: string[]
}
const refreshing = (init: RequestInit | undefined): boolean => String(init?.body).includes('grant_type=refresh_token')

export function tokenWorld(op: RealOp, options: ProviderTokensOptions = {}, config: AuthConfig = {}, provider: object = {}): World {
  const events: [string, unknown][] = []
  const clock = { ahead: 0 }
  const answers: World['answers'] = []
  const errors: Error[] = []
  const sent: string[] = []
  const person = { userId: '' }
  const elsewhere: World['elsewhere'] = {}
  const fetch = (async (input: RequestInfo | URL, init?: RequestInit) => {
    if (!refreshing(init)) return elsewhere.answer?.(String(input)) ?? globalThis.fetch(input, init)
    sent.push(new URLSearchParams(String(init?.body)).get('refresh_token') ?? '')
    const send = (): Promise<Response> => globalThis.fetch(input, init)
    return (answers.shift() ?? ((go) => go()))(send)
  }) as typeof globalThis.fetch
  const auth = createAuth({
    secret: 'the-secret-of-the-instance-has-40-letters',
    trustHost: true,
    env: false,
    logger: { error: (error) => void errors.push(error), warn() {} },
    adapter: memoryAdapter(),
    runtime: { fetch, now: () => Date.now() + clock.ahead },
    ...config,
  })
    .use(
      oidcPlugin({
        id: 'acme',
        issuer: op.issuer,
        clientId: 'app',
        clientSecret,
        authorization: { params: { prompt: 'consent' } },
        scope: 'openid email offline_access',
        ...provider,
      }),
    )
    .use(providerTokensPlugin(options))
  for (const name of ['tokensRefreshed', 'tokensExpired'] as const) auth.on(name, (message) => void events.push([name, { ...message }]))
  auth.on('signIn', ({ user }) => void (person.userId = user.id ?? ''))
  const browser = new Client(auth)
  return {
    auth,
    browser,
    events,
    clock,
    answers,
    errors,
    refreshes: () => sent.length,
    sent,
    elsewhere,
    person,
    request: () =>
      new Request('http://localhost:3000/', {
        headers: { cookie: [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      }),
    async signIn(query = '') {
      const answer = await browser.get(await op.visit(locationOf(await browser.signIn('acme', {}, query))))
      expect([new URL(locationOf(answer)).searchParams.get('error'), ...errors]).toEqual([null])
    },
  }
}
