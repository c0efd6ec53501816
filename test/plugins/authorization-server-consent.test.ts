/** Consent of an organization's administrators, step-up per scope, and who never sees or answers the consent page. */
import { createAuth } from 'authkernel'
import type { Kernel } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { authorizationServerPlugin } from 'authkernel/plugins/authorization-server'
import { guestPlugin } from 'authkernel/plugins/guest'
import { impersonationPlugin } from 'authkernel/plugins/impersonation'
import { jwtPlugin } from 'authkernel/plugins/jwt'
import { mailPlugin } from 'authkernel/plugins/mail'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { organizationsPlugin } from 'authkernel/plugins/organizations'
import { describe, expect, it } from 'vitest'
import { baseConfig, Client } from '../_setup.ts'
import { api, issuer, redirect, secret, ticketOf } from './_authorization-server.ts'

async function start() {
  const base = baseConfig({
    providers: [
      { id: 'credentials', name: 'Password', type: 'credentials', authorize: ({ user }) => ({ id: String(user), name: String(user) }) },
    ],
    session: { strategy: 'database' },
  })
  const store = memoryAdapter()
  const dns = new Map<string, string>()
  for (const id of ['ada', 'bob', 'eve']) await store.createUser!({ id, email: `${id}@example.com`, name: id, emailVerified: new Date(0) })
  let kernel: Kernel | undefined
  const auth = createAuth(base)
    .use(adapterPlugin(store))
    .use(jwtPlugin())
    .use({ name: 'probe', setup: (given) => void (kernel = given) })
    .use(mailPlugin({ transport: { send: () => undefined } }))
    .use(organizationsPlugin({ domains: { isPublicSuffix: () => false, resolveTxt: async (name) => [[dns.get(name) ?? '']] } }))
    .use(impersonationPlugin({ can: () => true }))
    .use(guestPlugin())
    .use(
      authorizationServerPlugin({
        clients: [
          { client_id: 'partner', client_name: 'Partner', client_secret: secret, redirect_uris: [redirect] },
          { client_id: 'tool', client_name: 'Tool', redirect_uris: ['http://127.0.0.1/cb'] },
        ],
        resources: [{ resource: api, name: 'API', scopes: ['read', 'directory', 'pay', 'vault'] }],
        organizationConsent: { scopes: ['directory'] },
        registration: {},
        scopeProof: { pay: { maxAge: 60 }, vault: { level: 'mfa' } },
      }),
    )
  await auth.ready()
  const { id: organizationId } = await auth.organizations.create({ userId: 'ada' }, { name: 'Acme <b>' })
  const inside = async () => {
    const ctx = await kernel!.contextOf({ job: 'test' })
    return { ctx, organizations: ctx.service('organizations') }
  }
  const member = { organizationId, userId: 'bob' }
  const addBob = async () => {
    const { ctx, organizations } = await inside()
    await organizations.addMember(ctx, member)
  }
  const setRole = async (role: string) => {
    const { ctx, organizations } = await inside()
    await organizations.setRole(ctx, { ...member, role })
  }
  const removeBob = async () => {
    const { ctx, organizations } = await inside()
    await organizations.removeMember(ctx, member)
  }
  await addBob()
  const browser = async (user: string) => {
    const client = new Client(auth)
    await client.post('/callback/credentials', { user })
    return client
  }
  const ask = (scope: string, more: Record<string, string> = {}) =>
    `${issuer}/oauth2/authorize?${new URLSearchParams({
      response_type: 'code',
      client_id: 'partner',
      redirect_uri: redirect,
      scope,
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
      state: 's',
      ...more,
    }).toString()}`
  /** The error, `code`, `page`, or the path of another page. */
  const outcome = (response: Response, page = ''): string => {
    const to = response.headers.get('location')
    if (to === null) return ticketOf(page) === '' ? String(response.status) : 'page'
    const url = new URL(to, issuer)
    return url.searchParams.get('error') ?? (url.searchParams.has('code') ? 'code' : url.pathname)
  }
  const visit = async (client: Client, scope: string, more?: Record<string, string>) => {
    const response = await client.get(ask(scope, more))
    const page = await response.text()
    return { outcome: outcome(response, page), page, response }
  }
  const allow = async (client: Client, page: string, organization?: string) =>
    outcome(
      await client.post('/oauth2/consent', {
        ticket: ticketOf(page),
        decision: 'allow',
        ...(organization !== undefined && { organization }),
      }),
    )
  const redeem = async (client: Client, scope: string) => {
    const { response } = await visit(client, scope)
    const code = new URL(response.headers.get('location')!).searchParams.get('code')!
    const body = new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirect,
      code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
    })
    const headers = { authorization: `Basic ${btoa(`partner:${secret}`)}` }
    const tokens = await auth.handler(new Request(`${issuer}/oauth2/token`, { method: 'POST', body, headers }))
    return ((await tokens.json()) as { access_token: string }).access_token
  }
  const call = async (token: string) =>
    (await auth.authorizationServer.authorize(new Request(api, { headers: { authorization: `Bearer ${token}` } }), { resource: api }))
      .response?.status ?? 200
  const proveDomain = async (domain: string) => {
    const { ctx, organizations } = await inside()
    const claim = await organizations.claimDomain(ctx, { organizationId, domain })
    dns.set(claim.record, claim.text)
    await organizations.proveDomain(ctx, { organizationId, domain })
  }
  return {
    auth,
    proveDomain,
    setRole,
    removeBob,
    browser,
    visit,
    allow,
    redeem,
    call,
    organizationId,
    ask,
    runtime: base.runtime,
    log: base.logger,
  }
}

