/** Companies sign in with their own identity provider: a real one over https, routing by domain, membership, and what one company may not say of another's users. */
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Client } from '../_setup.ts'
import { companyIdp, type Directory, makeCertificate, origin, signInWith, type SsoWorld, ssoWorld, system } from './_sso.ts'

const tls = makeCertificate()
const people: Directory = {}
const everyone: Directory = {
  alice: { name: 'Alice', email: 'Alice@acme.example', groups: ['staff', 'admins'] },
  eve: { name: 'Eve', email: 'bob@beta.example' },
  free: { name: 'Free', email: 'free@mail.example' },
  nameless: { name: 'Nameless' },
  unsure: { name: 'Unsure', email: 'unsure@acme.example', email_verified: false },
}
let op: Awaited<ReturnType<typeof companyIdp>>
beforeAll(async () => void (op = await companyIdp(tls, people)))
afterAll(() => op.stop())
beforeEach(() => {
  for (const name of Object.keys(people)) delete people[name]
  Object.assign(people, structuredClone(everyone))
})

const settings = () => ({ name: 'Acme ID', issuer: op.issuer, clientId: 'app', clientSecret: 'the-secret-of-the-client' })

async function made(strategy: 'jwt' | 'database' = 'database', more: object = {}) {
  const store = memoryAdapter(memoryData())
  const world = await ssoWorld(store, { strategy, cert: tls.cert })
  for (const [id, email] of [
    ['ada', 'ada@acme.example'],
    ['bob', 'bob@beta.example'],
    ['cy', 'cy@mail.example'],
  ] as const)
    await store.createUser({ id, email, name: id, emailVerified: new Date(0) })
  const acme = await world.company('Acme', 'ada', ['acme.example'])
  const beta = await world.company('Beta', 'bob', ['beta.example'])
  const connection = await connect(world, acme, more)
  return { ...world, acme, beta, connection }
}
async function connect({ auth }: SsoWorld, organizationId: string, more: object = {}) {
  const connection = await auth.sso.create(system, organizationId, { ...settings(), ...more })
  op.redirects.push(`${origin}/auth${connection.callbackPath}`)
  return connection
}
const errorOf = (answer: Response) => new URL(answer.headers.get('location') ?? '', origin).searchParams.get('error')
const userOf = async (client: Client) => (await client.session())?.user

describe.each(['database', 'jwt'] as const)('a sign-in with the company (%s)', (strategy) => {
  it('begins with the address, makes the user and the member, and comes back to the callback URL', async () => {
    const { auth, store, acme, connection } = await made(strategy, { roles: { groups: { admins: 'admin' } } })
    const client = new Client(auth)
    await client.get('/signin?callbackUrl=/after')
    const led = await client.post('/identifier', { identifier: 'alice@ACME.example' })
    const answer = await client.get(await op.visit(led.headers.get('location') ?? '', { login: 'alice' }))
    expect(answer.headers.get('location')).toBe(`${origin}/after`)
    expect(await userOf(client)).toMatchObject({ email: 'alice@acme.example', name: 'Alice' })
    const user = await store.getUserByEmail('alice@acme.example')
    expect(user?.emailVerified).toBeInstanceOf(Date)
    const { members } = await auth.organizations.members(system, acme)
    expect(members.find(({ userId }) => userId === user?.id)?.role).toBe('admin')
    expect((await auth.sso.signIns(system, connection.id)).signIns).toMatchObject([
      { outcome: 'ok', userId: user?.id, email: 'Alice@acme.example' },
    ])
    // Tokens of the company are not kept.
    expect(JSON.stringify(await store.listAccountsByUserId(user!.id))).not.toMatch(/access_token|id_token/)
  })

  it('ends with the membership that it came with', async () => {
    const { auth, acme, connection } = await made(strategy)
    const client = new Client(auth)
    await signInWith(client, op, connection.providerId, 'alice')
    const { id } = (await userOf(client)) as { id?: string }
    const { members } = await auth.organizations.members(system, acme)
    const userId = id ?? members.find(({ email }) => email === 'alice@acme.example')!.userId
    await auth.organizations.remove(system, acme, userId)
    expect(await client.session()).toBeNull()
  })

  it('is that of the user who had the address before', async () => {
    const { auth, connection } = await made(strategy)
    people['alice']!['email'] = 'ada@acme.example'
    const client = new Client(auth)
    await signInWith(client, op, connection.providerId, 'alice')
    expect((await client.session())?.user).toMatchObject({ name: 'ada' })
  })
})

