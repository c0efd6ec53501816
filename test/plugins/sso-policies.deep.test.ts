/** A policy demands the connection at every way in: each one that the list of ways in knows, and what must still work. */
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { accountsPlugin } from 'authkernel/plugins/accounts'
import { addressPlugin } from 'authkernel/plugins/address'
import { bearerPlugin } from 'authkernel/plugins/bearer'
import { codesPlugin, email } from 'authkernel/plugins/codes'
import { authorizationServerPlugin } from 'authkernel/plugins/authorization-server'
import { deviceFlowPlugin } from 'authkernel/plugins/device-flow'
import { jwtPlugin } from 'authkernel/plugins/jwt'
import { passwordsPlugin } from 'authkernel/plugins/passwords'
import { stepUpPlugin } from 'authkernel/plugins/step-up'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { enter, type WayIn, waysIn } from '../access/_host.ts'
import { termsPlugin } from '../access/_terms.ts'
import type { RealOp } from '../_op/real.ts'
import { customFetch } from 'authkernel/kernel'
import { settle } from '../_settle.ts'
import { ticketOf } from './_authorization-server.ts'
import { Client } from '../_setup.ts'
import { companyIdp, fetchByName, makeCertificate, movedRuntime, origin, signInWith, ssoWorld, system } from './_sso.ts'

const tls = makeCertificate()
const hour = 3_600_000
let op: RealOp & { redirects: string[] }
beforeAll(async () => {
  op = await companyIdp(tls, {
    amy: { name: 'Amy', email: 'amy@acme.example' },
    ada: { name: 'Ada', email: 'ada@acme.example' },
    max: { name: 'Max', email: 'max@acme.example' },
  })
})
afterAll(() => op.stop())

/** `ada` owns Acme; `amy` and `max` have its addresses; `con` is a member with an address of her own; `cy` is of nothing. */
async function made(strategy: 'jwt' | 'database') {
  const store = memoryAdapter(memoryData())
  const runtime = movedRuntime()
  const world = await ssoWorld(store, {
    strategy,
    cert: tls.cert,
    runtime,
    providers: [
      {
        id: 'hub',
        name: 'Hub',
        type: 'oidc',
        issuer: op.issuer,
        clientId: 'app',
        clientSecret: 'the-secret-of-the-client',
        [customFetch]: fetchByName(tls.cert),
      },
    ],
    plugins: [
      accountsPlugin(),
      addressPlugin(),
      bearerPlugin({ apps: [{ id: 'app', name: 'App', redirectUris: ['https://app.example/signed-in'], scopes: ['read'] }] }),
      deviceFlowPlugin({ apps: ['app'] }),
      jwtPlugin(),
      authorizationServerPlugin({
        clients: [{ client_id: 'tv', client_name: 'TV', grant_types: ['urn:ietf:params:oauth:grant-type:device_code'] }],
        device: {},
      }),
      passwordsPlugin({ breached: false }),
      codesPlugin({ via: email() }),
      stepUpPlugin(),
      termsPlugin(({ account }) => account['terms'] === true),
    ],
  })
  world.auth.hook('signIn', ({ account, credentials }) => {
    if (credentials?.['terms'] === '1') Object.assign(account, { terms: true })
    return true
  })
  for (const [id, address] of Object.entries({
    ada: 'ada@acme.example',
    amy: 'amy@acme.example',
    max: 'max@acme.example',
    con: 'con@mail.example',
    cy: 'cy@mail.example',
  }))
    await store.createUser({ id, email: address, name: id, emailVerified: new Date(0) })
  const acme = await world.company('Acme', 'ada', ['acme.example'])
  await world.addMember(acme, 'con')
  const connection = await world.auth.sso.create(system, acme, {
    name: 'Acme ID',
    issuer: op.issuer,
    clientId: 'app',
    clientSecret: 'the-secret-of-the-client',
  })
  op.redirects.push(`${origin}/auth${connection.callbackPath}`)
  const isIn = async (client: Client): Promise<boolean> => (await client.session()) !== null
  return { ...world, acme, connection, runtime, isIn }
}
const both = { domains: true, members: true }
const errorOf = (answer: Response) => new URL(answer.headers.get('location') ?? '/', origin).searchParams.get('error')
const pathOf = (answer: Response) => new URL(answer.headers.get('location') ?? '/none', origin).pathname

