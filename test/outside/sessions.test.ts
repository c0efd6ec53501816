/** Plugins of strangers that say who is here, whose the data is, and what happened. */
import { createClient } from '@libsql/client'
import { createAuth } from 'authkernel'
import type { AuthConfig, Plugin, SessionAbility } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { testSession } from 'authkernel/testing'
import { Redis } from 'ioredis'
import { afterAll, describe, expect, it } from 'vitest'
import { baseConfig, Client } from '../_setup.ts'
import { reachable, servers, uniqueName } from '../adapters/_servers.ts'
import { hostTenantsPlugin } from './plugins/03-tenants.ts'
import { auditRowsPlugin } from './plugins/07-audit.ts'
import { redisSessionPlugin } from './plugins/08-redis-session.ts'
import { samlPlugin } from './plugins/09-saml.ts'
import { ownKeysPlugin } from './plugins/10-api-keys.ts'
import { supportPlugin } from './plugins/13-impersonation.ts'

const credentials = {
  id: 'password',
  name: 'Password',
  type: 'credentials' as const,
  credentials: { name: { label: 'Name' } },
  authorize: ({ name }: Record<string, unknown>) => (name === 'nobody' ? null : { id: String(name), name: String(name) }),
}
async function world<E>(plugin: Plugin<E>, config: AuthConfig = {}) {
  const base = baseConfig({ providers: [credentials], ...config })
  const adapter = memoryAdapter()
  for (const id of ['ada', 'eve', 'ann']) await adapter.createUser!({ id, name: id, email: `${id}@example.com`, emailVerified: null })
  const auth = createAuth(base).use(adapterPlugin(adapter)).use(plugin)
  const signedIn = async (name: string): Promise<Client> => {
    const client = new Client(auth)
    await client.post('/callback/password', { name })
    return client
  }
  return { auth, base, signedIn }
}
const namesOf = async (...clients: Client[]): Promise<unknown[]> =>
  Promise.all(clients.map(async (client) => (await client.session())?.user?.['name']))

describe('03 tenants', () => {
  const tenant = (id: string) => ({ id, secret: `${id}-${'s'.repeat(32)}`, providers: [credentials] })
  const start = () => {
    const auth = createAuth(baseConfig({ session: { strategy: 'database' } }))
      .use(adapterPlugin(memoryAdapter()))
      .use(
        hostTenantsPlugin({
          find: (host) => (host.endsWith('.example') && host !== 'no.example' ? tenant(host.split('.')[0]!) : undefined),
          byId: (id) => tenant(id),
        }),
      )
    auth.hook('signIn', async ({ user, account, ctx }) => {
      if (!(await ctx.store?.getUser(account.providerAccountId))) await ctx.store?.createUser({ ...user, email: 'x@example.com' } as never)
      return true
    })
    return auth
  }

  it('a session and its store are those of one tenant, and an unknown host is 404', async () => {
    const auth = start()
    const [a, b, no] = ['a', 'b', 'no'].map((id) => new Client(auth, `https://${id}.example`))
    expect((await no!.get('/session')).status).toBe(404)
    await a!.post('/callback/password', { name: 'ada' })
    await b!.post('/callback/password', { name: 'eve' })
    expect(await namesOf(a!, b!)).toEqual(['ada', 'eve'])
    for (const [name, value] of a!.cookies) b!.cookies.set(name.replace('app-a', 'app-b'), value)
    expect(await namesOf(b!)).toEqual([undefined])
  })
})

it('07 audit: each fact is a row, and a database that hangs breaks no sign-in', async () => {
  const db = createClient({ url: ':memory:' })
  const { auth, signedIn } = await world(auditRowsPlugin(db, { deadline: 50 }))
  const client = await signedIn('ada')
  await client.post('/callback/password', { name: 'nobody' })
  await client.post('/signout')
  const rows = await auth.auditRows.rows()
  expect(rows.map(({ event, outcome, user }) => [event, outcome, user])).toEqual([
    ['signIn', 'success', 'ada'],
    ['signedIn', 'success', 'ada'],
    ['signInFailed', 'failure', 'nobody'],
    ['signOut', 'success', 'ada'],
  ])
  expect(rows[2]?.detail).toBe('CredentialsSignin credentials')
  db.batch = () => new Promise(() => {})
  expect(await namesOf(await signedIn('ada'))).toEqual(['ada'])
  await auth.auditRows.flush()
  expect(auth.auditRows.lost).toBe(2)
})

