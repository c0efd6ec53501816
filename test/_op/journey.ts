/** One whole sign-in at the test provider, and what must be true of it whether it succeeds or not. */
import { inspect } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Auth, type AuthConfig, createAuth, type Profile } from 'authkernel'
import { oauthPlugin } from 'authkernel/plugins/oauth'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { Client, locationOf, setCookies } from '../_client.ts'
import { HostileOp, type Script } from './hostile.ts'

export const secret = 'the-secret-of-the-instance-has-40-letters'

/** A deviation and, where it matters, the options it meets. */
export interface Case extends Script {
  provider?: object
  config?: AuthConfig
  type?: 'oidc' | 'oauth'
  /** Query of the sign-in request. */
  query?: string
  /** Changes the callback URL on its way through the browser. */
  url?: (url: URL, op: HostileOp) => void
}
/** How a journey ended. */
export interface Outcome {
  response: Response
  location: URL
  session: Awaited<ReturnType<Client['session']>>
  errors: Error[]
  client: Client
  auth: Auth
  /** Last profile that the signIn hook saw. */
  profile: Profile | undefined
}

/** An instance with one provider, `acme`, at `op`. */
export function instance(
  op: HostileOp,
  { provider = {}, config = {}, type = 'oidc' }: Case = {},
): { auth: Auth; client: Client; errors: Error[] } {
  const errors: Error[] = []
  const base = { id: 'acme', issuer: op.issuer, clientId: op.clientId, clientSecret: op.clientSecret }
  const auth = createAuth({ secret, trustHost: true, env: false, logger: { error: (error) => errors.push(error), warn() {} }, ...config })
  auth.use(type === 'oidc' ? oidcPlugin({ ...base, ...provider }) : oauthPlugin({ ...base, ...provider }))
  return { auth, client: new Client(auth), errors }
}

/** Runs a sign-in from the button to the last redirect. */
export async function journey(op: HostileOp, given: Case): Promise<Outcome> {
  const { url: change, provider: _provider, config: _config, type: _type, query, ...script } = given
  op.reset(script)
  const { auth, client, errors } = instance(op, given)
  let profile: Profile | undefined
  auth.hook('signIn', (question) => {
    profile = question.profile
    return true
  })
  let response = await client.signIn('acme', {}, query)
  if (new URL(locationOf(response)).origin === op.issuer) {
    const back = new URL(await op.authorize(locationOf(response)))
    change?.(back, op)
    response = await client.get(back.href)
  }
  return {
    response,
    location: new URL(locationOf(response), client.origin),
    session: await client.session(),
    errors,
    client,
    auth,
    profile,
  }
}

/** No session, one log entry with a stable type, a redirect to a page with an error code, and no secret anywhere. */
export async function expectRefused(op: HostileOp, given: Case): Promise<Outcome> {
  const outcome = await journey(op, given)
  const { response, location, session, errors } = outcome
  expect(session).toBeNull()
  expect(response.status).toBe(302)
  expect(location.origin).toBe('http://localhost:3000')
  expect(location.pathname).toMatch(/^\/auth\/(?:error|signin)$/)
  expect(location.searchParams.get('error')).toMatch(/^(?:Configuration|OAuthCallbackError)$/)
  expect(errors.map(({ name }) => name)).toHaveLength(1)
  expect(errors[0]?.name).toMatch(/^(?:InvalidCheck|OAuthCallbackError|CallbackRouteError|OAuthProfileParseError|OAuthSignInError)$/)
  expect(setCookies(response).filter(({ name, attributes }) => name.includes('session-token') && attributes['max-age'] !== '0')).toEqual([])
  expectNoSecrets(op, inspect(errors, { depth: null, showHidden: true }) + errors.map(({ stack }) => stack).join('\n') + location.href)
  expect(Object.keys(Object.prototype)).toEqual([])
  return outcome
}

/** Signed in, and nothing reported. */
export async function expectAccepted(op: HostileOp, given: Case): Promise<Outcome> {
  const outcome = await journey(op, given)
  expect(outcome.errors.map(({ message, cause }) => `${message} ${inspect(cause)}`)).toEqual([])
  expect(outcome.location.href).toBe('http://localhost:3000/')
  expect(outcome.session).not.toBeNull()
  expect((Object.prototype as { polluted?: unknown }).polluted).toBeUndefined()
  return outcome
}

function expectNoSecrets(op: HostileOp, text: string): void {
  const secrets = [op.clientSecret, secret]
  for (const [code, { accessToken, request, token }] of op.exchanges) {
    secrets.push(code, accessToken, request.get('state') ?? '', request.get('nonce') ?? '', token.get('code_verifier') ?? '')
  }
  expect(secrets.filter((value) => value !== '' && text.includes(value))).toEqual([])
  expect(text).not.toMatch(/eyJ[\w-]{8,}\.eyJ/)
}

/** What the log says of the one failure: message of its cause. */
export function reasonOf({ errors }: Pick<Outcome, 'errors'>): string {
  const [error] = errors
  return error?.cause instanceof Object && 'err' in error.cause ? String((error.cause.err as Error).message) : String(error?.message)
}

/** A provider for the whole file. */
export function useOp(): () => HostileOp {
  let op: HostileOp
  beforeAll(async () => {
    op = await new HostileOp().listen()
  })
  afterAll(() => op.close())
  return () => op
}

/** A table of deviations that must be refused. */
export function refuses(op: () => HostileOp, cases: Record<string, Case>): void {
  it.each(Object.entries(cases))('refuses: %s', async (_name, given) => {
    await expectRefused(op(), given)
  })
}

/** A table of deviations that must not matter. */
export function accepts(op: () => HostileOp, cases: Record<string, Case>): void {
  it.each(Object.entries(cases))('accepts: %s', async (_name, given) => {
    await expectAccepted(op(), given)
  })
}