describe.each(['database', 'jwt'] as const)('a policy (%s)', (strategy) => {
  it.each(waysIn)('closes the way in by %s for a user with a session of before the policy', async (way: WayIn) => {
    const { auth, acme, browser, isIn } = await made(strategy)
    const copied = await browser('max')
    const host = auth as never // the walk asks only for what both hosts have
    const asMax = (what: WayIn) => enter[what](host, copied, 'max').catch(() => undefined)
    const before = await asMax(way)
    expect(before).toBeDefined()
    const { ended } = await auth.sso.setPolicy(system, acme, both)
    expect(ended).toBe(4)
    expect(await isIn(copied)).toBe(false)
    const after = await asMax(way)
    const open = after !== undefined && (await auth.session(new Request(origin, { headers: after }))) !== null
    expect(open).toBe(false)
  })

  it('leads to the connection with a message, and lets in who comes by it', async () => {
    const { auth, acme, browser, isIn, connection } = await made(strategy)
    await auth.sso.setPolicy(system, acme, both)
    const client = new Client(auth)
    const answer = await client.post('/callback/credentials', { user: 'amy', callbackUrl: '/after' })
    expect(pathOf(answer)).toBe('/auth/sso/start')
    const page = await (await client.get(answer.headers.get('location') ?? '')).text()
    expect(page).toContain('Your organization requires its own sign-in')
    expect(page).toContain(`/signin/${connection.providerId}`)
    const back = await signInWith(client, op, connection.providerId, 'amy', '/after')
    expect(back.headers.get('location')).toBe(`${origin}/after`)
    expect(await isIn(client)).toBe(true)
    expect(await isIn(await browser('cy'))).toBe(true)
    expect(await isIn(await browser('con'))).toBe(false)
  })

  it('ends sessions of other methods and keeps the one of the connection', async () => {
    const { auth, acme, browser, isIn, connection } = await made(strategy)
    const [other, cy, company] = [await browser('amy'), await browser('cy'), new Client(auth)]
    await signInWith(company, op, connection.providerId, 'amy')
    expect(await isIn(company)).toBe(true)
    await auth.sso.setPolicy(system, acme, both)
    expect([await isIn(other), await isIn(company), await isIn(cy)]).toEqual([false, true, true])
  })

  it('holds after its grace, and then ends what it forbids', async () => {
    const { auth, acme, browser, isIn, runtime } = await made(strategy)
    const from = new Date(runtime.now() + hour)
    expect((await auth.sso.setPolicy(system, acme, { ...both, from })).ended).toBeUndefined()
    const client = await browser('max')
    expect(await isIn(client)).toBe(true)
    runtime.advance(hour + 1000)
    expect(await isIn(await browser('max'))).toBe(false)
    await settle()
    await auth.sso.applyDuePolicies()
    expect(await isIn(client)).toBe(false)
    expect((await auth.sso.getPolicy(system, acme))?.applied).toBe(true)
  })

  it('leaves owners of the break-glass list and named users their methods', async () => {
    const { auth, acme, browser, isIn } = await made(strategy)
    await expect(auth.sso.setPolicy(system, acme, { ...both, breakGlass: ['max'] })).rejects.toThrow('ids of owners')
    const notes: string[] = []
    auth.on('noted', ({ name }) => void notes.push(name))
    await auth.sso.setPolicy(system, acme, { ...both, breakGlass: ['ada'], exceptions: ['max@acme.example'] })
    expect([await isIn(await browser('ada')), await isIn(await browser('max')), await isIn(await browser('amy'))]).toEqual([
      true,
      true,
      false,
    ])
    expect(notes.filter((name) => name === 'sso.breakGlass.used')).toHaveLength(1)
    expect(await auth.sso.removePolicy(system, acme)).toBe(true)
    expect(await isIn(await browser('amy'))).toBe(true)
  })
})

