/** Step-up at the provider: `max_age` and `acr_values` go out, and only a fresh answer about the same account renews the session. */
import { describe, expect, it } from 'vitest'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { stepUpPlugin } from 'authkernel/plugins/step-up'
import { createWorld, type Strategy } from '../rows/_world.ts'
import { Client } from '../_setup.ts'

async function world(strategy: Strategy, provider: object = {}) {
  const found = createWorld(strategy, strategy === 'jwt' ? 'none' : 'split')
  const auth = found.auth.use(oidcPlugin({ ...found.op.provider('oidc', 'bank'), ...provider } as never)).use(stepUpPlugin())
  await auth.ready()
  const { op, client, options } = found
  const now = () => Math.floor(options.runtime.now() / 1000)
  const signIn = async (browser = client) => {
    await browser.get(await found.toProvider('bank', {}, browser))
    return browser
  }
  const request = (browser = client) =>
    new Request('http://localhost:3000/pay?sum=9', { headers: { cookie: browser.cookieHeader(), accept: 'text/html' } })
  /** Where the demand leads; undefined: the session satisfies it. */
  const demand = async (what: object = {}, browser = client) => {
    const found = await auth.stepUp.require(request(browser), what)
    if (!(found instanceof Response)) return undefined
    for (const line of found.headers.getSetCookie()) {
      const [pair = ''] = line.split(';')
      browser.cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1))
    }
    return new URL(found.headers.get('location')!)
  }
  const answer = async (location: URL, claims: Record<string, unknown>, browser = client) => {
    const before = op.person
    op.person = { ...before, ...claims } as never
    const response = await browser.get(await op.authorize(location.href))
    op.person = before
    return new URL(response.headers.get('location')!, 'http://localhost:3000')
  }
  return { ...found, auth, now, signIn, demand, answer, request }
}

describe.each(['jwt', 'database'] as const)('under the %s strategy', (strategy) => {
  it('asks with max_age and acr_values, and renews the session by the answer', async () => {
    const { options, signIn, demand, answer, now, client } = await world(strategy)
    await signIn()
    expect(await demand()).toBeUndefined()
    options.runtime.advance(301_000)
    const location = (await demand({ maxAge: 60, acr: ['gold', 'silver'] }))!
    expect(Object.fromEntries(location.searchParams)).toMatchObject({ max_age: '60', acr_values: 'gold silver', response_type: 'code' })
    expect(location.searchParams.has('sum')).toBe(false)
    const cookies = client.cookieHeader()
    const end = await answer(location, { auth_time: now(), acr: 'silver' })
    expect(end.pathname + end.search).toBe('/pay?sum=9')
    expect(client.cookieHeader()).not.toBe(cookies)
    expect([await demand({ maxAge: 60, acr: ['gold', 'silver'] }), (await demand({ maxAge: 60, acr: ['gold'] })) instanceof URL]).toEqual([
      undefined,
      true,
    ])
  })

  it.each<[string, (now: number) => Record<string, unknown>]>([
    ['another account', (now) => ({ sub: 'somebody-else', auth_time: now, acr: 'gold' })],
    ['a provider that ignores max_age', (now) => ({ auth_time: now - 400, acr: 'gold' })],
    ['no auth_time', () => ({ acr: 'gold' })],
    ['auth_time as text', (now) => ({ auth_time: String(now), acr: 'gold' })],
    ['a clock ahead', (now) => ({ auth_time: now + 4000, acr: 'gold' })],
    ['another acr', (now) => ({ auth_time: now, acr: 'bronze' })],
    ['a higher number by text', (now) => ({ auth_time: now, acr: 'golden' })],
    ['acr in a list', (now) => ({ auth_time: now, acr: ['gold'] })],
  ])('refuses %s, and nothing changes', async (_name, claims) => {
    const { options, signIn, demand, answer, now, client } = await world(strategy)
    await signIn()
    const before = await client.session()
    options.runtime.advance(301_000)
    const location = (await demand({ acr: ['gold'] }))!
    expect((await answer(location, claims(now()))).searchParams.get('error')).toBeTruthy()
    expect([(await client.session())?.user, (await demand({ acr: ['gold'] })) instanceof URL]).toEqual([before?.user, true])
  })

  it('a replay, and an answer for a user who signed in meanwhile, change nothing', async () => {
    const { auth, options, op, signIn, demand, answer, now, client } = await world(strategy)
    await signIn()
    options.runtime.advance(301_000)
    const location = (await demand())!
    op.person = { ...op.person, sub: 'eve', email: 'eve@example.com', name: 'Eve' }
    // In another tab of the same browser, Eve signs in.
    await client.post('/signout')
    await signIn()
    expect((await client.session())?.user?.name).toBe('Eve')
    options.runtime.advance(301_000)
    expect((await answer(location, { sub: 'alice', auth_time: now() })).searchParams.get('error')).toBeTruthy()
    expect([(await client.session())?.user?.name, (await demand()) instanceof URL]).toEqual(['Eve', true])
    // The state of one browser is unknown in another.
    const thief = await signIn(new Client(auth))
    expect((await answer((await demand())!, { auth_time: now() }, thief)).searchParams.get('error')).toBeTruthy()
  })
})

it.each(['jwt', 'database'] as const)('plain OAuth, %s: signing in there again satisfies the demand, by a new token', async (strategy) => {
  const found = createWorld(strategy, 'split')
  const auth = found.auth.use(stepUpPlugin())
  await auth.ready()
  const { client, options } = found
  const demand = () =>
    auth.stepUp.require(new Request('http://localhost:3000/pay', { headers: { cookie: client.cookieHeader(), accept: 'text/html' } }))
  await client.get(await found.toProvider('oauth'))
  expect(await demand()).not.toBeInstanceOf(Response)
  const before = client.cookies.get('authkernel.session-token')
  options.runtime.advance(301_000)
  expect(new URL(((await demand()) as Response).headers.get('location')!).pathname).toBe('/auth/signin')
  await client.get(await found.toProvider('oauth'))
  expect(await demand()).not.toBeInstanceOf(Response)
  expect(client.cookies.get('authkernel.session-token')).not.toBe(before)
})

it('mfa is believed of a trusted provider alone', async () => {
  const plain = await world('database')
  await plain.signIn()
  plain.options.runtime.advance(301_000)
  expect((await plain.demand({ level: 'mfa' }))?.pathname).toBe('/auth/signin')
  const { options, signIn, demand, answer, now } = await world('database', { trustAssurance: true })
  await signIn()
  options.runtime.advance(301_000)
  await answer((await demand({ level: 'mfa' }))!, { auth_time: now(), amr: ['pwd'] })
  expect(await demand({ level: 'mfa' })).toBeInstanceOf(URL)
  await answer((await demand({ level: 'mfa' }))!, { auth_time: now(), amr: ['pwd', 'mfa'] })
  expect(await demand({ level: 'mfa' })).toBeUndefined()
})

it('a session of another way to sign in is led to that way', async () => {
  const { client, options, demand } = await world('jwt')
  await client.post('/callback/password', { password: 'right' })
  options.runtime.advance(301_000)
  expect((await demand())?.pathname).toBe('/auth/signin')
})