describe('consent of an organization', () => {
  it('lets an administrator allow an app for all members, who are not asked then, and see it on the account page', async () => {
    const { browser, visit, allow, organizationId, auth, log } = await start()
    const [ada, bob, eve] = [await browser('ada'), await browser('bob'), await browser('eve')]
    expect((await visit(bob, 'directory')).outcome).toBe('access_denied')
    const { page } = await visit(ada, 'directory')
    expect(page).toContain('All members of Acme &lt;b&gt;')
    expect(await allow(ada, page)).toBe('403')
    expect(await allow(ada, (await visit(ada, 'directory')).page, organizationId)).toBe('code')
    expect(await auth.authorizationServer.organizations.list(organizationId)).toMatchObject([
      { clientId: 'partner', scopes: ['directory'], by: 'ada' },
    ])
    expect((await visit(bob, 'directory')).outcome).toBe('code')
    expect(await (await bob.get('/account')).text()).toContain('Partner')
    // No more than was allowed, and no user of another organization.
    expect((await visit(bob, 'directory read')).outcome).toBe('page')
    expect((await visit(eve, 'directory')).outcome).toBe('access_denied')
    expect(log.errors).toEqual([])
  })

  it('is given by administrators of this moment alone', async () => {
    const { browser, visit, allow, organizationId, auth, setRole } = await start()
    const bob = await browser('bob')
    const { page } = await visit(bob, 'read')
    expect(page).not.toContain('All members')
    expect(await allow(bob, page, organizationId)).toBe('403')
    await setRole('admin')
    const asAdmin = (await visit(bob, 'read')).page
    expect(asAdmin).toContain('All members')
    await setRole('member')
    expect(await allow(bob, asAdmin, organizationId)).toBe('403')
    expect(await auth.authorizationServer.organizations.list(organizationId)).toEqual([])
    // Another program can pretend to be this one.
    const ada = await browser('ada')
    const imitable = { client_id: 'tool', redirect_uri: 'http://127.0.0.1:5000/cb' }
    const tool = (await visit(ada, 'read', imitable)).page
    expect(tool).not.toContain('All members')
    expect(await allow(ada, tool, organizationId)).toBe('403')
  })

  it('ends with the membership, and when an administrator takes it back; what a member allowed stays', async () => {
    const { browser, visit, allow, redeem, call, organizationId, removeBob } = await start()
    const [ada, bob] = [await browser('ada'), await browser('bob')]
    await allow(ada, (await visit(ada, 'directory')).page, organizationId)
    const first = await redeem(bob, 'directory')
    await allow(bob, (await visit(bob, 'read')).page)
    const own = await redeem(bob, 'read')
    expect([await call(first), await call(own)]).toEqual([200, 200])
    await bob.post('/account/connected-apps', { client: 'partner', organization: organizationId })
    expect(await call(first)).toBe(200)
    await ada.post('/account/connected-apps', { client: 'partner', organization: organizationId })
    expect([await call(first), await call(own)]).toEqual([401, 200])
    expect((await visit(bob, 'directory')).outcome).toBe('access_denied')
    await allow(ada, (await visit(ada, 'directory', { prompt: 'consent' })).page, organizationId)
    const second = await redeem(bob, 'directory')
    await removeBob()
    expect([await call(second), await call(own)]).toEqual([401, 200])
    expect((await visit(bob, 'directory')).outcome).toBe('access_denied')
  })
})

it('the consent of an organization ends with the organization, and takes with it what rested on it alone', async () => {
  const { browser, visit, allow, redeem, call, organizationId, auth } = await start()
  const [ada, bob] = [await browser('ada'), await browser('bob')]
  await allow(ada, (await visit(ada, 'directory')).page, organizationId)
  const theirs = await redeem(bob, 'directory')
  await allow(bob, (await visit(bob, 'read')).page)
  const own = await redeem(bob, 'read')
  expect([await call(theirs), await call(own)]).toEqual([200, 200])
  await auth.organizations.delete({ userId: 'ada' }, organizationId)
  expect([await call(theirs), await call(own)]).toEqual([401, 200])
  expect(await auth.authorizationServer.organizations.list(organizationId)).toEqual([])
})

