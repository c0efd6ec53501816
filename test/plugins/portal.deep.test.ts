/** The portal for the IT of a customer: links, what they permit, and a company that sets itself up by SAML and by OpenID Connect. */
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { type PortalApi, portalPlugin } from 'authkernel/plugins/portal'
import { samlPlugin } from 'authkernel/plugins/saml'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { begin, idpEntity, idpKeys, otherKeys, post, type ResponseParts, sign, writeResponse } from '../saml/_idp.ts'
import { Client } from '../_setup.ts'
import { companyIdp, type CompanyIdp, makeCertificate, movedRuntime, origin, ssoWorld, system } from './_sso.ts'

const tls = makeCertificate()
let op: CompanyIdp
beforeAll(async () => {
  op = await companyIdp(tls, { alice: { name: 'Alice', email: 'alice@acme.example', groups: ['staff', 'admins'] } })
})
afterAll(() => op.stop())

async function made() {
  const runtime = movedRuntime()
  const store = memoryAdapter(memoryData())
  const world = await ssoWorld(store, { cert: tls.cert, runtime, plugins: [samlPlugin(), portalPlugin()] })
  for (const [id, email] of [
    ['ada', 'ada@acme.example'],
    ['bob', 'bob@beta.example'],
    ['cy', 'cy@mail.example'],
  ] as const)
    await store.createUser({ id, email, name: id, emailVerified: new Date(0) })
  const acme = await world.company('Acme', 'ada', ['acme.example'])
  const beta = await world.company('Beta', 'bob', ['beta.example'])
  return { ...world, runtime, acme, beta, portal: (world.auth as unknown as PortalApi).portal }
}
type Made = Awaited<ReturnType<typeof made>>

/** The token is in the address once: opening leads to the same address without it. */
async function open(world: Made, link: { scopes?: string[]; days?: number } = {}, organization = world.acme) {
  const { url, id } = await world.portal.createLink({ ...system, base: `${origin}/auth` }, organization, {
    email: 'it@acme.example',
    ...link,
  })
  const client = new Client(world.auth)
  expect((await client.get(url)).headers.get('location')).toBe(`${origin}/auth/portal/open`)
  expect(await (await client.get('/portal/open')).text()).toContain('Open the portal')
  const opened = await client.post('/portal/open')
  expect(opened.headers.get('location')).toBe(`${origin}/auth/portal`)
  return { client, url, id }
}
const requestOf = (client: Client) => new Request(`${origin}/`, { headers: { cookie: client.cookieHeader() } })
const page = async (client: Client, path: string) => (await client.get(path)).text()
const connectionOf = (answer: Response) => new URL(answer.headers.get('location') ?? '', origin).searchParams.get('connection') ?? ''

/** A SAML connection with its identity provider, not tested. */
async function connectSaml(client: Client, product = 'okta') {
  const connection = connectionOf(await client.post('/portal/connections', { action: 'create', product, type: 'saml' }))
  const fields = { entityId: idpEntity, signInUrl: 'https://idp.example/sso', certificate: idpKeys.certificate }
  const answer = await client.post('/portal/connections', { action: 'fields', connection, ...fields })
  expect(answer.status).toBe(302)
  return connection
}
async function testSaml({ runtime }: Made, client: Client, connection: string, parts: Partial<ResponseParts> = {}, keys = idpKeys) {
  const provider = `sso-${connection}`
  const started = await client.post('/portal/connections', { action: 'test', connection })
  const { id: request } = await readRequest(started)
  const answer = await post(client, sign(writeResponse({ now: runtime.now(), provider, request, ...parts }), { keys }), { provider })
  return answer.headers.get('location') ?? ''
}
async function readRequest(answer: Response) {
  const { inflateRawSync } = await import('node:zlib')
  const url = new URL(answer.headers.get('location') ?? 'about:blank')
  const xml = inflateRawSync(Buffer.from(url.searchParams.get('SAMLRequest') ?? '', 'base64')).toString()
  return { id: /\bID="([^"]+)"/.exec(xml)?.[1] ?? '' }
}

