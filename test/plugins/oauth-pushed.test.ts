/** Pushed authorization requests at the real `oidc-provider` (RFC 9126). */
import { createAuth } from 'authkernel'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Client, locationOf } from '../_client.ts'
import { type RealOp, realOp } from '../_op/real.ts'

const clientSecret = 'a-client-secret-of-some-length-for-hmac-use'
const clients = [
  {
    client_id: 'app',
    client_secret: clientSecret,
    redirect_uris: ['http://localhost:3000/auth/callback/acme'],
    response_types: ['code'],
    grant_types: ['authorization_code'],
  },
]
const features = { devInteractions: { enabled: false } }
let [free, strict]: RealOp[] = []
beforeAll(async () => {
  free = await realOp(clients, { features })
  strict = await realOp(clients, {
    features: { ...features, pushedAuthorizationRequests: { enabled: true, requirePushedAuthorizationRequests: true } },
  })
})
afterAll(() => Promise.all([free?.stop(), strict?.stop()]))

function setup(op: RealOp, provider: object = {}): { browser: Client; errors: Error[] } {
  const errors: Error[] = []
  const config = { secret: 'the-secret-of-the-instance-has-40-letters', trustHost: true, env: false as const }
  const auth = createAuth({ ...config, logger: { error: (error) => void errors.push(error), warn() {} } })
  auth.use(oidcPlugin({ id: 'acme', issuer: op.issuer, clientId: 'app', clientSecret, ...provider }))
  return { browser: new Client(auth), errors }
}

it.each<[string, () => RealOp, object]>([
  ['the provider requires it', () => strict!, {}],
  ['the host wants it', () => free!, { pushedAuthorization: true }],
])('%s: the browser carries client_id and request_uri alone, and the sign-in works', async (_name, op, provider) => {
  const { browser, errors } = setup(op(), provider)
  const start = locationOf(await browser.signIn('acme', {}, '?login_hint=ann'))
  expect([...new URL(start).searchParams.keys()].sort()).toEqual(['client_id', 'request_uri'])
  expect(locationOf(await browser.get(await op().visit(start)))).toBe('http://localhost:3000')
  expect([errors, await browser.session()]).toEqual([[], expect.objectContaining({ user: expect.anything() as unknown })])
})

it('without either nothing is pushed', async () => {
  const { browser } = setup(free!)
  expect(new URL(locationOf(await browser.signIn('acme'))).searchParams.has('request_uri')).toBe(false)
})

it('a provider that refuses the request is an error of the sign-in, without the secret in it', async () => {
  const { browser, errors } = setup(strict!, { clientSecret: 'a-wrong-secret-that-must-not-be-logged' })
  expect(locationOf(await browser.signIn('acme'))).toContain('error=Configuration')
  expect([errors[0]?.name, JSON.stringify(errors[0]?.cause)]).toEqual(['OAuthSignInError', expect.not.stringContaining('a-wrong-secret')])
})

it('an option of the wrong type is named', async () => {
  const { browser, errors } = setup(free!, { pushedAuthorization: 'yes' })
  await browser.get('/providers')
  expect(errors[0]?.message).toContain('`pushedAuthorization`')
})
