/** Every preset through a complete sign-in, against a stub that behaves as the provider's facts say. */
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Account, Profile, Provider, User } from 'authkernel'
import { locationOf } from '../_client.ts'
import {
  authorizationParams,
  authorizationUrl,
  clientId,
  clientSecret,
  expectedUser,
  tokenRequest,
  userinfoRequest,
  valuesOf,
} from './_expected.ts'
import { broken, type Fact, facts } from './_facts.ts'
import { createHost, origin } from './_host.ts'
import { profileIn, type Sample, samples } from './_samples.ts'
import { createStub, type Seen, type Stub } from './_stub.ts'

interface Outcome {
  authorization: URL
  stub: Stub
  user: User
  account: Account
  profile: Profile
}

async function signIn(fact: Fact, sample: Sample, answer: Record<string, unknown>): Promise<Outcome> {
  const { default: preset } = (await import(`../../plugins/providers/${fact.id}.ts`)) as { default: (options: object) => Provider }
  const stub = createStub(fact, sample, answer)
  const host = createHost(preset({ clientId, clientSecret, ...sample.options }), stub.fetch)
  stub.now = host.now()
  const authorization = await host.start()
  stub.nonce = authorization.searchParams.get('nonce') ?? undefined
  const done = await host.back(authorization, fact.id === 'vk-id' ? { device_id: 'device-1' } : {})
  expect(host.errors.map((error) => [error.message, error.cause])).toEqual([])
  expect(locationOf(done)).toBe(origin)
  expect(await host.client.session()).toMatchObject({ expires: expect.any(String) })
  return { ...host.asked(), authorization, stub }
}

describe.each(facts.map((fact) => [fact.id, fact] as const))('row 209: %s', (_, fact) => {
  const sample = samples[fact.id]!
  const values = valuesOf(fact, sample)

  it('signs in: authorization URL, token request, userinfo request, user', async () => {
    const { authorization, stub, ...outcome } = await signIn(fact, sample, sample.full)
    checkAuthorization(fact, values, authorization)
    checkToken(fact, values, stub.seen.token, authorization)
    checkUserinfo(fact, values, stub.seen.userinfo)
    checkUser(fact, sample, sample.full, outcome)
    expect(outcome.profile).toMatchObject(profileIn(sample.full, sample))
  })

  it('signs in with a sparse profile', async () => {
    checkUser(fact, sample, sample.sparse, await signIn(fact, sample, sample.sparse))
  })
})

function checkAuthorization(fact: Fact, values: Record<string, unknown>, url: URL): void {
  const { code_challenge: challenge, state, nonce, ...params } = Object.fromEntries(url.searchParams)
  const checks = fact.effectiveChecks
  expect(url.origin + url.pathname).toBe(authorizationUrl(fact, values))
  expect(params).toEqual({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: `${origin}/auth/callback/${fact.id}`,
    ...(checks.includes('pkce') && { code_challenge_method: 'S256' }),
    ...authorizationParams(fact, values),
  })
  // D47: a state is always sent.
  expect(state).toMatch(/^.{20,}$/)
  expect(challenge !== undefined).toBe(checks.includes('pkce'))
  expect(nonce !== undefined).toBe(checks.includes('nonce'))
  expect(url.href).not.toMatch(/undefined|%7B(issuer|clientId)/)
}

function checkToken(fact: Fact, values: Record<string, unknown>, seen: Seen[], authorization: URL): void {
  expect(seen).toHaveLength(1)
  const { method, url, headers, text } = seen[0]!
  const { client_id: id, client_secret: given, code_verifier: verifier, ...body } = Object.fromEntries(new URLSearchParams(text))
  expect(method).toBe('POST')
  expect(Object.fromEntries(url.searchParams)).toEqual(tokenRequest(fact, values)?.query ?? {})
  const challenge = authorization.searchParams.get('code_challenge') ?? undefined
  if (fact.id === 'azure-devops') {
    expect(body).toEqual({
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: clientSecret,
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: 'code-1',
      redirect_uri: `${origin}/auth/callback/azure-devops`,
    })
    return
  }
  expect(body).toEqual({
    grant_type: 'authorization_code',
    code: 'code-1',
    redirect_uri: `${origin}/auth/callback/${fact.id}`,
    ...tokenRequest(fact, values)?.body,
    ...(fact.id === 'vk-id' && { device_id: 'device-1', state: authorization.searchParams.get('state') }),
  })
  expect(verifier && createHash('sha256').update(verifier).digest('base64url')).toBe(challenge)
  const basic = `Basic ${btoa(`${clientId}:${clientSecret}`)}`
  if (fact.tokenEndpointAuth === 'client_secret_basic') expect(headers.get('authorization')).toBe(basic)
  else
    expect([headers.get('authorization'), id, given]).toEqual([
      null,
      clientId,
      fact.tokenEndpointAuth === 'none' ? undefined : clientSecret,
    ])
}

function checkUserinfo(fact: Fact, values: Record<string, unknown>, seen: Seen[]): void {
  if (fact.type === 'oidc') {
    expect(seen).toHaveLength(fact.idToken === false ? 1 : 0)
    for (const { headers } of seen) expect(headers.get('authorization')).toBe('Bearer access-token-1')
    return
  }
  expect(seen).toHaveLength(1)
  const wire = userinfoRequest(fact, values)
  const { method, url, headers, text } = seen[0]!
  expect([method, decodeURIComponent(url.pathname)]).toEqual([wire.method, new URL(wire.url || url.href).pathname.replaceAll('%20', ' ')])
  expect(Object.fromEntries(url.searchParams)).toEqual(wire.query)
  expect(Object.fromEntries(headers)).toMatchObject(wire.headers)
  for (const name of wire.without) expect(headers.has(name)).toBe(false)
  if (typeof wire.body === 'object') {
    const form = headers.get('content-type')?.startsWith('application/x-www-form-urlencoded')
    expect(form ? Object.fromEntries(new URLSearchParams(text)) : JSON.parse(text)).toEqual(wire.body)
  } else expect(text).toBe('')
}

function checkUser(
  fact: Fact,
  sample: Sample,
  answer: Record<string, unknown>,
  { user, account }: Pick<Outcome, 'user' | 'account'>,
): void {
  const { id, ...expected } = expectedUser(fact, answer, sample, valuesOf(fact, sample))
  expect(account).toMatchObject({ provider: fact.id, type: fact.type, providerAccountId: String(id) })
  const { id: own, ...made } = user as unknown as Record<string, unknown>
  expect(own).not.toBe(id)
  for (const [name, value] of Object.entries(expected)) {
    // Where Auth.js fails on a sparse profile, or writes "undefined", there may be nothing, or the part that is known.
    if (value === broken) expect(made[name] ?? null, name).toBeOneOf([null, 'Ada'])
    // An address that is null is none: Auth.js leaves it out as well.
    else if (name === 'email') expect(made[name], name).toBe(typeof value === 'string' ? value.toLowerCase() : undefined)
    else expect(made[name], name).toBe(value)
  }
  expect(Object.keys(made).filter((name) => !(name in expected))).toEqual([])
  expect(JSON.stringify(made)).not.toMatch(/undefined|\[object/)
}