// Without Redis on a laptop; in CI it must be there.
describe.skipIf(!(await reachable('redis')))('08 sessions in Redis', () => {
  const redis = new Redis(servers.redis)
  afterAll(() => redis.quit())
  const plugin = () => redisSessionPlugin({ redis, idle: 3600, prefix: uniqueName() })
  testSession('a stranger’s, in Redis', { plugin, maxAge: 3600 })

  it('lists and ends sessions of a person', async () => {
    const { auth, signedIn } = await world(plugin(), { session: { strategy: 'redis' } })
    const [one, two, other] = [await signedIn('ada'), await signedIn('ada'), await signedIn('eve')]
    expect(await namesOf(one, two, other)).toEqual(['ada', 'ada', 'eve'])
    const job = { job: 'test', tenant: null }
    const probe = auth.use({
      name: 'lister',
      setup: (kernel) => ({
        listed: () => kernel.job(job, (ctx) => ctx.session.list?.(ctx, 'ada') ?? []),
        ended: (id: string) => kernel.job(job, (ctx) => ctx.session.revoke?.(ctx, { id, userId: 'ada' })),
      }),
    })
    const ids = (await probe.listed()).map(({ id }) => id)
    expect(ids).toHaveLength(2)
    await probe.ended(ids[0]!)
    expect((await namesOf(one, two)).filter(Boolean)).toEqual(['ada'])
    expect(await namesOf(other)).toEqual(['eve'])
  })
})

it('a strategy that declares an ability without the member for it is refused at start', async () => {
  const strategy = { read: () => null, user: () => null, issue: () => null, update: () => null, end: () => null }
  const boast = (ability: SessionAbility): Plugin => ({
    name: 'boast',
    setup: (kernel) => kernel.sessionStrategy('redis', () => ({ ...strategy, abilities: new Set([ability]) })),
  })
  for (const [ability, member] of [
    ['list', 'list'],
    ['attributes', 'attributes'],
    ['revoke:user', 'revoke'],
  ] as const)
    await expect(createAuth(baseConfig()).use(boast(ability)).ready()).rejects.toThrow(
      `Plugin "boast": the session strategy "redis" declares the ability "${ability}" and has no \`${member}\`.`,
    )
})

describe('09 SAML', async () => {
  const { publicKey, privateKey } = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify'])
  const key = await crypto.subtle.exportKey('jwk', publicKey)
  const algorithm = 'http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256'
  const provider = {
    type: 'simple-saml' as const,
    id: 'idp',
    name: 'IdP',
    entityId: 'https://idp.example',
    ssoUrl: 'https://idp.example/sso',
    key,
  }
  /** What the identity provider's page would post. */
  const answer = async (start: Response, base: ReturnType<typeof baseConfig>, nameId = 'ada') => {
    const relayState = new URL(start.headers.get('location') ?? '').searchParams.get('RelayState') ?? ''
    const now = base.runtime.now()
    const [from, until] = [now, now + 60_000].map((at) => new Date(at).toISOString())
    const xml = `<samlp:Response ID="r" InResponseTo="${relayState}" Destination="https://sp.example/auth/callback/idp"><saml:Issuer>https://idp.example</saml:Issuer><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/><saml:Assertion ID="a-${relayState}"><saml:NameID>${nameId}</saml:NameID><saml:Conditions NotBefore="${from}" NotOnOrAfter="${until}"><saml:Audience>https://sp.example/auth/saml/idp/metadata</saml:Audience></saml:Conditions><saml:Attribute Name="mail"><saml:AttributeValue>ada@example.com</saml:AttributeValue></saml:Attribute></saml:Assertion></samlp:Response>`
    const signed = new TextEncoder().encode(`SAMLResponse=${xml}&RelayState=${relayState}&SigAlg=${algorithm}`)
    const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, privateKey, signed)
    return { SAMLResponse: btoa(xml), RelayState: relayState, SigAlg: algorithm, Signature: Buffer.from(signature).toString('base64') }
  }
  const start = () => {
    const base = baseConfig()
    const auth = createAuth(base).use(samlPlugin(provider))
    const client = new Client(auth, 'https://sp.example')
    const post = (fields: Record<string, string>, to = client) =>
      to.send('/callback/idp', { method: 'POST', body: new URLSearchParams(fields), headers: { origin: 'https://idp.example' } })
    return { auth, base, client, post }
  }

  it('signs in by the post of the identity provider, once, in the browser that began', async () => {
    const { auth, base, client, post } = start()
    const fields = await answer(await client.post('/signin/idp', { callbackUrl: '/app' }), base)
    const stranger = new Client(auth, 'https://sp.example')
    await post(fields, stranger)
    expect(await stranger.session()).toBeNull()
    expect((await post(fields)).headers.get('location')).toBe('https://sp.example/app')
    expect((await client.session())?.user?.['email']).toBe('ada@example.com')
    expect((await post(fields)).headers.get('location')).toContain('error')
  })

  it('refuses what was changed, and a wrong configuration at start', async () => {
    const { base, client, post } = start()
    const fields = await answer(await client.post('/signin/idp'), base)
    const forged = btoa(atob(fields.SAMLResponse).replace('ada<', 'eve<'))
    expect((await post({ ...fields, SAMLResponse: forged })).headers.get('location')).toContain('error')
    expect(await client.session()).toBeNull()
    await expect(
      createAuth(baseConfig())
        .use(samlPlugin({ ...provider, ssoUrl: 'http://idp.example' }))
        .ready(),
    ).rejects.toThrow('https URL')
    await expect(
      createAuth(baseConfig())
        .use(samlPlugin({ ...provider, ssoURL: 'x' } as never))
        .ready(),
    ).rejects.toThrow('ssoUrl')
  })
})

