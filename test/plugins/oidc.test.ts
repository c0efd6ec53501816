/** The oidc provider type through the kernel's public door, against a real server. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAuth, type AuthConfig } from 'authkernel'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { Client, locationOf } from '../_client.ts'
import { HostileOp } from '../_op/hostile.ts'

const secret = 'a-secret-of-at-least-thirty-two-characters'
let op: HostileOp
beforeAll(async () => {
  op = await new HostileOp().listen()
})
afterAll(() => op.close())
beforeEach(() => op.reset())

const setup = (provider: object = {}, config: AuthConfig = {}) => {
  const errors: Error[] = []
  const auth = createAuth({
    secret,
    trustHost: true,
    env: false,
    logger: { error: (error) => errors.push(error), warn() {} },
    ...config,
  }).use(oidcPlugin({ id: 'acme', issuer: op.issuer, clientId: op.clientId, clientSecret: op.clientSecret, ...provider }))
  return { auth, errors, client: new Client(auth) }
}

describe('first', () => {
  it('row 177: authorization code flow', async () => {
    const { client, errors } = setup()
    const started = await client.signIn('acme')
    const back = await op.authorize(locationOf(started))
    const done = await client.get(back)
    expect(errors).toEqual([])
    expect(locationOf(done)).toBe('http://localhost:3000')
    expect(await client.session()).toMatchObject({ user: { name: 'Alice', email: 'alice@example.com' } })
  })
})
