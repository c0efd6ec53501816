/** form_post, and the seams that presets of odd providers use (rows 206, 210, 361). */
import { describe, expect, it } from 'vitest'
import { locationOf } from '../_client.ts'
import { expectAccepted, expectRefused, instance, reasonOf, useOp } from '../_op/journey.ts'

const op = useOp()

describe('row 206: form_post', () => {
  const provider = { checks: ['state', 'nonce', 'pkce'], authorization: { params: { response_mode: 'form_post', scope: 'openid name' } } }
  const post = async (
    more: object = {},
    change: (fields: URLSearchParams) => void = () => {},
    script = {},
  ): Promise<{ location: string; errors: Error[]; name: unknown }> => {
    op().reset(script)
    const { client, errors } = instance(op(), { provider: { ...provider, ...more } })
    const back = new URL(await op().authorize(locationOf(await client.signIn('acme', { callbackUrl: '/there' }))))
    const fields = new URLSearchParams(back.searchParams)
    change(fields)
    // From another site, as a browser sends it: no token, a foreign Origin.
    const headers = { origin: op().issuer, 'sec-fetch-site': 'cross-site', 'content-type': 'application/x-www-form-urlencoded' }
    const response = await client.request('POST', `${back.origin}${back.pathname}`, { body: fields.toString(), headers })
    return { location: locationOf(response), errors, name: (await client.session())?.user?.name }
  }
  it('reads the body of a cross-site POST', async () => {
    expect(await post()).toEqual({ location: 'http://localhost:3000/there', errors: [], name: 'Alice' })
  })
  it('a callbackUrl in the body does not decide where the person lands', async () => {
    expect((await post({}, (fields) => fields.set('callbackUrl', '/evil'))).location).toBe('http://localhost:3000/there')
  })
  it('refuses repeated parameters in the body (D36)', async () => {
    for (const name of ['state', 'code', 'iss', 'error']) {
      const { location, errors } = await post({}, (fields) => ['a', 'b'].forEach((value) => fields.append(name, value)))
      expect(location).toContain('error=Configuration')
      expect(errors).toHaveLength(1)
    }
  })
  it('row 192: an error of the provider', async () => {
    const { location } = await post({}, (fields) => (fields.delete('code'), fields.set('error', 'user_cancelled_authorize')))
    expect(location).toBe('http://localhost:3000/auth/signin?error=OAuthCallbackError')
  })
  it('row 210: callback() folds fields of the form into the claims, but not into whose they are', async () => {
    const callback = ({ user }: Record<string, string>, claims: { sub: string }): object => ({
      ...claims,
      ...(user !== undefined && (JSON.parse(user) as object)),
    })
    const fold = (value: object): Promise<{ name: unknown; location: string }> =>
      post({ callback }, (fields) => fields.set('user', JSON.stringify(value)))
    expect((await fold({ name: 'Ada Lovelace' })).name).toBe('Ada Lovelace')
    expect((await fold({ sub: 'victim' })).location).toContain('error=Configuration')
    expect((await post({ callback }, (fields) => fields.set('user', 'no json'))).location).toContain('error=Configuration')
    expect((await post({ callback: () => null })).location).toContain('error=Configuration')
  })
})

describe('row 210: issuers that depend on the tenant', () => {
  const tenant = (value: unknown): unknown => `${String(value)}/{tenantid}`
  const discovery = (document: Record<string, unknown>): Record<string, unknown> => ({ ...document, issuer: tenant(document['issuer']) })
  const provider = {
    discoveryIssuer: '{issuer}/{tenantid}',
    issuerOf: ({ tid }: { tid?: unknown }, { issuer }: { issuer: string }) => {
      if (tid === 'blocked') throw new Error('tenant is blocked')
      return `${issuer}/${String(tid)}`
    },
  }
  const claims =
    (tid: string, iss = tid) =>
    (good: Record<string, unknown>): Record<string, unknown> => ({ ...good, tid, iss: `${String(good['iss'])}/${iss}` })
  it('accepts the issuer that the host computes, and no other', async () => {
    await expectAccepted(op(), { discovery, provider, claims: claims('t1') })
    await expectRefused(op(), { discovery, provider, claims: claims('t1', 't2') })
    await expectRefused(op(), { discovery, provider, claims: (good) => ({ ...good, tid: 't1' }) })
    await expectRefused(op(), { discovery, provider, claims: claims('blocked') })
    await expectRefused(op(), { discovery, provider, idToken: () => 'abc' })
  })
  it('the template itself is not an issuer', async () => {
    await expectRefused(op(), { discovery, provider: { issuerOf: provider.issuerOf }, claims: claims('t1') })
    await expectRefused(op(), { discovery, provider: { discoveryIssuer: provider.discoveryIssuer }, claims: claims('t1') })
  })
})

describe('row 361: metadata in other places', () => {
  it('wellKnown instead of issuer: the issuer is the one whose document it is', async () => {
    const wellKnown = `${op().issuer}/.well-known/openid-configuration`
    await expectAccepted(op(), { provider: { issuer: undefined, wellKnown } })
    await expectRefused(op(), {
      provider: { issuer: undefined, wellKnown },
      discovery: (document) => ({ ...document, issuer: 'https://evil.example' }),
    })
    await expectRefused(op(), {
      provider: { issuer: undefined, wellKnown },
      discovery: (document) => ({ ...document, issuer: `${String(document['issuer'])}/tenant` }),
    })
  })
  it('wellKnown beside issuer: another place, the same issuer', async () => {
    await expectAccepted(op(), { provider: { wellKnown: '{issuer}/.well-known/openid-configuration' } })
    await expectRefused(op(), { provider: { issuer: 'https://op.example', wellKnown: `${op().issuer}/.well-known/openid-configuration` } })
  })
  it('jwks_endpoint and all endpoints given: no discovery', async () => {
    const { issuer } = op()
    await expectAccepted(op(), {
      provider: { authorization: `${issuer}/authorize`, token: `${issuer}/token`, jwks_endpoint: `${issuer}/jwks` },
    })
    expect(op().count('/.well-known/openid-configuration')).toBe(0)
    await expectRefused(op(), { provider: { jwks_endpoint: `${issuer}/nowhere` } })
  })
  it('an endpoint that the host names itself may be inside its network', async () => {
    const outcome = await expectRefused(op(), { discovery: (document) => ({ ...document, token_endpoint: 'https://10.0.0.1/token' }) })
    expect(reasonOf(outcome)).toContain('Name the endpoint in the options')
  })
})