describe('what a connection may say', () => {
  it.each([
    ['a user of another organization', 'eve', {}],
    ['a user of a domain of none', 'free', {}],
    ['a user without an address', 'nameless', {}],
    ['a user of another organization, also with other domains', 'eve', { otherDomains: true }],
  ])('is not %s', async (_what, login, more) => {
    const { auth, store, connection } = await made('database', more)
    const client = new Client(auth)
    const answer = await signInWith(client, op, connection.providerId, login)
    expect(errorOf(answer)).toBe('SsoRefused')
    expect(await client.session()).toBeNull()
    expect((await store.listUsers({ limit: 10 })).map(({ id }) => id).sort()).toEqual(['ada', 'bob', 'cy'])
    const [{ outcome, reason } = { outcome: '', reason: '' }] = (await auth.sso.signIns(system, connection.id)).signIns
    expect([outcome, reason]).toEqual(['SsoRefused', expect.stringMatching(/^sso: the /)])
  })

  it('is not that an address is verified outside of its domains', async () => {
    const { auth, store, connection } = await made('database', { otherDomains: true })
    await signInWith(new Client(auth), op, connection.providerId, 'free')
    expect((await store.getUserByEmail('free@mail.example'))?.emailVerified).toBeNull()
    people['free']!['email'] = 'cy@mail.example'
    people['second'] = people['free']!
    const client = new Client(auth)
    expect(errorOf(await signInWith(client, op, connection.providerId, 'second'))).toBe('OAuthAccountNotLinked')
    expect(await client.session()).toBeNull()
  })

  it('is an address that the provider itself calls unverified, and then it is no proof', async () => {
    const { auth, store, connection } = await made()
    await store.createUser({ id: 'unsure', email: 'unsure@acme.example', name: 'u', emailVerified: new Date(0) })
    const client = new Client(auth)
    expect(errorOf(await signInWith(client, op, connection.providerId, 'unsure'))).toBe('OAuthAccountNotLinked')
  })

  it('links nothing to a signed-in user of another organization', async () => {
    const { connection, browser, store } = await made()
    const client = await browser('bob')
    const answer = await signInWith(client, op, connection.providerId, 'alice')
    expect(errorOf(answer)).toBe('SsoRefused')
    expect(await store.listAccountsByUserId('bob')).toEqual([])
  })

  it('links nothing to a signed-in user who is neither of its domains nor a member, also with other domains', async () => {
    // Another organization has made this connection, and sends the user the link to its page in this app.
    const { auth, acme, connection, browser, store, addMember, removeMember } = await made('database', { otherDomains: true })
    const client = await browser('cy')
    expect(errorOf(await signInWith(client, op, connection.providerId, 'free'))).toBe('SsoRefused')
    expect(await store.listAccountsByUserId('cy')).toEqual([])
    await addMember(acme, 'cy')
    await signInWith(await browser('cy'), op, connection.providerId, 'free')
    expect((await store.listAccountsByUserId('cy')).map(({ provider }) => provider)).toEqual([connection.providerId])
    const enter = async () => {
      const other = new Client(auth)
      await signInWith(other, op, connection.providerId, 'free')
      return userOf(other)
    }
    expect(await enter()).toMatchObject({ name: 'cy' })
    // A former organization does not open the account of a user whose address it does not own.
    await removeMember(acme, 'cy')
    expect(await enter()).toBeUndefined()
    await addMember(acme, 'cy')
    expect(await enter()).toMatchObject({ name: 'cy' })
  })

  it('ends with the proof of the domain, with the connection, and with the membership', async () => {
    const { auth, acme, connection, store } = await made()
    const signIn = async () => {
      const client = new Client(auth)
      const answer = await signInWith(client, op, connection.providerId, 'alice').catch(() => undefined)
      return (await client.session()) ? 'in' : answer && errorOf(answer)
    }
    expect(await signIn()).toBe('in')
    const userId = (await store.getUserByEmail('alice@acme.example'))!.id
    const { organizations } = auth
    await auth.sso.update(system, connection.id, { enabled: false })
    expect(await signIn()).not.toBe('in')
    await auth.sso.update(system, connection.id, { enabled: true })
    expect(await signIn()).toBe('in')
    await organizations.domains.remove(system, acme, 'acme.example')
    expect(await signIn()).toBe('SsoRefused')
    expect(userId).toBeTruthy()
  })

  it.each([true, false])(
    'ends with its organization, and so do its secrets and its log (other plugins failed meanwhile: %s)',
    async (fails) => {
      const { auth, store, acme, connection, job } = await made('database', { otherDomains: true, join: false })
      const enter = async () => {
        const client = new Client(auth)
        await signInWith(client, op, connection.providerId, 'free')
        return (await client.session()) !== null
      }
      expect(await enter()).toBe(true)
      const row = await job((ctx) => ctx.records('ssoConnection').get(connection.id))
      await auth.organizations.delete(system, acme)
      expect(await job((ctx) => ctx.records('ssoConnection').get(connection.id))).toBeNull()
      expect((await job((ctx) => ctx.records('ssoSignIn').find({ where: { connectionId: connection.id } }))).rows).toEqual([])
      // As if the listener had failed: the row is still there.
      if (fails) await job((ctx) => ctx.records('ssoConnection').create(row!))
      const users = (await store.listUsers({ limit: 10 })).length
      if (fails) expect(await enter()).toBe(false)
      else expect((await new Client(auth).post(`/signin/${connection.providerId}`)).headers.get('location')).toContain('error=')
      expect((await store.listUsers({ limit: 10 })).length).toBe(users)
    },
  )

  it('of an answer is used once, by the browser that began, for its own connection', async () => {
    const { auth, beta, connection, ...world } = await made()
    const other = await connect({ auth, ...world } as unknown as SsoWorld, beta)
    const client = new Client(auth)
    const started = await client.post(`/signin/${connection.providerId}`)
    const answer = await op.visit(started.headers.get('location') ?? '', { login: 'alice' })
    const elsewhere = new Client(auth)
    await elsewhere.get(answer)
    expect(await elsewhere.session()).toBeNull()
    await client.get(answer.replace(connection.providerId, other.providerId))
    expect(await client.session()).toBeNull()
    const again = new Client(auth)
    const begun = await again.post(`/signin/${connection.providerId}`)
    const url = await op.visit(begun.headers.get('location') ?? '', { login: 'alice' })
    const copy = new Client(auth)
    for (const [name, value] of again.cookies) copy.cookies.set(name, value)
    const both = await Promise.all([again.get(url), copy.get(url)])
    expect(both.filter((one) => errorOf(one) === null)).toHaveLength(1)
  })
})