describe('a link', () => {
  it('opens once, in one browser, and keeps no token in an address', async () => {
    const world = await made()
    const { client, url } = await open(world)
    expect(await page(client, '/portal')).toContain('Set up Acme')
    const other = new Client(world.auth)
    await other.get(url)
    expect((await other.get('/portal/open')).status).toBe(403)
    await other.post('/portal/open')
    expect((await other.get('/portal')).status).toBe(403)
    expect((await client.get('/portal')).status).toBe(200)
  })

  it('has one winner of thirty browsers that open it at once', async () => {
    const world = await made()
    const { url } = await world.portal.createLink({ ...system, base: `${origin}/auth` }, world.acme, { email: 'it@acme.example' })
    const clients = Array.from({ length: 30 }, () => new Client(world.auth))
    await Promise.all(
      clients.map(async (client) => {
        await client.get(url)
        await client.post('/portal/open')
      }),
    )
    const states = await Promise.all(clients.map(async (client) => (await client.get('/portal')).status))
    expect(states.filter((status) => status === 200)).toHaveLength(1)
  })

  it('stores neither of its tokens', async () => {
    const world = await made()
    const { url, client } = await open(world)
    const token = new URL(url).searchParams.get('token')!
    const cookie = [...client.cookies].find(([name]) => name.endsWith('portal'))![1]
    const rows = JSON.stringify([...(await world.portal.listLinks(system, world.acme))])
    for (const secret of [token, cookie]) expect(rows).not.toContain(secret)
  })

  it.each([
    ['is revoked', (world: Made, id: string) => world.portal.revokeLink(system, world.acme, id)],
    ['is over', (world: Made) => Promise.resolve(world.runtime.advance(8 * 86_400_000))],
    [
      'loses its organization',
      async (world: Made) => {
        await world.auth.organizations.delete(system, world.acme)
        expect((await world.job((ctx) => ctx.records('portalLink').find({ where: { organizationId: world.acme } }))).rows).toEqual([])
      },
    ],
  ])('closes the portal when it %s', async (_what, end) => {
    const world = await made()
    const { client, id } = await open(world)
    await end(world, id)
    expect((await client.get('/portal')).status).toBe(403)
    const answer = await client.post('/portal/domains', { action: 'claim', domain: 'more.example' })
    expect(new URL(answer.headers.get('location') ?? '', origin).searchParams.get('error')).toBe('PortalLinkInvalid')
  })

  it.each([
    ['is no owner any more', (world: Made) => world.auth.organizations.setRole(system, world.acme, 'ada', 'member')],
    ['is suspended', (world: Made) => world.auth.organizations.suspend(system, world.acme, 'ada')],
    ['is removed', (world: Made) => world.auth.organizations.remove(system, world.acme, 'ada')],
  ])('ends with the rights of its sender, who %s', async (_what, end) => {
    const world = await made()
    await world.addMember(world.acme, 'cy')
    await world.auth.organizations.setRole(system, world.acme, 'cy', 'owner')
    const owner = await world.browser('ada')
    await owner.post('/portal/links', { action: 'visit', organization: world.acme })
    expect((await owner.get('/portal')).status).toBe(200)
    await end(world)
    expect((await owner.get('/portal')).status).toBe(403)
  })

  it('is closed while the access of its sender is refused, and opens nothing then', async () => {
    const world = await made()
    let banned = ''
    world.auth.hook('access', ({ userId }) => userId !== banned)
    const owner = await world.browser('ada')
    const { url } = await world.portal.createLink(requestOf(owner), world.acme, { email: 'it@acme.example' })
    const client = new Client(world.auth)
    await client.get(url)
    await client.post('/portal/open')
    expect((await client.get('/portal')).status).toBe(200)
    banned = 'ada'
    expect((await client.get('/portal')).status).toBe(403)
    await client.post('/portal/domains', { action: 'claim', domain: 'taken.example' })
    expect(await world.auth.organizations.domains.claims(system, world.acme)).toEqual([])
    banned = ''
    expect((await client.get('/portal')).status).toBe(200)
  })

  it('ends with a reset of the password of its sender, and is not made by a session that ends meanwhile', async () => {
    const world = await made()
    const owner = await world.browser('ada')
    await world.portal.createLink(requestOf(owner), world.acme, { email: 'thief@mail.example' })
    await world.portal.createLink({ ...system, base: `${origin}/auth` }, world.acme, { email: 'it@acme.example' })
    await world.job((ctx) => ctx.access.end({ userId: 'ada' }, { by: 'test', reason: 'passwordReset' }))
    expect((await world.portal.listLinks(system, world.acme)).map(({ email }) => email)).toEqual(['it@acme.example'])
    const late = await world.browser('ada')
    let asked = false
    world.auth.hook('access', async ({ by }) => {
      // Signed out everywhere, by another request, between the check of the rights and the link.
      if (by === 'portalLink' && !asked) {
        asked = true
        await world.job((ctx) => ctx.access.end({ userId: 'ada' }, { by: 'test' }))
      }
      return true
    })
    await expect(world.portal.createLink(requestOf(late), world.acme, { email: 'late@mail.example' })).rejects.toMatchObject({
      type: 'AccessEnded',
    })
    expect(asked).toBe(true)
    expect((await world.portal.listLinks(system, world.acme)).map(({ email }) => email)).toEqual(['it@acme.example'])
  })

  it('that an owner opened for the own browser ends with the sign-out there, and no other', async () => {
    const world = await made()
    const owner = await world.browser('ada')
    await owner.post('/portal/links', { action: 'visit', organization: world.acme })
    const copy = new Client(world.auth)
    for (const [name, value] of owner.cookies) copy.cookies.set(name, value)
    expect((await owner.get('/portal')).status).toBe(200)
    await owner.post('/signout')
    expect([(await owner.get('/portal')).status, (await copy.get('/portal')).status]).toEqual([403, 403])
    // The IT of the customer may have an account of its own in the same browser.
    const { client } = await open(world)
    await client.post('/callback/credentials', { user: 'cy' })
    await client.post('/signout')
    expect((await client.get('/portal')).status).toBe(200)
  })

  it('is made under a policy by a session of the connection alone', async () => {
    const world = await made()
    await world.auth.sso.create(system, world.acme, { name: 'A', issuer: op.issuer, clientId: 'app', clientSecret: 's' })
    await world.auth.sso.setPolicy(system, world.acme, { domains: true, members: true, exceptions: ['ada'] })
    const owner = await world.browser('ada')
    // As if the session had begun before the policy, and had not been ended yet.
    await world.job(async (ctx) => void (await ctx.records('ssoPolicy').update(world.acme, { exceptions: [] })))
    await expect(world.portal.createLink(requestOf(owner), world.acme, { email: 'it@acme.example' })).rejects.toMatchObject({
      type: 'SsoRequired',
    })
  })

  it('is made and revoked by owners alone', async () => {
    const world = await made()
    await world.addMember(world.acme, 'cy')
    for (const name of ['cy', 'bob']) {
      const client = await world.browser(name)
      const denied = await client.post('/portal/links', { action: 'create', organization: world.acme, email: 'x@x.example', scope: 'sso' })
      expect([denied.status, await denied.text()]).toEqual([403, expect.not.stringContaining('token=')])
      expect((await client.get(`/portal/links?organization=${world.acme}`)).status).toBe(403)
    }
    expect(await world.portal.listLinks(system, world.acme)).toEqual([])
    const owner = await world.browser('ada')
    const shown = await owner.post('/portal/links', {
      action: 'create',
      organization: world.acme,
      email: 'it@acme.example',
      days: '3',
      scope: 'sso',
    })
    expect(await shown.text()).toMatch(/portal\/open\?token=[0-9a-f]{64}/)
    const [link] = await world.portal.listLinks(system, world.acme)
    expect(link).toMatchObject({ email: 'it@acme.example', scopes: ['sso'], opened: null })
    await (await world.browser('bob')).post('/portal/links', { action: 'revoke', organization: world.beta, link: link!.id })
    expect(await world.portal.listLinks(system, world.acme)).toHaveLength(1)
    await owner.post('/portal/links', { action: 'revoke', organization: world.acme, link: link!.id })
    expect(await world.portal.listLinks(system, world.acme)).toEqual([])
  })

  it('is in the navigation of the organization, for those who may send it', async () => {
    const world = await made()
    await world.addMember(world.acme, 'cy')
    await world.auth.organizations.setRole(system, world.acme, 'cy', 'admin')
    const link = `/auth/portal/links?organization=${world.acme}`
    const shown = async (name: string) =>
      (await page(await world.browser(name), `/organizations/members?organization=${world.acme}`)).includes(link)
    expect([await shown('ada'), await shown('cy')]).toEqual([true, false])
  })

  it('needs a fresh proof of its sender', async () => {
    const world = await made()
    const owner = await world.browser('ada')
    world.runtime.advance(3_600_000)
    const answer = await owner.post('/portal/links', { action: 'visit', organization: world.acme })
    expect([answer.status, await answer.text()]).toEqual([403, expect.stringContaining('Prove again')])
  })

  it('can be mailed, and takes itself back when the mail fails', async () => {
    const world = await made()
    const by = { ...system, base: `${origin}/auth` }
    await world.portal.createLink(by, world.acme, { email: 'it@acme.example', mail: true })
    expect(world.mails.at(-1)).toMatchObject({ to: 'it@acme.example', subject: expect.stringContaining('Acme') as string })
    expect(world.mails.at(-1)?.text).toMatch(/portal\/open\?token=[0-9a-f]{64}/)
  })

  it.each([
    { email: 'no address' },
    { email: 'a@b.example', days: 0 },
    { email: 'a@b.example', days: 31 },
    { email: 'a@b.example', scopes: [] },
    { email: 'a@b.example', scopes: ['everything'] },
    { email: 'a@b.example', other: 1 },
    null,
  ])('is refused with a message for %j', async (link) => {
    const world = await made()
    await expect(world.portal.createLink({ ...system, base: `${origin}/auth` }, world.acme, link as never)).rejects.toMatchObject({
      type: 'PortalInput',
      status: 400,
    })
  })
})