it('10 API keys: a wrong one is signed out, also with a cookie beside it', async () => {
  const { auth, base, signedIn } = await world(ownKeysPlugin())
  const { secret, key } = await auth.ownKeys.create({ userId: 'ada', name: 'ci', scopes: ['read'], seconds: 60 })
  const cookie = (await signedIn('eve')).cookieHeader()
  const with_ = (token: string) =>
    auth.session(new Request('http://localhost:3000', { headers: { cookie, authorization: `Bearer ${token}` } }))
  expect(await with_(secret)).toMatchObject({ user: { name: 'ada' }, ownKey: { id: key.id, scopes: ['read'] } })
  expect(await with_(secret.replace(/.$/, (last) => (last === '0' ? '1' : '0')))).toBeNull()
  expect(await auth.ownKeys.list('ada')).toEqual([key])
  base.runtime.advance(61_000)
  expect([await with_(secret), await auth.ownKeys.verify(secret)]).toEqual([null, null])
  const again = await auth.ownKeys.create({ userId: 'ada', name: 'ci' })
  expect([await auth.ownKeys.revoke(again.key.id), await with_(again.secret)]).toEqual([true, null])
})

it('13 impersonation: another person is shown, nothing can be changed, and the own session is back afterwards', async () => {
  const { auth, signedIn } = await world(supportPlugin({ may: ({ user }) => user?.name === 'ann' }))
  const told: unknown[] = []
  auth.on('supportStarted', ({ admin, target }) => told.push([admin, target]))
  auth.on('supportStopped', ({ admin, target }) => told.push([admin, target]))
  const [ann, eve] = [await signedIn('ann'), await signedIn('eve')]
  await eve.post('/support/start', { userId: 'ada' })
  expect(await namesOf(eve)).toEqual(['eve'])
  await ann.post('/support/start', { userId: 'ada' })
  expect(await ann.session()).toMatchObject({ user: { id: 'ada' }, supporter: { name: 'ann' } })
  for (const path of ['/signin/password', '/callback/password', '/session'])
    expect((await ann.post(path, { name: 'eve' })).status).toBe(409)
  // The cookie of support is worth nothing beside the session of another user.
  eve.cookies.set('authkernel.support', ann.cookies.get('authkernel.support')!)
  expect(await namesOf(eve)).toEqual(['eve'])
  await ann.post('/support/stop')
  expect(await namesOf(ann)).toEqual(['ann'])
  expect(told).toEqual([
    ['ann', 'ada'],
    ['ann', 'ada'],
  ])
})