describe.each(['database', 'jwt'] as const)('a policy follows the organization (%s)', (strategy) => {
  it.each(['removed', 'switched off'])('a connection that is %s leaves no session behind', async (what) => {
    const { auth, acme, connection, isIn } = await made(strategy)
    const settings = { issuer: op.issuer, clientId: 'app', clientSecret: 'the-secret-of-the-client' }
    const next = await auth.sso.create(system, acme, { ...settings, name: 'Next' })
    op.redirects.push(`${origin}/auth${next.callbackPath}`)
    await auth.sso.setPolicy(system, acme, both)
    const [left, kept] = [new Client(auth), new Client(auth)]
    await signInWith(left, op, connection.providerId, 'amy')
    await signInWith(kept, op, next.providerId, 'max')
    expect([await isIn(left), await isIn(kept)]).toEqual([true, true])
    if (what === 'removed') await auth.sso.remove(system, connection.id)
    else await auth.sso.update(system, connection.id, { enabled: false })
    expect([await isIn(left), await isIn(kept)]).toEqual([false, true])
    await signInWith(left, op, next.providerId, 'amy')
    expect(await isIn(left)).toBe(true)
  })

  it('a user who becomes a member keeps no session of another method', async () => {
    const { auth, acme, browser, isIn, addMember } = await made(strategy)
    await auth.sso.setPolicy(system, acme, both)
    const client = await browser('cy')
    expect(await isIn(client)).toBe(true)
    await addMember(acme, 'cy')
    expect([await isIn(client), await isIn(await browser('cy'))]).toEqual([false, false])
  })

  it('an owner of the break-glass list who is no owner any more comes under it at once', async () => {
    const { auth, acme, browser, isIn, addMember, changeRole } = await made(strategy)
    await addMember(acme, 'cy')
    await changeRole(acme, 'cy', 'owner')
    await auth.sso.setPolicy(system, acme, { ...both, breakGlass: ['ada'] })
    const client = await browser('ada')
    expect(await isIn(client)).toBe(true)
    await changeRole(acme, 'ada', 'member')
    expect([await isIn(client), await isIn(await browser('ada'))]).toEqual([false, false])
  })

  it('an owner of the break-glass list who hands the organization over comes under it at once', async () => {
    const { auth, acme, browser, isIn, addMember } = await made(strategy)
    await addMember(acme, 'cy')
    await auth.sso.setPolicy(system, acme, { ...both, breakGlass: ['ada'] })
    const client = await browser('ada')
    await auth.organizations.transfer({ userId: 'ada' }, acme, 'cy')
    expect([await isIn(client), await isIn(await browser('ada'))]).toEqual([false, false])
  })

  it.each(['suspend', 'remove'] as const)('an owner of the break-glass list comes under it at once by `%s`', async (how) => {
    const { auth, acme, browser, isIn, addMember, changeRole } = await made(strategy)
    await addMember(acme, 'cy')
    await changeRole(acme, 'cy', 'owner')
    await auth.sso.setPolicy(system, acme, { ...both, breakGlass: ['ada'] })
    const client = await browser('ada')
    expect(await isIn(client)).toBe(true)
    await auth.organizations[how](system, acme, 'ada')
    expect([await isIn(client), await isIn(await browser('ada'))]).toEqual([false, false])
  })

  it('a change of role ends no session of a connection', async () => {
    const { auth, acme, isIn, connection, changeRole } = await made(strategy)
    await auth.sso.setPolicy(system, acme, both)
    const [one, other] = [new Client(auth), new Client(auth)]
    for (const client of [one, other]) await signInWith(client, op, connection.providerId, 'max')
    for (const role of ['admin', 'owner', 'member']) await changeRole(acme, 'max', role)
    expect([await isIn(one), await isIn(other)]).toEqual([true, true])
  })

  it('a member who was removed does not come back by a sign-in', async () => {
    const { auth, acme, connection, isMember, removeMember } = await made(strategy)
    const signIn = async () => signInWith(new Client(auth), op, connection.providerId, 'max')
    await signIn()
    expect(await isMember(acme, 'max')).toBe(true)
    await removeMember(acme, 'max')
    await signIn()
    expect(await isMember(acme, 'max')).toBe(false)
  })

  it.each(['joins by the domain', 'joins by a sign-in', 'is restored'])(
    'a member who %s keeps no session of another method',
    async (how) => {
      const { auth, acme, addMember, browser, isIn } = await made(strategy)
      const user = how === 'is restored' ? 'cy' : 'max'
      if (user === 'cy') {
        await addMember(acme, 'cy')
        await auth.organizations.suspend(system, acme, 'cy')
      } else await auth.organizations.domains.setJoining(system, acme, 'acme.example', how === 'joins by a sign-in' ? 'join' : 'suggest')
      await auth.sso.setPolicy(system, acme, { domains: false, members: true })
      const client = await browser(user)
      // No member, or one whose membership demands nothing.
      if (how !== 'joins by a sign-in') expect(await isIn(client)).toBe(true)
      if (user === 'cy') await auth.organizations.restore(system, acme, 'cy')
      else if (how === 'joins by the domain') await auth.organizations.join({ userId: 'max' }, acme)
      expect([await isIn(client), await isIn(await browser(user))]).toEqual([false, false])
    },
  )

  it('a user whom the domain lets join at a sign-in by the connection keeps that session', async () => {
    const { auth, acme, connection, isIn, isMember } = await made(strategy)
    await auth.sso.update(system, connection.id, { join: false })
    await auth.organizations.domains.setJoining(system, acme, 'acme.example', 'join')
    await auth.sso.setPolicy(system, acme, { domains: false, members: true })
    const client = new Client(auth)
    await signInWith(client, op, connection.providerId, 'max')
    expect([await isIn(client), await isMember(acme, 'max')]).toEqual([true, true])
  })

  it('a user who becomes a member by the connection keeps that session alone', async () => {
    const { auth, acme, browser, isIn, connection } = await made(strategy)
    await auth.sso.setPolicy(system, acme, { domains: false, members: true })
    const other = await browser('max')
    expect(await isIn(other)).toBe(true)
    const client = new Client(auth)
    await signInWith(client, op, connection.providerId, 'max')
    expect([await isIn(client), await isIn(other)]).toEqual([true, false])
  })

  it('a domain that is proved later is under it', async () => {
    const { auth, acme, browser, isIn, prove } = await made(strategy)
    await auth.sso.setPolicy(system, acme, { domains: true, members: false })
    const client = await browser('cy')
    expect(await isIn(client)).toBe(true)
    await prove(acme, 'mail.example')
    expect([await isIn(client), await isIn(await browser('cy'))]).toEqual([false, false])
  })

  it('a domain that is proved later ends the API keys of its users, also those made since the policy began, and no others', async () => {
    const { auth, acme, browser, connection, runtime, prove } = await made(strategy)
    await auth.sso.setPolicy(system, acme, { domains: true, members: false })
    runtime.advance(1000)
    const makeKey = async (client: Client) =>
      (await auth.apiKeys.create(new Request(origin, { headers: { cookie: client.cookieHeader() } }), { name: 'mine' })).key
    const opens = async (key: string) => (await auth.session(new Request(origin, { headers: { 'x-api-key': key } }))) !== null
    const amy = new Client(auth)
    await signInWith(amy, op, connection.providerId, 'amy')
    const [own, late] = [await makeKey(amy), await makeKey(await browser('cy'))]
    expect([await opens(own), await opens(late)]).toEqual([true, true])
    await prove(acme, 'mail.example')
    expect([await opens(own), await opens(late)]).toEqual([true, false])
  })
})