describe('the portal', () => {
  it('shows and does what the scopes of the link permit, and nothing else', async () => {
    const world = await made()
    const { client } = await open(world, { scopes: ['domains'] })
    expect(await page(client, '/portal/domains')).toContain('acme.example')
    for (const section of ['connections', 'policy', 'log']) {
      expect((await client.get(`/portal/${section}`)).status).toBe(404)
      expect((await client.post(`/portal/${section}`, { action: 'create', type: 'saml' })).status).toBe(404)
    }
    expect(await world.auth.sso.list(system, world.acme)).toEqual([])
  })

  it('touches no other organization', async () => {
    const world = await made()
    const foreign = await world.auth.sso.create(system, world.beta, {
      type: 'saml',
      name: 'Beta',
      entityId: idpEntity,
      signInUrl: 'https://idp.example/sso',
      certificates: [idpKeys.certificate],
    })
    const { client } = await open(world)
    expect((await client.get(`/portal/connections?connection=${foreign.id}`)).headers.get('location')).toContain('NoSuchConnection')
    for (const action of [
      'fields',
      'metadata',
      'mapping',
      'test',
      'enable',
      'disable',
      'rename',
      'remove',
      'certificate.add',
      'certificate.remove',
    ]) {
      const answer = await client.post('/portal/connections', {
        action,
        connection: foreign.id,
        name: 'Beta',
        url: 'https://x.example',
        certificate: otherKeys.certificate,
      })
      expect([action, answer.status < 500, answer.headers.get('location') ?? '']).toEqual([
        action,
        true,
        expect.not.stringContaining('done'),
      ])
    }
    expect(await world.auth.sso.get(system, foreign.id)).toEqual(foreign)
    await client.post('/portal/domains', { action: 'remove', domain: 'beta.example' })
    expect(await page(await open(world, {}, world.beta).then((one) => one.client), '/portal/domains')).toContain('beta.example')
  })

  it('gives no session of the app', async () => {
    const { client } = await open(await made())
    expect(await client.session()).toBeNull()
    expect((await client.get('/account')).status).not.toBe(200)
  })

  it('names the link in audit records of what it does', async () => {
    const world = await made()
    const facts: unknown[] = []
    world.auth.on('noted', (message) => facts.push([message.name, message.facts.actor]))
    const { client, id } = await open(world)
    await client.post('/portal/connections', { action: 'create', product: 'entra', type: 'saml' })
    expect(facts).toEqual([
      ['portal.link.created', undefined],
      ['portal.link.opened', undefined],
      ['sso.connection.created', { type: 'portal', id }],
    ])
  })

  it('claims, checks and removes domains', async () => {
    const world = await made()
    const { client } = await open(world)
    await client.post('/portal/domains', { action: 'claim', domain: 'More.example' })
    expect(await page(client, '/portal/domains')).toMatch(/_authkernel\.more\.example[\s\S]*authkernel-domain=[0-9a-f]{32}/)
    const unproved = await client.post('/portal/domains', { action: 'prove', domain: 'more.example' })
    expect([unproved.status, await unproved.text()]).toEqual([expect.any(Number), expect.stringContaining('no TXT record')])
    await client.post('/portal/domains', { action: 'remove', domain: 'more.example' })
    expect(await page(client, '/portal/domains')).not.toContain('more.example')
  })

  it.each(['en', 'de', 'es', 'fr', 'ja'])('has all its texts (%s)', async (lang) => {
    const world = await made()
    const { client } = await open(world)
    const connection = await connectSaml(client)
    await world.auth.sso
      .setPolicy(system, world.acme, { domains: false, members: true, from: new Date(world.runtime.now() + 86_400_000) })
      .catch(() => null)
    for (const path of [
      '',
      '/domains',
      '/connections',
      '/connections?product=entra',
      `/connections?connection=${connection}`,
      '/policy',
      '/log',
      '/missing',
    ]) {
      const html = await (await client.get(`/portal${path}`, { 'accept-language': lang })).text()
      expect([path, html.match(/\b(?:portal|sso)\.[a-z]+(?:\.\w+)*\b/g)?.filter((one) => !/^portal\.(?:js|css)$/.test(one)) ?? []]).toEqual(
        [path, []],
      )
      // A text that is missing is empty.
      expect([path, html.match(/<(?:h1|h2|h3|legend|th|label[^>]*|summary)>\s*<\//g) ?? []]).toEqual([path, []])
    }
  })
})

describe('a connection by SAML', () => {
  it('is set up from nothing: values first, then the provider, a test with each check, and the switch', async () => {
    const world = await made()
    const { client } = await open(world)
    const connection = connectionOf(await client.post('/portal/connections', { action: 'create', product: 'entra', type: 'saml' }))
    const before = await page(client, `/portal/connections?connection=${connection}`)
    for (const value of [`/auth/saml/sso-${connection}/acs`, `/auth/saml/sso-${connection}/metadata`])
      expect(before).toContain(origin + value)
    expect(before).toContain('Identifier (Entity ID)')
    // Our metadata is there before the connection is.
    expect((await client.get(`/saml/sso-${connection}/metadata`)).status).toBe(200)
    const untested = await client.post('/portal/connections', { action: 'enable', connection })
    expect([untested.status, await untested.text()]).toEqual([400, expect.stringContaining('Test the connection first')])
    await client.post('/portal/connections', {
      action: 'fields',
      connection,
      entityId: idpEntity,
      signInUrl: 'https://idp.example/sso',
      certificate: idpKeys.certificate,
    })
    const to = await testSaml(world, client, connection, {
      attributes: { mail: ['new@acme.example'], displayName: ['New'], groups: ['Staff'] },
    })
    expect(to).toContain(`/auth/portal/connections?connection=${connection}&trial=`)
    const result = await page(client, to)
    for (const text of ['new@acme.example', 'Signature', 'Audience', 'Recipient', 'displayName', 'Passed']) expect(result).toContain(text)
    expect(result).not.toContain('Failed')
    // Nothing was made of it.
    expect(await world.store.getUserByEmail('new@acme.example')).toBeNull()
    expect(await client.session()).toBeNull()
    expect((await world.auth.sso.get(system, connection)).used).toBe(false)
    expect((await client.post('/portal/connections', { action: 'enable', connection })).headers.get('location')).toContain('done=1')
    const user = new Client(world.auth)
    const { id: request } = await begin(user, `sso-${connection}`)
    await post(
      user,
      sign(writeResponse({ now: world.runtime.now(), provider: `sso-${connection}`, request, attributes: { mail: ['new@acme.example'] } })),
      {
        provider: `sso-${connection}`,
      },
    )
    expect((await user.session())?.user).toMatchObject({ email: 'new@acme.example' })
    expect((await page(client, '/portal/log')).replaceAll(/<wbr ?\/?>/g, '')).toContain('new@acme.example')
    // Accounts rest on the identity provider from now on.
    const moved = await client.post('/portal/connections', {
      action: 'fields',
      connection,
      entityId: 'https://evil.example',
      signInUrl: 'https://evil.example/sso',
      certificate: otherKeys.certificate,
    })
    expect(await moved.text()).toContain('Make a new connection')
  })

  it.each([
    ['an audience of another app', { audience: 'https://other.example' }, 'Audience', 'entity ID'],
    ['another recipient', { recipient: 'https://other.example/acs' }, 'Recipient', 'ACS URL'],
    ['another destination', { destination: 'https://other.example/acs' }, 'Destination', 'ACS URL'],
    ['another issuer', { issuer: 'https://other.example' }, 'Issuer', 'another identity provider'],
    ['an answer of yesterday', { notOnOrAfter: -3_600_000 }, 'Time', 'too old'],
    ['a transient NameID', { nameIdFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient' }, '', 'persistent'],
    ['a status', { status: 'urn:oasis:names:tc:SAML:2.0:status:RequestDenied' }, 'Status', 'denied at the identity provider'],
    ['no address', { attributes: { uid: ['1'] } }, 'Email', 'No email arrived'],
    ['a domain that is not proved', { attributes: { mail: ['x@other.example'] } }, 'Domain', 'not verified'],
  ])('shows what to mend for %s', async (_what, parts, check, fix) => {
    const world = await made()
    const { client } = await open(world)
    const connection = await connectSaml(client)
    const to = await testSaml(world, client, connection, parts)
    expect(to).toContain('trial=')
    const html = await page(client, to)
    for (const text of ['Failed', check, fix]) expect(html).toContain(text)
    expect(await client.session()).toBeNull()
    expect((await world.auth.sso.get(system, connection)).tested).toBe(false)
  })

  it('shows a foreign signature as such, and no attribute of an answer that was not verified', async () => {
    const world = await made()
    const { client } = await open(world)
    const connection = await connectSaml(client)
    const html = await page(client, await testSaml(world, client, connection, { attributes: { mail: ['secret@acme.example'] } }, otherKeys))
    expect(html).toContain('fits none of the certificates')
    expect(html).not.toContain('secret@acme.example')
  })

  it('needs a new test after a change', async () => {
    const world = await made()
    const { client } = await open(world)
    const connection = await connectSaml(client)
    await testSaml(world, client, connection)
    await client.post('/portal/connections', { action: 'mapping', connection, 'map.email': 'upn' })
    const answer = await client.post('/portal/connections', { action: 'enable', connection })
    expect(answer.status).toBe(400)
  })

  it('ends a test in the browser that began it, and signs in no other that is led there', async () => {
    const world = await made()
    const { client } = await open(world)
    const connection = await connectSaml(client)
    await testSaml(world, client, connection)
    await client.post('/portal/connections', { action: 'enable', connection })
    const started = await client.post('/portal/connections', { action: 'test', connection })
    const { id: request } = await readRequest(started)
    const victim = new Client(world.auth)
    await post(victim, sign(writeResponse({ now: world.runtime.now(), provider: `sso-${connection}`, request })), {
      provider: `sso-${connection}`,
    })
    expect(await victim.session()).toBeNull()
    // A callback URL with the id of a test is a callback URL like any other.
    const [trial] = /trial=([0-9a-f]{24})/.exec(await testSaml(world, client, connection))!.slice(1)
    const target = `${origin}/auth/portal/connections?connection=${connection}&trial=${trial}`
    const begun = await begin(victim, `sso-${connection}`, target)
    await post(victim, sign(writeResponse({ now: world.runtime.now(), provider: `sso-${connection}`, request: begun.id })), {
      provider: `sso-${connection}`,
    })
    expect(await victim.session()).not.toBeNull()
  })

  it('is not usable while it is switched off, not even by a callback without a test', async () => {
    const world = await made()
    const { client } = await open(world)
    const connection = await connectSaml(client)
    const other = new Client(world.auth)
    const refused = await other.post(`/signin/sso-${connection}`)
    expect(refused.headers.get('location')).not.toContain('idp.example')
    await client.post('/portal/connections', { action: 'test', connection })
    // The browser of the test itself begins no sign-in either.
    expect((await client.post(`/signin/sso-${connection}`)).headers.get('location')).not.toContain('idp.example')
  })

  it('takes metadata by a file without a script, and says what is wrong with it', async () => {
    const world = await made()
    const { client } = await open(world)
    const connection = connectionOf(await client.post('/portal/connections', { action: 'create', product: 'google', type: 'saml' }))
    const certificate = idpKeys.certificate.replace(/-----[^-]+-----|\s/g, '')
    const metadata = `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${idpEntity}"><IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><KeyDescriptor use="signing"><KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data><X509Certificate>${certificate}</X509Certificate></X509Data></KeyInfo></KeyDescriptor><SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://idp.example/sso"/></IDPSSODescriptor></EntityDescriptor>`
    const upload = (content: BlobPart, headers: Record<string, string> = { origin }) => {
      const body = new FormData()
      for (const [name, value] of Object.entries({ action: 'metadata', connection })) body.append(name, value)
      body.append('file', new Blob([content], { type: 'text/xml' }), 'metadata.xml')
      return client.send('/portal/connections/upload', { method: 'POST', body, headers })
    }
    const wrong = await upload('<html/>')
    expect([wrong.status, await wrong.text()]).toEqual([400, expect.stringContaining('no SAML 2.0 identity provider')])
    expect((await upload(new Uint8Array([0xff, 0xfe, 0]))).status).toBe(415)
    expect((await upload('x'.repeat(700_000))).status).toBe(413)
    expect((await upload(metadata, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await upload(metadata)).headers.get('location')).toContain('done=1')
    expect((await world.auth.sso.get(system, connection)).settings).toMatchObject({ entityId: idpEntity })
    const malformed = await client.send('/portal/connections/upload', {
      method: 'POST',
      body: 'x',
      headers: { origin, 'content-type': 'multipart/form-data; boundary=y' },
    })
    expect(malformed.status).toBe(400)
  })

  it('reads metadata by its address, shows its certificates, and says what is wrong with an address', async () => {
    const world = await made()
    const { client } = await open(world)
    const certificate = idpKeys.certificate.replace(/-----[^-]+-----|\s/g, '')
    const metadata = `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${idpEntity}"><IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><KeyDescriptor use="signing"><KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data><X509Certificate>${certificate}</X509Certificate></X509Data></KeyInfo></KeyDescriptor><SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://idp.example/sso"/></IDPSSODescriptor></EntityDescriptor>`
    let reads = 0
    const server = createServer({ key: tls.key, cert: tls.cert }, (_req, res) => void (reads++, res.end(metadata)))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      const url = `https://idp.example:${(server.address() as AddressInfo).port}/metadata`
      const connection = connectionOf(await client.post('/portal/connections', { action: 'create', product: 'entra', type: 'saml' }))
      for (const [wrong, what] of [
        ['http://idp.example/metadata', 'must begin with https'],
        ['https://10.0.0.1/metadata', 'no public address'],
        ['', 'Enter the address'],
      ] as const) {
        const answer = await client.post('/portal/connections', { action: 'metadata', connection, url: wrong })
        expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(what)])
      }
      const done = await client.post('/portal/connections', { action: 'metadata', connection, url })
      expect(done.headers.get('location')).toContain('#attributes')
      expect((await world.auth.sso.get(system, connection)).settings).toMatchObject({ entityId: idpEntity, metadataUrl: url })
      const shown = await page(client, `/portal/connections?connection=${connection}`)
      expect(shown).toMatch(/Read from the metadata address[\s\S]*Ends soon/)
      expect(shown).not.toContain('certificate.remove')
      const refused = await client.post('/portal/connections', {
        action: 'certificate.add',
        connection,
        certificate: otherKeys.certificate,
      })
      expect(await refused.text()).toContain('come from the metadata address')
      // A link makes this server read an address no more than 60 times in an hour.
      for (let at = 0; at < 70; at++) await client.get(`/portal/connections?connection=${connection}`)
      expect(reads).toBeLessThanOrEqual(62)
      const last = await client.get(`/portal/connections?connection=${connection}`)
      expect(await last.text()).toContain('read 60 times in the last hour')
    } finally {
      server.close()
      server.closeAllConnections()
    }
  })

  it('rolls its certificate over, and keeps the last one', async () => {
    const world = await made()
    const { client } = await open(world)
    const connection = await connectSaml(client)
    expect(await page(client, `/portal/connections?connection=${connection}`)).toContain('Ends soon')
    await client.post('/portal/connections', { action: 'certificate.add', connection, certificate: otherKeys.certificate })
    const list = (await world.auth.sso.get(system, connection)).settings as { certificates: readonly string[] }
    expect(list.certificates).toHaveLength(2)
    const fingerprints = [
      ...(await page(client, `/portal/connections?connection=${connection}`)).matchAll(/name="fingerprint" value="([0-9a-f]{64})"/g),
    ].map((one) => one[1]!)
    expect(new Set(fingerprints).size).toBe(2)
    await client.post('/portal/connections', { action: 'certificate.remove', connection, fingerprint: fingerprints[0]! })
    const last = await client.post('/portal/connections', { action: 'certificate.remove', connection, fingerprint: fingerprints[1]! })
    expect(await last.text()).toContain('only certificate')
    const bad = await client.post('/portal/connections', {
      action: 'certificate.add',
      connection,
      certificate: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----',
    })
    expect(bad.status).toBe(400)
  })
})

describe('a connection by OpenID Connect', () => {
  it('is set up and tested with a real provider', async () => {
    const world = await made()
    const { client } = await open(world)
    const connection = connectionOf(await client.post('/portal/connections', { action: 'create', product: 'keycloak', type: 'oidc' }))
    op.redirects.push(`${origin}/auth/callback/sso-${connection}`)
    await client.post('/portal/connections', {
      action: 'oidc',
      connection,
      issuer: op.issuer,
      clientId: 'app',
      clientSecret: 'the-secret-of-the-client',
    })
    const shown = await page(client, `/portal/connections?connection=${connection}`)
    expect(shown).not.toContain('the-secret-of-the-client')
    const started = await client.post('/portal/connections', { action: 'test', connection })
    const answer = await client.get(await op.visit(started.headers.get('location') ?? '', { login: 'alice' }))
    const html = await page(client, answer.headers.get('location') ?? '')
    for (const text of ['alice@acme.example', 'Nonce', 'admins', 'Passed']) expect(html).toContain(text)
    expect(await world.store.getUserByEmail('alice@acme.example')).toBeNull()
    // The preview follows the mapping.
    await client.post('/portal/connections', {
      action: 'mapping',
      connection,
      'role.groups': 'admins = admin\nstaff = member',
      'role.sync': 'yes',
    })
    expect((await world.auth.sso.get(system, connection)).roles).toEqual({ groups: { admins: 'admin', staff: 'member' }, sync: true })
    // A role that was deleted since is named by the test, and not by the first sign-in of a user.
    const { roles } = world.auth.organizations
    const { role } = await roles.create(system, world.acme, { title: 'Chief', permissions: ['member:read'] })
    await client.post('/portal/connections', { action: 'mapping', connection, 'role.default': role })
    await roles.delete(system, world.acme, role)
    const second = await client.post('/portal/connections', { action: 'test', connection })
    const third = await client.get(await op.visit(second.headers.get('location') ?? '', { login: 'alice' }))
    expect(await page(client, third.headers.get('location') ?? '')).toMatch(/Failed[\s\S]*There is no role/)
    expect((await world.auth.sso.get(system, connection)).tested).toBe(false)
    const owner = await client.post('/portal/connections', { action: 'mapping', connection, 'role.groups': 'admins = owner' })
    expect([owner.status, await owner.text()]).toEqual([400, expect.stringContaining('must not give the role')])
  })

  it('whose issuer is wrong shows that as the result of the test, and signs in after it is corrected', async () => {
    const world = await made()
    const { client } = await open(world)
    const connection = connectionOf(await client.post('/portal/connections', { action: 'create', product: 'other', type: 'oidc' }))
    const enter = (fields: object) => client.post('/portal/connections', { action: 'oidc', connection, clientId: 'app', ...fields })
    const missing = await enter({ issuer: op.issuer })
    expect([missing.status, await missing.text()]).toEqual([400, expect.stringContaining('Enter the client secret')])
    await enter({ issuer: `${op.issuer}/wrong`, clientSecret: 'the-secret-of-the-client' })
    const started = await client.post('/portal/connections', { action: 'test', connection })
    const result = started.headers.get('location') ?? ''
    expect(result).toContain('/portal/connections?')
    const html = await page(client, result)
    for (const text of ['Failed', 'Discovery document', 'status 404', 'Compare the issuer, letter by letter']) expect(html).toContain(text)
    expect((await world.auth.sso.get(system, connection)).tested).toBe(false)
    await enter({ issuer: op.issuer })
    op.redirects.push(`${origin}/auth/callback/sso-${connection}`)
    const again = await client.post('/portal/connections', { action: 'test', connection })
    const answer = await client.get(await op.visit(again.headers.get('location') ?? '', { login: 'alice' }))
    expect(await page(client, answer.headers.get('location') ?? '')).toContain('Passed')
    expect((await world.auth.sso.get(system, connection)).tested).toBe(true)
  })

  it('explains an error of the provider', async () => {
    const world = await made()
    const { client } = await open(world)
    const connection = connectionOf(await client.post('/portal/connections', { action: 'create', product: 'entra', type: 'oidc' }))
    await client.post('/portal/connections', {
      action: 'oidc',
      connection,
      issuer: op.issuer,
      clientId: 'app',
      clientSecret: 'the-secret-of-the-client',
    })
    for (const [error, description, fix] of [
      ['invalid_request', 'AADSTS50105: The signed in user is not assigned to a role', 'Assign the user'],
      ['unauthorized_client', 'AADSTS700016: Application not found', 'does not know this app'],
      ['access_denied', 'The user cancelled', 'cancelled or denied'],
    ] as const) {
      const started = await client.post('/portal/connections', { action: 'test', connection })
      const state = new URL(started.headers.get('location') ?? '').searchParams.get('state') ?? ''
      const query = new URLSearchParams({ error, error_description: description, state, iss: op.issuer })
      const answer = await client.get(`/callback/sso-${connection}?${query.toString()}`)
      expect(await page(client, answer.headers.get('location') ?? '')).toContain(fix)
    }
  })
})

describe('enforcement', () => {
  it('is set with its exceptions and lifted, and never without a connection', async () => {
    const world = await made()
    const { client } = await open(world)
    const early = await client.post('/portal/policy', { action: 'demand', domains: 'yes' })
    expect([early.status, await early.text()]).toEqual([400, expect.stringContaining('locked out')])
    const connection = await connectSaml(client)
    await testSaml(world, client, connection)
    await client.post('/portal/connections', { action: 'enable', connection })
    await client.post('/portal/policy', {
      action: 'demand',
      domains: 'yes',
      exceptions: 'robot@acme.example\nroot@acme.example',
      'owner.ada': 'yes',
    })
    expect(await world.auth.sso.getPolicy(system, world.acme)).toMatchObject({
      domains: true,
      members: false,
      breakGlass: ['ada'],
      exceptions: ['robot@acme.example', 'root@acme.example'],
      applied: true,
    })
    const last = await client.post('/portal/connections', { action: 'disable', connection })
    expect(await last.text()).toContain('Remove the policy first')
    await client.post('/portal/policy', { action: 'release' })
    expect(await world.auth.sso.getPolicy(system, world.acme)).toBeNull()
  })
})

describe('bad input', () => {
  const values = ['', 'x'.repeat(5000), '\0', '__proto__', 'constructor', '{"a":1}', '💥', '../..', '-1', '%00', '<script>']
  it('is no 5xx, in any form and any query', async () => {
    const world = await made()
    const { client } = await open(world)
    const connection = await connectSaml(client)
    const actions = [
      'create',
      'metadata',
      'fields',
      'oidc',
      'mapping',
      'test',
      'enable',
      'disable',
      'certificate.add',
      'certificate.remove',
      'rename',
      'remove',
      'claim',
      'prove',
      'demand',
      'release',
      'constructor',
      '',
    ]
    for (const section of ['connections', 'domains', 'policy', 'log', 'overview', 'constructor'])
      for (const action of actions) {
        const value = values[(action.length + section.length) % values.length]!
        const names = [
          'connection',
          'product',
          'type',
          'url',
          'xml',
          'file',
          'entityId',
          'signInUrl',
          'certificate',
          'issuer',
          'clientId',
          'name',
          'domain',
          'from',
          'exceptions',
          'map.email',
          'role.groups',
          'fingerprint',
        ]
        const fields = Object.fromEntries(names.map((name) => [name, name === 'connection' && action !== '' ? connection : value]))
        const answer = await client.post(`/portal/${section}`, { action, ...fields })
        expect([section, action, answer.status < 500]).toEqual([section, action, true])
      }
    for (const value of values)
      for (const path of ['portal', 'portal/connections', 'portal/log', 'portal/open', 'portal/links']) {
        const query = new URLSearchParams({
          connection: value,
          trial: value,
          product: value,
          cursor: value,
          organization: value,
          token: value,
          section: value,
        })
        const answer = await client.get(`/${path}?${query.toString()}`)
        expect([path, value, answer.status < 500]).toEqual([path, value, true])
      }
  })
})