describe('connections', () => {
  it('show no secret, and store none in clear text', async () => {
    const { auth, acme, connection } = await made()
    expect(connection.hasSecret).toBe(true)
    expect(JSON.stringify([connection, await auth.sso.list(system, acme), await auth.sso.get(system, connection.id)])).not.toContain(
      'the-secret',
    )
  })

  it('keep the issuer and the claim that names users, because the same id elsewhere is another user', async () => {
    const { auth, connection } = await made()
    // Nothing rests on it yet.
    await auth.sso.update(system, connection.id, { mapping: { id: 'employee' } })
    await auth.sso.update(system, connection.id, { mapping: {} })
    await signInWith(new Client(auth), op, connection.providerId, 'alice')
    for (const change of [{ issuer: 'https://other.example' }, { mapping: { id: 'employee' } }])
      await expect(auth.sso.update(system, connection.id, change)).rejects.toThrow('Make a new connection')
  })

  it('give roles that the organization has', async () => {
    const { auth, acme, connection } = await made()
    for (const roles of [{ default: 'chief' }, { groups: { staff: 'chief' } }]) {
      await expect(auth.sso.create(system, acme, { ...settings(), roles })).rejects.toThrow(
        'there is no role "chief". Roles: admin, member',
      )
      await expect(auth.sso.update(system, connection.id, { roles })).rejects.toThrow('there is no role "chief"')
    }
    const { role: name } = await auth.organizations.roles.create(system, acme, { title: 'Chief', permissions: ['member:read'] })
    await auth.sso.update(system, connection.id, { roles: { default: name } })
    await auth.organizations.roles.delete(system, acme, name)
    // Other changes stay possible.
    await auth.sso.update(system, connection.id, { name: 'Acme 2' })
    await expect(auth.sso.update(system, connection.id, { roles: { default: name } })).rejects.toThrow('there is no role')
  })

  it('call no address of the own network', async () => {
    const { auth, acme } = await made()
    const inside = await auth.sso.create(system, acme, { ...settings(), issuer: 'https://10.0.0.1' })
    const client = new Client(auth)
    const answer = await client.post(`/signin/${inside.providerId}`)
    expect(errorOf(answer)).not.toBeNull()
    const [logged] = (await auth.sso.signIns(system, inside.id)).signIns
    expect(logged?.reason).toContain('no public address')
  })

  it('sign in by private_key_jwt', async () => {
    const { auth, connection } = await made()
    const { publicKey } = await auth.sso.update(system, connection.id, { auth: 'private_key_jwt' })
    Object.assign(op.client, {
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_signing_alg: 'ES256',
      jwks: { keys: [publicKey] },
    })
    const client = new Client(auth)
    await signInWith(client, op, connection.providerId, 'alice')
    for (const name of Object.keys(op.client)) delete op.client[name]
    expect(await userOf(client)).toMatchObject({ email: 'alice@acme.example' })
  })

  it('with private_key_jwt publish their key', async () => {
    const { auth, connection } = await made()
    const changed = await auth.sso.update(system, connection.id, { auth: 'private_key_jwt' })
    expect(Object.keys(changed.publicKey ?? {}).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'])
    const { keys } = (await (await new Client(auth).get(`/sso/keys/${connection.id}`)).json()) as { keys: object[] }
    expect(keys).toEqual([changed.publicKey])
  })

  it('are tested: what is wrong is named', async () => {
    const { auth, acme, connection } = await made()
    expect(await auth.sso.test(system, connection.id)).toMatchObject({ ok: true })
    const wrong = await auth.sso.create(system, acme, { ...settings(), issuer: `${op.issuer}/elsewhere` })
    const { ok, checks } = await auth.sso.test(system, wrong.id)
    expect([ok, checks.find(({ name }) => name === 'discovery')?.ok]).toEqual([false, false])
    expect(await auth.sso.preview(system, connection.id, { sub: '1', email: 'a@acme.example', groups: ['x'] })).toEqual({
      id: '1',
      email: 'a@acme.example',
      name: null,
      groups: ['x'],
      role: 'member',
    })
  })

  it('of one domain are a choice, and the direct link leads to one', async () => {
    const { auth, connection, acme, ...world } = await made()
    await connect({ auth, ...world } as unknown as SsoWorld, acme, { name: 'Acme second' })
    const client = new Client(auth)
    const page = await (await client.post('/identifier', { identifier: 'x@acme.example' })).text()
    expect(page).toContain('Acme ID')
    expect(page).toContain('Acme second')
    const direct = await client.get(`/sso/start?connection=${connection.id}&callbackUrl=/after`)
    const text = await direct.text()
    expect(text).toContain(`/signin/${connection.providerId}`)
    expect(text).not.toContain('Acme second')
    expect(text).toContain('/after')
    expect((await client.get('/sso/start?connection=none')).status).toBe(404)
  })

  it('have an icon on the page that begins a sign-in and on the choice: their logo, else the initial of the product', async () => {
    const { auth, connection, acme, ...world } = await made()
    await connect({ auth, ...world } as unknown as SsoWorld, acme, { name: 'Acme second' })
    const client = new Client(auth)
    const iconsOn = async (path: string) =>
      [...(await (await client.get(path)).text()).matchAll(/<img class="icon" src="([^"]+)"/g)].map(([, url]) => url!)
    await auth.sso.update(system, connection.id, { product: 'okta' })
    const [initial] = await iconsOn(`/sso/start?connection=${connection.id}`)
    expect(decodeURIComponent(initial ?? '')).toMatch(/^data:image\/svg\+xml,<svg.*#007dc1.*>O<\/text>/)
    const logo = 'data:image/png;base64,iVBORw0KGgo='
    expect(await auth.sso.update(system, connection.id, { logo })).toMatchObject({ logo, tested: false })
    expect(await iconsOn(`/sso/start?connection=${connection.id}`)).toEqual([logo])
    expect(await iconsOn(`/sso/start?organization=${acme}`)).toContain(logo)
    const choice = await (await client.post('/identifier', { identifier: 'x@acme.example' })).text()
    expect(choice).toContain(`<img src="${logo}"`)
    await auth.sso.update(system, connection.id, { logo: '<svg xmlns="http://www.w3.org/2000/svg"><circle r="9"/></svg>' })
    expect((await iconsOn(`/sso/start?connection=${connection.id}`))[0]).toMatch(/^data:image\/svg\+xml,%3Csvg/)
    expect(await auth.sso.update(system, connection.id, { logo: null })).toMatchObject({ logo: null })
  })

  it.each([
    ['https://elsewhere.example/logo.png'],
    ['//elsewhere.example/logo.png'],
    ['javascript:alert(1)'],
    ['data:text/html,x'],
    ['x'.repeat(20_000)],
    [7],
  ])('have no logo of another site or another kind: %s', async (logo) => {
    const { auth, connection } = await made()
    await expect(auth.sso.update(system, connection.id, { logo: logo as string })).rejects.toThrow('`logo`')
  })

  it('of the host serve the domains that it gives them, and none that an organization has proved', async () => {
    const { auth } = await made()
    await expect(auth.sso.create(system, null, { ...settings(), domains: ['acme.example'] })).rejects.toThrow(
      'an organization has proved acme.example',
    )
    await expect(auth.sso.create(system, null, settings())).rejects.toThrow('needs `domains`')
    const host = await auth.sso.create(system, null, { ...settings(), domains: ['mail.example'] })
    op.redirects.push(`${origin}/auth${host.callbackPath}`)
    const client = new Client(auth)
    await signInWith(client, op, host.providerId, 'free')
    expect(await userOf(client)).toMatchObject({ email: 'free@mail.example' })
    expect(errorOf(await signInWith(new Client(auth), op, host.providerId, 'alice'))).toBe('SsoRefused')
  })

  it.each([
    [{ issuer: 'http://idp.example' }, '`issuer` must be an https URL'],
    [{ clientSecret: undefined }, '`clientSecret` is missing'],
    [{ name: '' }, '`name` must be a text'],
    [{ roles: { default: 'owner' } }, 'must not give the role "owner"'],
    [{ mapping: { mail: 'x' } }, '`mapping` has no `mail`'],
    [{ domains: ['@'] }, '`domains` must be a list of domains'],
    [{ colour: 1 }, 'a connection has no `colour`'],
  ])('refuse %j', async (wrong, message) => {
    const { auth, acme } = await made()
    await expect(auth.sso.create(system, acme, { ...settings(), ...wrong } as never)).rejects.toThrow(message)
  })
})

describe('owners', () => {
  it('manage the connections of their organization alone, by HTTP too', async () => {
    const { auth, acme, connection, browser } = await made()
    const call = async (client: Client, method: string, input: object) => {
      const csrfToken = await client.csrfToken()
      const answer = await client.send(`/sso/${method}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-csrf-token': csrfToken },
        body: JSON.stringify({ csrfToken, ...input }),
      })
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
    }
    const [ada, bob, visitor] = [await browser('ada'), await browser('bob'), new Client(auth)]
    const created = await call(ada, 'create', { organizationId: acme, ...settings() })
    expect([created.status, created.body['name']]).toEqual([200, 'Acme ID'])
    const attempts = [
      ['create', { organizationId: acme, ...settings() }],
      ['change', { id: connection.id, name: 'Mine' }],
      ['remove', { id: connection.id }],
      ['test', { id: connection.id }],
      ['preview', { id: connection.id, claims: {} }],
      ['demand', { organizationId: acme, domains: true, members: false }],
      ['release', { organizationId: acme }],
    ] as const
    for (const [method, input] of attempts) {
      expect([method, (await call(bob, method, input)).status]).toEqual([method, 404])
      expect([method, (await call(visitor, method, input)).status]).toEqual([method, 403])
    }
    const member = (await auth.sso.list({ userId: 'ada' }, acme)).length
    expect(member).toBe(2)
    await expect(auth.sso.list({ userId: 'bob' }, acme)).rejects.toThrow('there is no such connection')
    await expect(auth.sso.list({ userId: 'ada' }, null)).rejects.toThrow('there is no such connection')
  })
})