describe('under a policy', () => {
  async function companySession() {
    const world = await made('database')
    await world.auth.sso.setPolicy(system, world.acme, both)
    const client = new Client(world.auth)
    await signInWith(client, op, world.connection.providerId, 'amy')
    expect(await world.isIn(client)).toBe(true)
    return { ...world, client }
  }
  const tokenOf = (mails: readonly { text: string }[]): string =>
    decodeURIComponent(/token=([\w.~%-]+)/.exec(mails.map(({ text }) => text).join('\n'))?.[1] ?? 'no mail')

  it('a session of the connection changes no address', async () => {
    const { client, store, mails } = await companySession()
    await client.post('/account/address', { email: 'amy@mail.example' })
    await settle()
    const answer = await client.post('/account/address/confirm', { token: tokenOf(mails) })
    expect(errorOf(answer)).toBe('SsoRequired')
    expect((await store.getUser('amy'))?.email).toBe('amy@acme.example')
  })

  it('a session of the connection links no other provider, and that signs no user in', async () => {
    const { auth, client, store, isIn } = await companySession()
    op.redirects.push(`${origin}/auth/callback/hub`)
    expect(pathOf(await signInWith(client, op, 'hub', 'amy'))).toBe('/auth/sso/start')
    const stranger = new Client(auth)
    expect(pathOf(await signInWith(stranger, op, 'hub', 'amy'))).toBe('/auth/sso/start')
    expect(await isIn(stranger)).toBe(false)
    expect((await store.listAccountsByUserId('amy')).map(({ provider }) => provider)).not.toContain('hub')
  })

  it('a code by mail is not even sent', async () => {
    const { auth, mails } = await companySession()
    const answer = await new Client(auth).post('/signin/codes', { email: 'amy@acme.example' })
    await settle()
    expect([pathOf(answer), mails.length]).toEqual(['/auth/sso/start', 0])
  })

  it('a reset of the password sets none', async () => {
    const { auth, mails, isIn } = await companySession()
    const client = new Client(auth)
    await client.post('/passwords/reset', { email: 'max@acme.example' })
    await settle()
    const answer = await client.post('/passwords/new', { token: tokenOf(mails), password: 'a-long-new-password' })
    expect(errorOf(answer)).toBe('SsoRequired')
    await client.post('/callback/passwords', { email: 'max@acme.example', password: 'a-long-new-password' })
    expect(await isIn(client)).toBe(false)
  })

  it('an API key is made by a session of the connection alone', async () => {
    const { auth, acme, connection } = await made('database')
    await auth.sso.setPolicy(system, acme, both)
    const client = new Client(auth)
    await signInWith(client, op, connection.providerId, 'amy')
    const request = new Request(origin, { headers: { cookie: client.cookieHeader() } })
    const { key } = await auth.apiKeys.create(request, { name: 'mine' })
    expect(await auth.session(new Request(origin, { headers: { 'x-api-key': key } }))).toMatchObject({
      user: { email: 'amy@acme.example' },
    })
  })

  it('a device of a partner gets nothing by an answer from before it, and tokens by a session of the connection', async () => {
    const { auth, acme, browser, connection } = await made('database')
    const post = async (path: string, fields: Record<string, string>) => {
      const answer = await auth.handler(new Request(`${origin}/auth${path}`, { method: 'POST', body: new URLSearchParams(fields) }))
      return (await answer.json()) as Record<string, string>
    }
    const ask = () => post('/oauth2/device_authorization', { client_id: 'tv', scope: 'openid' })
    const poll = ({ device_code = '' }: Record<string, string>) =>
      post('/oauth2/token', { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', client_id: 'tv', device_code })
    const allow = async (client: Client, { user_code = '' }: Record<string, string>) => {
      const ticket = ticketOf(await (await client.post('/oauth2/device', { user_code })).text())
      return (await client.post('/oauth2/device/decide', { ticket, decision: 'allow' })).headers.get('location') ?? ''
    }
    const [one, other] = [await ask(), await ask()]
    expect(await allow(await browser('max'), one)).toContain('done=allowed')
    await auth.sso.setPolicy(system, acme, both)
    expect((await poll(one))['error']).toBe('invalid_grant')
    const client = new Client(auth)
    await signInWith(client, op, connection.providerId, 'amy')
    expect(await allow(client, other)).toContain('done=allowed')
    expect((await poll(other))['access_token']).toBeTruthy()
  })

  it('API keys of before end with it, and those of the connection stay; `keep` leaves them', async () => {
    const { auth, acme, browser, connection, runtime } = await made('database')
    const makeKey = async (client: Client) =>
      (await auth.apiKeys.create(new Request(origin, { headers: { cookie: client.cookieHeader() } }), { name: 'mine' })).key
    const opens = async (key: string) => (await auth.session(new Request(origin, { headers: { 'x-api-key': key } }))) !== null
    const old = await makeKey(await browser('max'))
    const kept = await makeKey(await browser('cy'))
    await auth.sso.setPolicy(system, acme, { ...both, keys: 'keep' })
    expect(await opens(old)).toBe(true)
    runtime.advance(1000)
    await auth.sso.setPolicy(system, acme, both)
    expect([await opens(old), await opens(kept)]).toEqual([false, true])
    const client = new Client(auth)
    await signInWith(client, op, connection.providerId, 'amy')
    const since = await makeKey(client)
    runtime.advance(1000)
    // One more exception changes nothing for the others.
    await auth.sso.setPolicy(system, acme, { ...both, exceptions: ['max'] })
    expect(await opens(since)).toBe(true)
    expect((await auth.sso.getPolicy(system, acme))?.keys).toBe('end')
    // Without it a key that was made under it ends.
    const exempt = await makeKey(await browser('max'))
    runtime.advance(1000)
    await auth.sso.setPolicy(system, acme, both)
    expect(await opens(exempt)).toBe(false)
  })

  it('a clean-up ends what a policy forbids whose grace is over, also of users who do nothing', async () => {
    const { auth, acme, browser, isIn, runtime } = await made('database')
    await auth.sso.setPolicy(system, acme, { ...both, from: new Date(runtime.now() + hour) })
    const quiet = await browser('max')
    await auth.cleanup()
    expect(await isIn(quiet)).toBe(true)
    runtime.advance(hour + 1000)
    // Nothing but reads of the session: they compare nothing.
    expect(await isIn(quiet)).toBe(true)
    await auth.cleanup()
    expect(await isIn(quiet)).toBe(false)
    expect((await auth.sso.getPolicy(system, acme))?.applied).toBe(true)
  })

  it('the last connection cannot be switched off, and without one there is no policy', async () => {
    const { auth, acme, connection } = await made('database')
    await auth.sso.setPolicy(system, acme, both)
    await expect(auth.sso.update(system, connection.id, { enabled: false })).rejects.toThrow('Remove the policy first')
    await expect(auth.sso.remove(system, connection.id)).rejects.toThrow('Remove the policy first')
    await auth.sso.removePolicy(system, acme)
    await auth.sso.remove(system, connection.id)
    await expect(auth.sso.setPolicy(system, acme, both)).rejects.toThrow('Users would be locked out')
  })

  it('a domain without a connection that serves it is refused', async () => {
    const { auth, acme, connection, prove } = await made('database')
    await auth.sso.update(system, connection.id, { domains: ['acme.example'] })
    await prove(acme, 'mail.example')
    await expect(auth.sso.setPolicy(system, acme, both)).rejects.toThrow('serves mail.example')
  })

  it('no change of a connection leaves a domain of the policy without one', async () => {
    const { auth, acme, connection, prove } = await made('database')
    await prove(acme, 'mail.example')
    const settings = { issuer: op.issuer, clientId: 'app', clientSecret: 'the-secret-of-the-client' }
    const second = await auth.sso.create(system, acme, { ...settings, name: 'Second', domains: ['mail.example'] })
    await auth.sso.setPolicy(system, acme, both)
    // The second one serves another domain: users of acme.example would have no way in.
    for (const change of [{ enabled: false }, { domains: ['mail.example'] }])
      await expect(auth.sso.update(system, connection.id, change)).rejects.toThrow('demands a connection for acme.example')
    await expect(auth.sso.remove(system, connection.id)).rejects.toThrow('demands a connection for acme.example')
    await auth.sso.update(system, connection.id, { domains: ['acme.example'] })
    await expect(auth.sso.remove(system, second.id)).rejects.toThrow('demands a connection for mail.example')
    await auth.sso.update(system, connection.id, { domains: null })
    await auth.sso.remove(system, second.id)
    expect((await auth.sso.list(system, acme)).map(({ id }) => id)).toEqual([connection.id])
  })

  it.each(['switched off', 'removed', 'switched off and removed'] as const)(
    'of two connections that are %s at the same moment one stays',
    async (what) => {
      const { auth, acme, connection } = await made('database')
      const settings = { issuer: op.issuer, clientId: 'app', clientSecret: 'the-secret-of-the-client' }
      const second = await auth.sso.create(system, acme, { ...settings, name: 'Second' })
      await auth.sso.setPolicy(system, acme, both)
      const off = (id: string) => auth.sso.update(system, id, { enabled: false })
      const remove = (id: string) => auth.sso.remove(system, id)
      const first = what === 'removed' ? remove : off
      const other = what === 'switched off' ? off : remove
      const ends = await Promise.allSettled([first(connection.id), other(second.id)])
      expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
      expect((await auth.sso.list(system, acme)).filter(({ enabled }) => enabled)).toHaveLength(1)
    },
  )

  it('of the host keeps its last connection too', async () => {
    const { auth } = await made('database')
    const settings = { issuer: op.issuer, clientId: 'app', clientSecret: 'the-secret-of-the-client' }
    const own = await auth.sso.create(system, null, { ...settings, name: 'Host', domains: ['host.example'] })
    await auth.sso.setPolicy(system, null, { domains: true, members: false })
    await expect(auth.sso.update(system, own.id, { enabled: false })).rejects.toThrow('Remove the policy first')
    await expect(auth.sso.remove(system, own.id)).rejects.toThrow('Remove the policy first')
    await auth.sso.removePolicy(system, null)
    await auth.sso.remove(system, own.id)
  })

  it('for domains needs an adapter that finds users by their address, because their sessions must end', async () => {
    const { searchUsers: _none, ...store } = memoryAdapter(memoryData())
    const world = await ssoWorld(store as never, { cert: tls.cert })
    await store.createUser!({ id: 'ada', email: 'ada@acme.example', name: 'Ada', emailVerified: new Date(0) })
    const acme = await world.company('Acme', 'ada', ['acme.example'])
    await world.auth.sso.create(system, acme, { name: 'A', issuer: op.issuer, clientId: 'app', clientSecret: 's' })
    await expect(world.auth.sso.setPolicy(system, acme, both)).rejects.toThrow('the adapter has no `searchUsers`')
    expect((await world.auth.sso.setPolicy(system, acme, { domains: false, members: true })).ended).toBe(1)
  })

  it.each([
    [{}, 'must be true or false'],
    [{ domains: false, members: false }, 'one of them true'],
    [{ ...both, from: 'soon' }, '`from` must be a date'],
    [{ ...both, exceptions: [1] }, '`exceptions` must be a list'],
    [{ ...both, force: true }, 'a policy has no `force`'],
  ])('%j is refused', async (wrong, message) => {
    const { auth, acme } = await made('database')
    await expect(auth.sso.setPolicy(system, acme, wrong as never)).rejects.toThrow(message)
  })
})
