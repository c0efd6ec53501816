/** Companies move: connections of `@better-auth/sso`, directories of `@better-auth/scim` and clients of `@better-auth/oauth-provider` go on, with the real packages on both sides. */
import { inflateRawSync } from 'node:zlib'
import { createAuth } from 'authkernel'
import type { AdapterAccount } from 'authkernel/kernel'
import { createPublicFetch } from 'authkernel/kernel/protocols'
import { adminPlugin } from 'authkernel/plugins/admin'
import { authorizationServerPlugin } from 'authkernel/plugins/authorization-server'
import { betterAuthCompatPlugin, betterAuthNames } from 'authkernel/plugins/better-auth-compat'
import { jwtPlugin } from 'authkernel/plugins/jwt'
import { mailPlugin } from 'authkernel/plugins/mail'
import { organizationsPlugin } from 'authkernel/plugins/organizations'
import { betterAuthHash, passwordsPlugin } from 'authkernel/plugins/passwords'
import { samlPlugin } from 'authkernel/plugins/saml'
import { scimPlugin } from 'authkernel/plugins/scim'
import { sqlAdapter } from 'authkernel/plugins/sql'
import { ssoPlugin } from 'authkernel/plugins/sso'
import { type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { stores } from './_stores.ts'
import { Client, locationOf } from '../_client.ts'
import { companyIdp, type CompanyIdp, fetchByName, makeCertificate } from '../plugins/_sso.ts'
import { idpEntity, idpKeys, sign, writeResponse } from '../saml/_idp.ts'
import { type FormerApp, startFormerApp } from './_former-app.ts'

type Call = (input: object) => Promise<Record<string, unknown>>
interface App {
  handler(request: Request): Promise<Response>
  api: Record<'createSCIMManagedConnection' | 'adminCreateOAuthClient', Call>
}
interface Answer {
  status: number
  // oxlint-disable-next-line no-explicit-any -- the answers of a protocol that tests look into
  body: any
}

const origin = 'http://localhost:3000'
const base = `${origin}/api/auth`
const secret = 'a secret that both apps have, of 44 letters..'
const password = 'seven purple otters sing'
// SCIM of 1.6 opens a transaction in a transaction, which one connection never answers.
const versions: readonly (readonly ['1.6' | '1.7', (typeof stores)[number]])[] = [
  ...stores.map((store) => ['1.7', store] as const),
  ...stores.filter((store) => store !== 'libsql').map((store) => ['1.6', store] as const),
]
const quiet = { error: () => {}, warn: () => {}, debug: () => {} }
const accept = ['oauth-tokens']
const verifier = 'a-verifier-that-has-at-least-forty-three-letters'
const challenge = 'a34xAUci3aKuxR6yvBbklBjNdSd6BHqVm1D8yx5GtN8'

describe.each(versions)('companies of better-auth %s, on %s', (line, store) => {
  const tls = makeCertificate()
  let idp: CompanyIdp
  let former: FormerApp<App> | undefined
  let before: App
  let db: Kysely<object>
  let after: ReturnType<typeof startAfter>
  let ann: Client
  let organizationId = ''
  let scimToken = ''
  let dora = ''
  const scimIds = {} as Record<'erin' | 'fred', string>
  let group = ''
  let partner = { id: '', secret: '' }

  const startAfter = () => {
    const adapter = sqlAdapter(db, { names: betterAuthNames() })
    const auth = createAuth({ adapter, secret, origin, basePath: '/api/auth', env: false, logger: quiet })
      .use({
        name: 'network',
        setup: (kernel) =>
          kernel.provide('publicFetch', createPublicFetch({ allow: ['127.0.0.1'], ca: tls.cert, lookup: () => ['127.0.0.1'] })),
      })
      .use(betterAuthCompatPlugin({ db, scimSecret: secret }))
      .use(passwordsPlugin({ verify: [betterAuthHash()], breached: false }))
      .use(adminPlugin({ can: () => false }))
      .use(organizationsPlugin({ domains: { isPublicSuffix: () => false, resolveTxt: () => Promise.resolve([]) } }))
      .use(samlPlugin())
      .use(ssoPlugin())
      .use(scimPlugin())
      .use(jwtPlugin())
      .use(authorizationServerPlugin())
      .use(mailPlugin({ transport: { send: () => {} } }))
    return { auth, adapter, handler: (request: Request) => auth.handler(request) }
  }
  const browser = (app: { handler(request: Request): Promise<Response> }, other?: Client): Client => {
    const fresh = new Client({ handler: (request) => app.handler(request) }, { origin, basePath: '/api/auth' })
    for (const [name, value] of other?.cookies ?? []) fresh.cookies.set(name, value)
    return fresh
  }
  const json = (who: Client, path: string, fields: object): Promise<Response> =>
    who.request('POST', path, { body: JSON.stringify(fields), headers: { 'content-type': 'application/json', origin } })
  const ask = async (who: Client, path: string, fields: object): Promise<Record<string, unknown>> => {
    const response = await json(who, path, fields)
    const text = await response.text()
    expect(response.ok, `${path}: ${text}`).toBe(true)
    return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
  }
  const idOf = async (who: Client): Promise<string | undefined> => ((await who.session())?.user as { id?: string } | undefined)?.id
  const idBefore = async (who: Client): Promise<string | undefined> =>
    ((await (await who.get('/get-session')).json()) as { user?: { id?: string } } | null)?.user?.id
  const scim = async (
    app: { handler(request: Request): Promise<Response> },
    method: string,
    path: string,
    body?: object,
    token = scimToken,
  ) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' }
    const response = await app.handler(
      new Request(`${base}/scim/v2${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) }),
    )
    const text = await response.text()
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) } as Answer
  }
  /** From better-auth through the company's provider and back. */
  const enterBefore = async (): Promise<Client> => {
    const who = browser(before)
    const { url } = await ask(who, '/sign-in/sso', { providerId: 'acme-oidc', callbackURL: '/' })
    await who.get(await idp.visit(String(url), { login: 'dora' }))
    return who
  }
  const authorizeUrl = (id: string): string =>
    `/oauth2/authorize?${new URLSearchParams({
      client_id: id,
      redirect_uri: 'https://partner.example/back',
      response_type: 'code',
      scope: 'openid email',
      state: 'of the partner',
      code_challenge: challenge,
      code_challenge_method: 'S256',
    })}`
  const redeem = (app: { handler(request: Request): Promise<Response> }, code: string, clientSecret = partner.secret): Promise<Response> =>
    app.handler(
      new Request(`${base}/oauth2/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa(`${partner.id}:${clientSecret}`)}`, 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({
          grant_type: 'authorization_code',
          code,
          redirect_uri: 'https://partner.example/back',
          code_verifier: verifier,
        }),
      }),
    )

  beforeAll(async () => {
    idp = await companyIdp(tls, { dora: { email: 'dora@acme.example', email_verified: true, name: 'Dora' } })
    idp.redirects.push(`${base}/sso/callback/acme-oidc`)
    const byName = fetchByName(tls.cert)
    const real = globalThis.fetch
    // better-auth reads the discovery document by the fetch of the process.
    vi.stubGlobal('fetch', (input: string | URL | Request, init?: RequestInit) =>
      new URL(input instanceof Request ? input.url : input).hostname === 'idp.example' ? byName(input, init) : real(input, init),
    )
    former = await startFormerApp<App>({
      name: 'better-auth-more',
      line,
      store,
      setting: { origin, secret, texts: [], line, trustedOrigins: [idp.issuer] },
    })
    before = former.app
    db = former.db
    ann = browser(before)
    await ask(ann, '/sign-up/email', { name: 'ann', email: 'ann@acme.example', password })
    await sql`update "user" set "emailVerified" = ${store === 'libsql' ? 1 : true}`.execute(db)
    organizationId = String((await ask(ann, '/organization/create', { name: 'Acme', slug: 'acme' }))['id'])
    await addConnections()
    dora = (await idBefore(await enterBefore()))!
    expect(dora).toBeTruthy()
    await addDirectory()
    await addPartner()
    after = startAfter()
    await after.auth.ready().catch(() => {})
    await after.adapter.migrate({ apply: true })
    await after.auth.ready()
  }, 120_000)
  afterAll(async () => {
    vi.unstubAllGlobals()
    await after?.auth.close()
    await former?.close()
    await idp?.stop()
  })

  async function addConnections(): Promise<void> {
    await ask(ann, '/sso/register', {
      providerId: 'acme-oidc',
      issuer: idp.issuer,
      domain: 'acme.example',
      organizationId,
      oidcConfig: { clientId: 'app', clientSecret: 'the-secret-of-the-client', scopes: ['openid', 'email', 'profile'] },
    })
    await ask(ann, '/sso/register', {
      providerId: 'acme-saml',
      issuer: 'https://app.example/sp',
      domain: 'acme.example',
      organizationId,
      samlConfig: {
        entryPoint: 'https://idp.example/sso',
        cert: idpKeys.certificate,
        callbackUrl: line === '1.6' ? `${base}/sso/saml2/callback/acme-saml` : '/',
        idpMetadata: { entityID: idpEntity },
        spMetadata: { entityID: 'https://app.example/sp' },
      },
    })
  }
  async function addDirectory(): Promise<void> {
    if (line === '1.6')
      scimToken = String((await ask(ann, '/scim/generate-token', { providerId: 'acme-directory', organizationId }))['scimToken'])
    else {
      const made = await before.api.createSCIMManagedConnection({
        body: {
          creationRequestId: 'the only one there is',
          provisioningDomainId: organizationId,
          actorId: 'ann',
          scopes: ['scim.users.read', 'scim.users.write', 'scim.groups.read', 'scim.groups.write'],
          expiresAt: new Date(Date.now() + 86_400_000),
        },
      })
      scimToken = JSON.stringify(made).match(/ba_scim_credential_[\w-]+\.[\w-]+/)![0]
    }
    for (const name of ['erin', 'fred'] as const) {
      const user = {
        schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
        userName: `${name}@acme.example`,
        externalId: `ext-${name}`,
        name: { formatted: name },
        emails: [{ value: `${name}@acme.example`, primary: true }],
        ...(line === '1.7' && { active: name === 'erin' }),
      }
      const { status, body } = await scim(before, 'POST', '/Users', user)
      expect(status, JSON.stringify(body)).toBe(201)
      scimIds[name] = String(body.id)
    }
    if (line === '1.6') return
    const staff = { schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'], displayName: 'Staff', members: [{ value: scimIds.erin }] }
    group = String((await scim(before, 'POST', '/Groups', staff)).body.id)
  }
  async function addPartner(): Promise<void> {
    const client = await before.api.adminCreateOAuthClient({
      headers: new Headers({ cookie: [...ann.cookies].map(([name, value]) => `${name}=${value}`).join('; ') }),
      body: { client_name: 'Partner', redirect_uris: ['https://partner.example/back'], scope: 'openid email' },
    })
    partner = { id: String(client['client_id']), secret: String(client['client_secret']) }
    const asked = await ann.get(authorizeUrl(partner.id))
    const { search } = new URL(locationOf(asked), origin)
    await ask(ann, '/oauth2/consent', { accept: true, oauth_query: search.slice(1) })
  }
  const signInBySaml = async (nameId: string, email: string): Promise<{ who: Client; xml: string; answer: Response }> => {
    const who = browser(after)
    const started = await who.post('/signin/acme-saml', { csrfToken: await who.csrfToken(), callbackUrl: '/' })
    const sent = new URL(started.headers.get('location') ?? 'about:blank').searchParams.get('SAMLRequest') ?? ''
    const xml = inflateRawSync(Buffer.from(sent, 'base64')).toString()
    const acs = /AssertionConsumerServiceURL="([^"]+)"/.exec(xml)?.[1] ?? ''
    const signed = sign(
      writeResponse({
        now: Date.now(),
        request: /\bID="([^"]+)"/.exec(xml)?.[1],
        destination: acs,
        recipient: acs,
        audience: 'https://app.example/sp',
        nameId,
        attributes: { email: [email] },
      }),
    )
    const post = (path: string) =>
      who.request('POST', path, {
        body: new URLSearchParams({ SAMLResponse: Buffer.from(signed).toString('base64') }),
        headers: { origin: 'https://idp.example', 'sec-fetch-site': 'cross-site' },
      })
    const handed = await post(acs.slice(base.length))
    expect(handed.status).toBe(307)
    const answer = await post(locationOf(handed).slice(base.length))
    return { who, xml, answer }
  }

  it('everything is found by a dry run, and taken', async () => {
    const dry = await after.auth.betterAuth.takeOver({ accept })
    expect(dry.refused).toEqual([])
    const wanted = {
      'sso-providers': 2,
      'scim-directories': 1,
      'scim-tokens': 1,
      'scim-users': 2,
      ...(line === '1.7' && { 'scim-groups': 1, 'scim-members': 1 }),
      'oauth-clients': 1,
      'oauth-consents': 1,
    }
    const counts = Object.fromEntries(Object.keys(wanted).map((kind) => [kind, dry.kinds[kind]?.found]))
    expect(counts).toEqual(wanted)
    expect(dry.problems.find(({ name }) => name === 'sso-addresses')?.message).toContain('acme-oidc: /sso/callback/acme-oidc')
    expect(dry.problems.find(({ name }) => name === 'sso-domains')).toMatchObject({ level: 'note', count: 2 })
    const report = await after.auth.betterAuth.takeOver({ apply: true, accept })
    expect(report).toMatchObject({ applied: true, refused: [] })
    expect(Object.fromEntries(Object.keys(wanted).map((kind) => [kind, report.kinds[kind]?.new]))).toEqual(wanted)
    expect(report.problems.filter(({ name }) => name.endsWith('-counts'))).toEqual([])
    const again = await after.auth.betterAuth.takeOver({ apply: true, accept })
    expect(Object.fromEntries(Object.keys(wanted).map((kind) => [kind, again.kinds[kind]?.unchanged]))).toEqual(wanted)
    expect(await after.auth.betterAuth.compare()).toEqual(
      expect.arrayContaining([
        { kind: 'sso-providers', there: 2, taken: 2 },
        { kind: 'scim-tokens', there: 1, taken: 1 },
      ]),
    )
  })

  it('a user of the company signs in with the same account, by the redirect URI that the company knows', async () => {
    const who = browser(after)
    const started = await who.post('/signin/acme-oidc', { csrfToken: await who.csrfToken(), callbackUrl: '/' })
    const asked = new URL(locationOf(started))
    expect(asked.searchParams.get('redirect_uri')).toBe(`${base}/sso/callback/acme-oidc`)
    const back = await who.get(await idp.visit(asked.href, { login: 'dora' }))
    const next = new URL(locationOf(back))
    expect(next.pathname).toBe('/api/auth/callback/acme-oidc')
    await who.get(next.href)
    expect(await idOf(who)).toBe(dora)
    // And back: better-auth knows the session, and signs the same user in.
    expect(await idBefore(browser(before, who))).toBe(dora)
    expect(await idBefore(await enterBefore())).toBe(dora)
  })

  it('SAML goes on with the entity id and the consumer service that the company knows', async () => {
    const { who, xml } = await signInBySaml('gina-1', 'gina@acme.example')
    expect(xml).toContain('<saml:Issuer')
    expect(xml).toContain('https://app.example/sp')
    expect(xml).toContain(`AssertionConsumerServiceURL="${base}/sso/saml2/${line === '1.6' ? 'callback' : 'sp/acs'}/acme-saml"`)
    const gina = await idOf(who)
    expect(gina).toBeTruthy()
    // The address of a user in a domain that was not proved is not verified.
    const stored = await sql<{ emailVerified: unknown }>`select "emailVerified" from "user" where id = ${gina}`.execute(db)
    expect(Boolean(Number(stored.rows[0]!.emailVerified))).toBe(false)
    const rows = await sql<{ accountId: string }>`select "accountId" from account where "providerId" = 'acme-saml'`.execute(db)
    expect(rows.rows).toEqual([{ accountId: 'gina-1' }])
  })

  it('a connection takes over no user who has the address', async () => {
    const { who } = await signInBySaml('mallory-1', 'ann@acme.example')
    expect(await idOf(who)).toBeUndefined()
    const rows = await sql<AdapterAccount>`select * from account where "accountId" = 'mallory-1'`.execute(db)
    expect(rows.rows).toEqual([])
  })

  it('the directory goes on with its token, and finds its users under their ids', async () => {
    for (let use = 0; use < 2; use++) {
      const { status, body } = await scim(after, 'GET', `/Users?filter=${encodeURIComponent('userName eq "erin@acme.example"')}`)
      expect(status, JSON.stringify(body)).toBe(200)
      expect(body.Resources).toMatchObject([{ id: scimIds.erin, externalId: 'ext-erin', active: true }])
    }
    expect((await scim(after, 'GET', `/Users/${scimIds.fred}`)).body).toMatchObject({
      userName: 'fred@acme.example',
      active: line === '1.6',
    })
    if (line === '1.7')
      expect((await scim(after, 'GET', `/Groups/${group}`)).body).toMatchObject({
        displayName: 'Staff',
        members: [{ value: scimIds.erin }],
      })
    const wrong = scimToken.slice(0, -3) + (scimToken.endsWith('AAA') ? 'BBB' : 'AAA')
    for (const other of [wrong, 'ba_scim_credential_x.y', btoa('a'.repeat(24) + ':acme-directory')])
      expect((await scim(after, 'GET', '/Users', undefined, other)).status).toBe(401)
    const off = {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [{ op: 'replace', path: 'active', value: false }],
    }
    expect((await scim(after, 'PATCH', `/Users/${scimIds.erin}`, off)).body).toMatchObject({ active: false })
    const { kinds } = await after.auth.betterAuth.takeOver({ apply: true, accept })
    expect(kinds['scim-users']).toMatchObject({ kept: 1, unchanged: 1, conflict: 0 })
    expect((await scim(after, 'GET', `/Users/${scimIds.erin}`)).body).toMatchObject({ active: false })
  })

  it('the partner goes on with its id and secret, and the user is not asked again', async () => {
    const who = browser(after, ann)
    expect(await idOf(who)).toBeTruthy()
    const answer = await who.get(authorizeUrl(partner.id))
    const back = new URL(locationOf(answer))
    expect(back.href).toMatch(/^https:\/\/partner\.example\/back\?code=/)
    const code = back.searchParams.get('code')!
    expect((await redeem(after, code, 'x'.repeat(32))).status).toBe(401)
    const fresh = new URL(locationOf(await who.get(authorizeUrl(partner.id)))).searchParams.get('code')!
    const tokens = (await (await redeem(after, fresh)).json()) as { id_token: string }
    const claims = JSON.parse(atob(tokens.id_token.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/'))) as Record<string, unknown>
    expect(claims).toMatchObject({ aud: partner.id, sub: await idOf(who), email: 'ann@acme.example' })
  })

  it('what is removed or switched off there is removed here', async () => {
    await sql`delete from "ssoProvider" where "providerId" = 'acme-saml'`.execute(db)
    await sql`update "oauthClient" set disabled = ${store === 'libsql' ? 1 : true}`.execute(db)
    if (line === '1.6') await sql`delete from "scimProvider"`.execute(db)
    else await sql`update "scimManagedCredential" set status = 'revoked'`.execute(db)
    const { kinds } = await after.auth.betterAuth.takeOver({ apply: true, accept: ['all'] })
    // The tokens of a directory go with it.
    const gone = line === '1.6' ? kinds['scim-directories'] : kinds['scim-tokens']
    expect([kinds['sso-providers']?.removed, gone?.removed, kinds['oauth-clients']?.removed]).toEqual([1, 1, 1])
    expect((await scim(after, 'GET', '/Users')).status).toBe(401)
    const who = browser(after, ann)
    const answer = await who.get(authorizeUrl(partner.id))
    expect(answer.headers.get('location') ?? '').not.toContain('code=')
    const started = await who.post('/signin/acme-saml', { csrfToken: await who.csrfToken() })
    expect(started.headers.get('location') ?? '').not.toContain('SAMLRequest')
  })
})
