/** Sign-outs and signals of a provider while calls to the store fail: whatever happens, what is sent again has its effect, once. */
import { createAuth } from 'authkernel'
import type { Auth } from 'authkernel/kernel'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { providerTokensPlugin, type ProviderTokensApi } from 'authkernel/plugins/provider-tokens'
import { sharedSignalsPlugin } from 'authkernel/plugins/shared-signals'
import { singleLogoutPlugin } from 'authkernel/plugins/single-logout'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Client, locationOf } from '../_client.ts'
import { HostileOp } from '../_op/hostile.ts'
import { type Jwk, jws, keys } from '../_op/keys.ts'
import { type FaultMode, faultModes, type FaultPlan, faulty } from './_faults.ts'
import { isFullTier } from '../_tier.ts'

let op: HostileOp
beforeAll(async () => {
  op = await new HostileOp().listen()
})
afterAll(() => op.close())

let number = 0
type Strategy = 'jwt' | 'database'
interface Site {
  auth: Auth<ProviderTokensApi>
  plan: FaultPlan
  told: string[]
  errors: Error[]
  person: { userId: string }
  signIn(): Promise<Client>
  send: Record<'logout' | 'signal', () => () => Promise<number>>
}
function site(strategy: Strategy): Site {
  const plan: FaultPlan = { armed: false, calls: [], at: -1, mode: 'hangs' }
  const told: string[] = []
  const errors: Error[] = []
  const person = { userId: '' }
  const auth = createAuth({
    secret: 'the-secret-of-the-instance-has-40-letters',
    trustHost: true,
    env: false,
    logger: { error: (error: Error) => void errors.push(error), warn() {} },
    adapter: faulty(memoryAdapter(), plan, ['records', 'once']),
    session: { strategy, ...(strategy === 'jwt' && { revocable: true }) },
    deadlines: { store: 300 },
  } as never)
    .use(oidcPlugin({ id: 'acme', issuer: op.issuer, clientId: op.clientId, clientSecret: op.clientSecret }))
    .use(singleLogoutPlugin())
    .use(sharedSignalsPlugin({ providers: { acme: { revoke: true } } }))
    .use(providerTokensPlugin())
  auth.on('signIn', ({ user }) => void (person.userId = user.id ?? ''))
  for (const name of ['providerLogout', 'signalReceived'] as const) auth.on(name, () => void told.push(name))
  const signed = (typ: string, change: Jwk): string => {
    const iat = Math.floor(Date.now() / 1000)
    const claims = { iss: op.issuer, aud: op.clientId, iat, jti: `fault-${number++}`, ...change }
    return jws({ alg: keys.k1.alg, kid: keys.k1.kid, typ }, claims, keys.k1)
  }
  const post = (path: string, body: string, type: string) => async (): Promise<number> => {
    const headers = { 'content-type': type }
    return (await auth.handler(new Request(`http://localhost:3000/auth/${path}`, { method: 'POST', body, headers }))).status
  }
  return {
    auth,
    plan,
    told,
    errors,
    person,
    async signIn() {
      op.reset({ claims: (own) => ({ ...own, sub: 'alice', sid: 'one' }) })
      const browser = new Client(auth)
      await browser.get(await op.authorize(locationOf(await browser.signIn('acme'))))
      expect(await browser.session()).not.toBeNull()
      return browser
    },
    send: {
      logout: () => {
        const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
        const token = signed('logout+jwt', { sid: 'one', sub: 'alice', exp: Math.floor(Date.now() / 1000) + 120, events })
        return post('backchannel-logout/acme', `logout_token=${token}`, 'application/x-www-form-urlencoded')
      },
      signal: () => {
        const events = { 'https://schemas.openid.net/secevent/caep/event-type/session-revoked': {} }
        const sub_id = { format: 'iss_sub', iss: op.issuer, sub: 'alice' }
        return post('signals/acme', signed('secevent+jwt', { sub_id, events }), 'application/secevent+jwt')
      },
    },
  }
}

const done = { logout: 200, signal: 202 } as const
const events = { logout: 'providerLogout', signal: 'signalReceived' } as const

describe.each(['jwt', 'database'] as const)('%s sessions', (strategy) => {
  describe.each(['logout', 'signal'] as const)('a %s', (kind) => {
    it.each(faultModes)('the store %s at one call or another: sent again it counts, once, and ends no later session', async (mode) => {
      let at = 0
      // The gate takes every second call.
      while (await journey(strategy, kind, mode, at)) at += isFullTier ? 1 : 2
      // A mark, a look or a record of what ends, and what ends it.
      expect(at).toBeGreaterThanOrEqual(3)
    })
  })
})

/** False: there are fewer calls than that. */
async function journey(strategy: Strategy, kind: 'logout' | 'signal', mode: FaultMode, at: number): Promise<boolean> {
  const { auth, plan, send, signIn, told, errors, person } = site(strategy)
  const browser = await signIn()
  Object.assign(plan, { armed: true, mode, at })
  const again = send[kind]()
  const status = await again()
  const where = `call ${at}: ${plan.calls.join()}`
  expect([done[kind], 503], where).toContain(status)
  const reached = plan.calls.length > at
  plan.armed = false
  expect(await again(), where).toBe(done[kind])
  expect([await browser.session(), told], where).toEqual([null, [events[kind]]])
  expect(errors.filter(({ message }) => /eyJ[\w-]{8,}\.eyJ/.test(message))).toEqual([])
  if (kind === 'logout') expect(await auth.tokens.get(person, 'acme'), where).toBeNull()
  // A sender that goes on sending ends nothing that began later.
  await new Promise((resolve) => setTimeout(resolve, 5))
  const later = await signIn()
  expect(await again(), where).toBe(done[kind])
  expect([(await later.session()) !== null, told.length], where).toEqual([true, 1])
  return reached
}