describe('a client that the host has not checked, allowed for all members', () => {
  async function register(host: Awaited<ReturnType<typeof start>>) {
    const send = async (method: string, url: string, body: object, token = '') => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
      return (await (await host.auth.handler(new Request(url, { method, headers, body: JSON.stringify(body) }))).json()) as Record<
        string,
        string
      >
    }
    const first = { client_name: 'Notes', redirect_uris: [redirect], token_endpoint_auth_method: 'none' }
    const made = await send('POST', `${issuer}/oauth2/register`, first)
    const id = made['client_id']!
    const change = (more: object) =>
      send('PUT', made['registration_client_uri']!, { client_id: id, ...first, ...more }, made['registration_access_token'])
    return { id, change, more: { client_id: id } }
  }

  it('asks each member all the same: any visitor can make an organization, a client, and invite others', async () => {
    const host = await start()
    const { more } = await register(host)
    const [ada, bob] = [await host.browser('ada'), await host.browser('bob')]
    expect(await host.allow(ada, (await host.visit(ada, 'read', more)).page, host.organizationId)).toBe('code')
    expect((await host.visit(bob, 'read', more)).outcome).toBe('page')
    // Nor does it get what only an administrator can allow.
    expect(await host.allow(ada, (await host.visit(ada, 'directory', more)).page, host.organizationId)).toBe('code')
    expect((await host.visit(bob, 'directory', more)).outcome).toBe('access_denied')
  })

  it('asks no member whose verified email is of a domain of the organization, until it changes its name or addresses', async () => {
    const host = await start()
    const { more, change } = await register(host)
    await host.proveDomain('example.com')
    const [ada, bob] = [await host.browser('ada'), await host.browser('bob')]
    expect(await host.allow(ada, (await host.visit(ada, 'read', more)).page, host.organizationId)).toBe('code')
    expect((await host.visit(bob, 'read', more)).outcome).toBe('code')
    await change({ client_name: 'Bank' })
    expect((await host.visit(bob, 'read', more)).outcome).toBe('page')
    expect(await host.auth.authorizationServer.organizations.list(host.organizationId)).toEqual([])
  })
})

describe('a scope that needs a proof', () => {
  it('leads to a fresh sign-in, and back once; without a second factor the client learns it', async () => {
    const { browser, visit, runtime, allow } = await start()
    const ada = await browser('ada')
    const fresh = await visit(ada, 'pay')
    expect([fresh.outcome, await allow(ada, fresh.page)]).toEqual(['page', 'code'])
    runtime.advance(61_000)
    expect((await visit(ada, 'pay', { prompt: 'none' })).outcome).toBe('login_required')
    const away = await visit(ada, 'pay')
    expect(away.outcome).toBe('/auth/signin')
    const back = new URL(away.response.headers.get('location')!, issuer).searchParams.get('callbackUrl')!
    // Back without a new proof: not asked for ever, and no code.
    expect(new URL((await ada.get(back)).headers.get('location')!).searchParams.get('error')).toBe('unmet_authentication_requirements')
    await ada.post('/callback/credentials', { user: 'ada' })
    expect(new URL((await ada.get(back)).headers.get('location')!).searchParams.has('code')).toBe(true)
    expect((await visit(ada, 'vault')).outcome).toBe('/auth/signin')
    expect((await visit(ada, 'read')).outcome).toBe('page')
  })
})

describe('the consent page', () => {
  it('is never in a frame, and says nothing that was sent as markup', async () => {
    const { browser, visit } = await start()
    const { response, page } = await visit(await browser('ada'), 'read', { state: '<script>' })
    expect(response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(page).not.toContain('<script>s')
  })

  it('is not for an acting administrator, a guest or a visitor, and its answer is for the user who read it, once', async () => {
    const { browser, visit, allow, auth, ask } = await start()
    const eve = await browser('eve')
    const { page } = await visit(eve, 'read')
    const ada = await browser('ada')
    expect(await allow(ada, page)).toBe('400')
    const answers = await Promise.all(Array.from({ length: 10 }, () => allow(eve, page)))
    expect(answers.filter((one) => one === 'code')).toHaveLength(1)
    await eve.post('/impersonation/start', { userId: 'bob', reason: 'support' })
    if (((await eve.session())?.user as { id?: string })?.id === 'bob') expect((await visit(eve, 'read')).outcome).toBe('access_denied')
    const guest = new Client(auth)
    await guest.post('/guest')
    expect(ticketOf(await (await guest.get(ask('read'))).text())).toBe('')
    expect(ticketOf(await (await new Client(auth).get(ask('read'))).text())).toBe('')
  })
})

it.each([
  [{ scopeProof: { pay: { maxAge: 5 } } }, 'must be at least 30'],
  [{ scopeProof: { pay: { level: 'x' } } }, 'must be "mfa"'],
  [{ organizationConsent: { role: ['x'] } }, 'organizationConsent'],
])('the option %j is refused', (options, text) => {
  expect(() => authorizationServerPlugin(options as never /* wrong on purpose */)).toThrow(text)
})
