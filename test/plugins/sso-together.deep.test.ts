/** Company sign-in together with tenants, organizations, a second factor and step-up, under both session strategies. */
import { inflateRawSync } from 'node:zlib'
import { createAuth } from 'authkernel'
import type { Kernel } from 'authkernel/kernel'
import { createPublicFetch } from 'authkernel/kernel/protocols'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { organizationsPlugin } from 'authkernel/plugins/organizations'
import { portalPlugin } from 'authkernel/plugins/portal'
import { samlPlugin } from 'authkernel/plugins/saml'
import { ssoPlugin } from 'authkernel/plugins/sso'
import { stepUpPlugin } from 'authkernel/plugins/step-up'
import { tenantsPlugin } from 'authkernel/plugins/tenants'
import { twoFactorPlugin } from 'authkernel/plugins/two-factor'
import { describe, expect, it } from 'vitest'
import { baseConfig, Client } from '../_setup.ts'
import { totpAt } from '../_totp.ts'
import { idpEntity, idpKeys, post, type ResponseParts, sign, writeResponse } from '../saml/_idp.ts'
import { movedRuntime } from './_sso.ts'

const both = { domains: true, members: true }
const pathOf = (answer: Response) => new URL(answer.headers.get('location') ?? '/none', 'http://none').pathname
const html = async (answer: Response) => (await answer.text()).replace(/<style[\s\S]*?<\/style>/g, '')

async function made(strategy: 'jwt' | 'database', tenants: 'inside' | 'over' = 'inside') {
  const runtime = movedRuntime()
  const stores = memoryAdapter(memoryData())
  const dns = new Map<string, string[]>()
  let inside: Kernel | undefined
  const auth = createAuth(
    baseConfig({
      runtime,
      session: { strategy, ...(strategy === 'jwt' && { revocable: true }) },
      providers: [
        {
          id: 'credentials',
          name: 'Password',
          type: 'credentials',
          credentials: { user: { label: 'User' } },
          authorize: async ({ user }) => (typeof user === 'string' ? await stores.getUser!(user) : null),
        },
      ],
    }),
  )
    .use(adapterPlugin(stores))
    .use({
      name: 'network',
      setup(kernel) {
        inside = kernel
        kernel.provide('publicFetch', createPublicFetch({ allow: ['127.0.0.1'], lookup: () => ['127.0.0.1'] }))
        kernel.provide('mailTransport', { send: () => undefined })
      },
    })
    .use(
      tenantsPlugin({
        settings: (request) => ({ namespace: new URL(request.url).hostname.split('.')[0]! }),
        tenant: (name) => ({ namespace: name }),
      }),
    )
    .use(
      organizationsPlugin({
        tenants,
        domains: { isPublicSuffix: () => false, resolveTxt: (name) => Promise.resolve([dns.get(name) ?? []]) },
      }),
    )
    .use(samlPlugin())
    .use(ssoPlugin())
    .use(portalPlugin())
    .use(stepUpPlugin())
    .use(twoFactorPlugin())
  await auth.ready()
  /** One tenant with an organization that has proved `acme.example`, and a connection of it. */
  const tenant = async (name: string) => {
    const system = { system: true, tenant: name } as const
    const owner = await inside!.job({ job: 'test', tenant: name }, (ctx) =>
      ctx.users.create({ id: `ada-${name}`, email: 'ada@acme.example', name: 'Ada', emailVerified: new Date(0) }),
    )
    const { id: organization } = await auth.organizations.create({ userId: owner.id, tenant: name }, { name: `Acme ${name}` })
    const { record, text } = await auth.organizations.domains.claim(system, organization, 'acme.example')
    dns.set(record, [text])
    await auth.organizations.domains.prove(system, organization, 'acme.example')
    const connection = await auth.sso.create(system, organization, {
      type: 'saml',
      name: 'Acme',
      entityId: idpEntity,
      signInUrl: 'https://idp.example/sso',
      certificates: [idpKeys.certificate],
    })
    return {
      system,
      owner: owner.id,
      organization,
      connection,
      base: `http://${name}.example/auth`,
      browser: () => new Client(auth, `http://${name}.example`),
    }
  }
  type Tenant = Awaited<ReturnType<typeof tenant>>
  const readRequest = (location: string | null) => {
    const encoded = new URL(location ?? 'about:blank').searchParams.get('SAMLRequest') ?? ''
    const xml = inflateRawSync(Buffer.from(encoded, 'base64')).toString()
    return { xml, request: /\bID="([^"]+)"/.exec(xml)?.[1] }
  }
  const answer = (of: Tenant, request: string | undefined, parts: Partial<ResponseParts> = {}) => {
    const { callbackPath, metadataPath } = of.connection
    const [acs, audience] = [of.base + callbackPath, of.base + metadataPath!]
    return sign(
      writeResponse({
        now: runtime.now(),
        request,
        destination: acs,
        recipient: acs,
        audience,
        nameId: 'amy-1',
        attributes: { email: ['amy@acme.example'] },
        ...parts,
      }),
    )
  }
  const signIn = async (of: Tenant, client: Client, parts: Partial<ResponseParts> = {}) => {
    const { providerId } = of.connection
    const { request } = readRequest((await client.post(`/signin/${providerId}`, { callbackUrl: '/in' })).headers.get('location'))
    return post(client, answer(of, request, parts), { provider: providerId })
  }
  return { auth, runtime, tenant, signIn, answer, readRequest }
}

describe.each(['database', 'jwt'] as const)('company sign-in with everything beside it (%s)', (strategy) => {
  it('keeps the connections, users and policies of two tenants apart, although their domains are the same', async () => {
    const { auth, tenant, signIn } = await made(strategy)
    const [a, b] = [await tenant('a'), await tenant('b')]
    await auth.sso.setPolicy(a.system, a.organization, both)
    expect(await auth.sso.list(b.system, b.organization)).toMatchObject([{ id: b.connection.id }])
    await expect(auth.sso.get(b.system, a.connection.id)).rejects.toMatchObject({ type: 'NoSuchConnection' })
    expect(await auth.sso.getPolicy(b.system, a.organization).catch(() => null)).toBeNull()
    const [atA, atB] = [a.browser(), b.browser()]
    await signIn(a, atA)
    await signIn(b, atB)
    const users = [await atA.session(), await atB.session()].map((session) => session?.user?.['id'])
    expect(users[0]).toBeDefined()
    expect(users[1]).toBeDefined()
    expect(users[0]).not.toBe(users[1])
    // The policy of one tenant binds no user of the other.
    const [owner, other] = [a.browser(), b.browser()]
    expect(pathOf(await owner.post('/callback/credentials', { user: a.owner }))).toBe('/auth/sso/start')
    await other.post('/callback/credentials', { user: b.owner })
    expect((await owner.session()) === null).toBe(true)
    // A connection of another tenant begins nothing here, and a response for it ends nothing.
    expect((await other.post(`/signin/${a.connection.providerId}`)).headers.get('location')).not.toContain('idp.example')
  })

  it('ends sessions of members of organizations that span tenants, in the tenant of the policy', async () => {
    const { auth, tenant } = await made(strategy, 'over')
    const a = await tenant('a')
    const client = a.browser()
    await client.post('/callback/credentials', { user: a.owner })
    expect(await client.session()).not.toBeNull()
    const { ended } = await auth.sso.setPolicy(a.system, a.organization, { domains: false, members: true })
    expect([ended, await client.session()]).toEqual([1, null])
    expect(pathOf(await client.post('/callback/credentials', { user: a.owner }))).toBe('/auth/sso/start')
  })

  it('opens a portal in its own tenant alone', async () => {
    const { auth, tenant } = await made(strategy)
    const [a, b] = [await tenant('a'), await tenant('b')]
    const { url } = await auth.portal.createLink({ ...a.system, base: a.base }, a.organization, { email: 'it@acme.example' })
    const [atA, atB] = [a.browser(), b.browser()]
    await atB.get(url.replace('a.example', 'b.example'))
    await atB.post('/portal/open')
    expect((await atB.get('/portal')).status).toBe(403)
    await atA.get(url)
    await atA.post('/portal/open')
    expect((await atA.get('/portal')).status).toBe(200)
    for (const [name, value] of atA.cookies) atB.cookies.set(name, value)
    expect((await atB.get('/portal')).status).toBe(403)
  })

  it('asks for the second factor after the company, also under a policy, and gives the session and the membership after it', async () => {
    const { auth, runtime, tenant, signIn } = await made(strategy)
    const a = await tenant('a')
    const first = a.browser()
    await signIn(a, first)
    const page = await html(await first.post('/two-factor/setup', { action: 'totp' }))
    const secret = /<code>([A-Z2-7 ]{32,})<\/code>/.exec(page)?.[1]?.replaceAll(' ', '') ?? ''
    const id = /name="id" value="([^"]+)"/.exec(page)?.[1] ?? ''
    await first.post('/two-factor/setup', { action: 'confirm', id, code: totpAt(secret, runtime.now()) })
    await auth.sso.setPolicy(a.system, a.organization, both)
    runtime.advance(60_000)
    const second = a.browser()
    const parked = await signIn(a, second)
    expect(pathOf(parked)).toBe('/auth/two-factor')
    expect(await second.session()).toBeNull()
    const flow = new URL(parked.headers.get('location') ?? '', 'http://none').searchParams.get('flow') ?? ''
    const done = await second.post('/two-factor', { code: totpAt(secret, runtime.now()), flow })
    expect(done.headers.get('location')).toContain('/in')
    expect((await second.session())?.user).toMatchObject({ email: 'amy@acme.example' })
    const { members } = await auth.organizations.members(a.system, a.organization)
    expect(members.filter(({ email }) => email === 'amy@acme.example')).toHaveLength(1)
  })

  it('ends the session of an exempt user with the exemption, and lets the user in by the company', async () => {
    const { auth, tenant, signIn } = await made(strategy)
    const a = await tenant('a')
    await auth.sso.setPolicy(a.system, a.organization, { ...both, exceptions: [a.owner] })
    const client = a.browser()
    await client.post('/callback/credentials', { user: a.owner })
    expect(await client.session()).not.toBeNull()
    await auth.sso.setPolicy(a.system, a.organization, both)
    expect(await client.session()).toBeNull()
    await signIn(a, client, { nameId: 'ada-1', attributes: { email: ['ada@acme.example'] } })
    expect((await client.session())?.user).toMatchObject({ email: 'ada@acme.example' })
  })

  it('gives no session to a second factor that waited when the policy began', async () => {
    const { auth, runtime, tenant } = await made(strategy)
    const a = await tenant('a')
    const first = a.browser()
    await first.post('/callback/credentials', { user: a.owner })
    const page = await html(await first.post('/two-factor/setup', { action: 'totp' }))
    const secret = /<code>([A-Z2-7 ]{32,})<\/code>/.exec(page)?.[1]?.replaceAll(' ', '') ?? ''
    const id = /name="id" value="([^"]+)"/.exec(page)?.[1] ?? ''
    await first.post('/two-factor/setup', { action: 'confirm', id, code: totpAt(secret, runtime.now()) })
    runtime.advance(60_000)
    const waiting = a.browser()
    const parked = await waiting.post('/callback/credentials', { user: a.owner })
    expect(pathOf(parked)).toBe('/auth/two-factor')
    await auth.sso.setPolicy(a.system, a.organization, both)
    const flow = new URL(parked.headers.get('location') ?? '', 'http://none').searchParams.get('flow') ?? ''
    await waiting.post('/two-factor', { code: totpAt(secret, runtime.now()), flow })
    expect([await waiting.session(), await first.session()]).toEqual([null, null])
  })

  it('steps up at the company, and nowhere else, under a policy', async () => {
    const { auth, runtime, tenant, signIn, answer, readRequest } = await made(strategy)
    const a = await tenant('a')
    await auth.sso.setPolicy(a.system, a.organization, both)
    const client = a.browser()
    await signIn(a, client)
    runtime.advance(1_200_000)
    const ask = () =>
      auth.stepUp.require(new Request('http://a.example/pay', { headers: { cookie: client.cookieHeader(), accept: 'text/html' } }))
    const led = (await ask()) as Response
    for (const line of led.headers.getSetCookie())
      client.cookies.set(line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1).split(';')[0]!)
    const { xml, request } = readRequest(led.headers.get('location'))
    expect(xml).toContain('ForceAuthn="true"')
    const { providerId } = a.connection
    const back = await post(client, answer(a, request), { provider: providerId })
    const sealed = /name="answer" value="([^"]+)"/.exec(await back.text())?.[1] ?? ''
    expect((await client.post(`/saml/${providerId}/continue`, { answer: sealed })).headers.get('location')).toContain('/pay')
    expect(await ask()).not.toBeInstanceOf(Response)
    // Switched off meanwhile: nothing is renewed by it any more.
    await auth.sso.removePolicy(a.system, a.organization)
    runtime.advance(1_200_000)
    await auth.sso.update(a.system, a.connection.id, { enabled: false })
    const again = (await ask()) as Response | null
    expect(again instanceof Response && (again.headers.get('location') ?? '').includes('idp.example')).toBe(false)
  })
})
