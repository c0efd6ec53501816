/** The rows of the guide's table that are not simply taken over: what better-auth 1.6.34 and 1.7.25 have of them, and what becomes of each. The packages are the real ones. */
import { createAuth } from 'authkernel'
import { betterAuthCompatPlugin, betterAuthNames } from 'authkernel/plugins/better-auth-compat'
import { mailPlugin } from 'authkernel/plugins/mail'
import { multiSessionPlugin } from 'authkernel/plugins/multi-session'
import { organizationsPlugin } from 'authkernel/plugins/organizations'
import { betterAuthHash, passwordsPlugin } from 'authkernel/plugins/passwords'
import { phonePlugin } from 'authkernel/plugins/phone'
import { sqlAdapter } from 'authkernel/plugins/sql'
import { twoFactorPlugin } from 'authkernel/plugins/two-factor'
import { type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stores } from './_stores.ts'
import { Client, locationOf } from '../_client.ts'
import { totpAt } from '../_totp.ts'
import { type FormerApp, startFormerApp } from './_former-app.ts'

type Call = (input: object) => Promise<Record<string, unknown>>
interface App {
  handler(request: Request): Promise<Response>
  api: Record<'createSCIMManagedConnection' | 'adminCreateOAuthClient', Call>
}

const origin = 'http://localhost:3000'
const secret = 'a secret that both apps have, of 44 letters..'
const passwords = { ann: 'seven purple otters sing', bob: 'eight green lizards walk', cleo: 'nine yellow llamas dance' }
type Name = keyof typeof passwords
const versions = [...stores.map((store) => ['1.7', '1.7.25', store] as const), ['1.6', '1.6.34', 'libsql'] as const]
const quiet = { error: () => {}, warn: () => {}, debug: () => {} }
/** Names of problems that this app has, in the order of the report. */
const lost = ['sso-providers', 'scim-directories', 'scim-tokens', 'oauth-clients', 'oauth-consents', 'wallets']

describe.each(versions)('what better-auth %s (%s) has beside users, on %s', (line, version, store) => {
  const texts: { phoneNumber: string; code: string }[] = []
  const sent: string[] = []
  const ids = {} as Record<Name, string>
  const browsers = {} as Record<Name, Client>
  let former: FormerApp<App> | undefined
  let before: App
  let db: Kysely<object>
  let after: ReturnType<typeof startAfter>
  let guest: Client
  let family: Client
  let totpSecret = ''
  let organizationId = ''
  let teamId = ''

  const startAfter = () => {
    const adapter = sqlAdapter(db, { names: betterAuthNames() })
    const auth = createAuth({ adapter, secret, origin, basePath: '/api/auth', env: false, logger: quiet })
      .use(betterAuthCompatPlugin({ db }))
      .use(passwordsPlugin({ verify: [betterAuthHash()], breached: false }))
      .use(twoFactorPlugin({ trustedDevices: { days: 30 } }))
      .use(multiSessionPlugin())
      .use(organizationsPlugin())
      .use(phonePlugin({ send: ({ code }) => void sent.push(String(code)) }))
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
    return JSON.parse(text) as Record<string, unknown>
  }
  const signIn = (who: Client, name: Name) => json(who, '/sign-in/email', { email: `${name}@example.com`, password: passwords[name] })
  const idOf = async (who: Client): Promise<string | undefined> => ((await who.session())?.user as { id?: string } | undefined)?.id
  const idBefore = async (who: Client): Promise<string | undefined> =>
    ((await (await who.get('/get-session')).json()) as { user?: { id?: string } } | null)?.user?.id

  beforeAll(async () => {
    former = await startFormerApp<App>({ name: 'better-auth-more', line, version, store, setting: { origin, secret, texts, line } })
    before = former.app
    db = former.db
    for (const name of ['ann', 'bob', 'cleo'] as const) {
      browsers[name] = browser(before)
      const fields = { name, email: `${name}@example.com`, password: passwords[name] }
      ids[name] = ((await ask(browsers[name], '/sign-up/email', fields))['user'] as { id: string }).id
    }
    await sql`update "user" set "emailVerified" = ${store === 'libsql' ? 1 : true}`.execute(db)
    await addFactor()
    await addNumber()
    await addTeam()
    await addForeign()
    // Two accounts in one browser: bob's is in use.
    family = browser(before)
    for (const name of ['ann', 'bob'] as const) expect((await signIn(family, name)).status).toBe(200)
    guest = browser(before)
    await ask(guest, '/sign-in/anonymous', {})
    after = startAfter()
    await after.auth.ready().catch(() => {})
    await after.adapter.migrate({ apply: true })
  }, 120_000)
  afterAll(async () => {
    await after?.auth.close()
    await former?.close()
  })

  /** With a browser that better-auth asks for no code any more. */
  async function addFactor(): Promise<void> {
    const { totpURI } = await ask(browsers.cleo, '/two-factor/enable', { password: passwords.cleo })
    totpSecret = new URL(String(totpURI)).searchParams.get('secret') ?? ''
    await ask(browsers.cleo, '/two-factor/verify-totp', { code: totpAt(totpSecret, Date.now()) })
    browsers.cleo = browser(before)
    expect(await (await signIn(browsers.cleo, 'cleo')).json()).toMatchObject({ twoFactorRedirect: true })
    await ask(browsers.cleo, '/two-factor/verify-totp', { code: totpAt(totpSecret, Date.now()), trustDevice: true })
    await ask(browsers.cleo, '/sign-out', {})
    const trusted = browser(before, browsers.cleo)
    expect(await (await signIn(trusted, 'cleo')).json()).toMatchObject({ user: { id: ids.cleo } })
  }
  async function addNumber(): Promise<void> {
    const phoneNumber = '+4915123456789'
    await ask(browsers.bob, '/phone-number/send-otp', { phoneNumber })
    await ask(browsers.bob, '/phone-number/verify', { phoneNumber, code: texts[0]!.code, updatePhoneNumber: true })
  }
  async function addTeam(): Promise<void> {
    organizationId = String((await ask(browsers.ann, '/organization/create', { name: 'Acme', slug: 'acme' }))['id'])
    teamId = String((await ask(browsers.ann, '/organization/create-team', { name: 'Builders', organizationId }))['id'])
    await ask(browsers.ann, '/organization/add-team-member', { teamId, userId: ids.ann })
  }
  async function addForeign(): Promise<void> {
    const endpoints = {
      authorizationEndpoint: 'https://idp.example/a',
      tokenEndpoint: 'https://idp.example/t',
      jwksEndpoint: 'https://idp.example/j',
    }
    await ask(browsers.ann, '/sso/register', {
      providerId: 'idp',
      issuer: 'https://idp.example',
      domain: 'example.com',
      oidcConfig: { clientId: 'app', clientSecret: 'of the idp', skipDiscovery: true, ...endpoints },
    })
    if (line === '1.6') await ask(browsers.ann, '/scim/generate-token', { providerId: 'directory', organizationId })
    else
      await before.api.createSCIMManagedConnection({
        body: {
          creationRequestId: 'the only one there is',
          provisioningDomainId: organizationId,
          actorId: ids.ann,
          scopes: ['scim.users.read'],
          expiresAt: new Date(Date.now() + 86_400_000),
        },
      })
    const client = await before.api.adminCreateOAuthClient({
      headers: new Headers({ cookie: [...browsers.ann.cookies].map(([name, value]) => `${name}=${value}`).join('; ') }),
      body: {
        client_name: 'Partner',
        redirect_uris: ['https://partner.example/back'],
        token_endpoint_auth_method: 'none',
        scope: 'openid',
      },
    })
    const query = new URLSearchParams({
      client_id: String(client['client_id']),
      redirect_uri: 'https://partner.example/back',
      response_type: 'code',
      scope: 'openid',
      state: 'of the partner',
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
    })
    const asked = await browsers.ann.get(`/oauth2/authorize?${query}`)
    const { search } = new URL(locationOf(asked), origin)
    await ask(browsers.ann, '/oauth2/consent', { accept: true, oauth_query: search.slice(1) })
    const wallet = browser(before)
    const address = '0x52908400098527886E0F7030069857D2E4169EE7'
    // 1.6 wants the wallet beside the message, and 1.7 refuses it.
    const named = line === '1.6' ? { walletAddress: address, chainId: 1 } : {}
    await ask(wallet, '/siwe/nonce', named)
    const issued = new Date().toISOString()
    const signed = ['URI: http://localhost', 'Version: 1', 'Chain ID: 1', 'Nonce: anonceofthetest', `Issued At: ${issued}`]
    const message = [`localhost wants you to sign in with your Ethereum account:`, address, '', ...signed].join('\n')
    await ask(wallet, '/siwe/verify', { ...named, message, signature: '0x01' })
  }

  it('what no plugin of the app takes is listed by its number, and stops the move until each is accepted by its name', async () => {
    const report = await after.auth.betterAuth.takeOver()
    const counts = Object.fromEntries(report.problems.filter(({ level }) => level === 'loss').map(({ name, count }) => [name, count]))
    expect(counts).toEqual(Object.fromEntries(lost.map((name) => [name, 1])))
    expect(report.refused).toEqual(lost)
    for (const name of lost) expect(report.problems.find((problem) => problem.name === name)?.message).toContain('stay behind')
    const all = await after.auth.betterAuth.takeOver({ apply: true, accept: lost.slice(1) })
    expect(all).toMatchObject({ applied: false, refused: ['sso-providers'] })
    expect(await after.auth.betterAuth.takeOver({ apply: true, accept: lost })).toMatchObject({ applied: true, refused: [] })
  })

  it('guests stay signed in, and are named', async () => {
    const { problems } = await after.auth.betterAuth.takeOver({ accept: lost })
    expect(problems.find(({ name }) => name === 'guests')).toMatchObject({ level: 'note', count: 1 })
    expect(await idOf(browser(after, guest))).toBe(await idBefore(browser(before, guest)))
  })

  it('several accounts in a browser: the one in use stays signed in, the others are added again', async () => {
    const who = browser(after, family)
    expect(await idOf(who)).toBe(ids.bob)
    const list = () => {
      const cookie = [...who.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      return after.auth.multiSession.list(new Request(origin, { headers: { cookie } }))
    }
    expect((await list()).map(({ email }) => email)).toEqual(['bob@example.com'])
    await who.post('/switch', { csrfToken: await who.csrfToken(), action: 'add' })
    await who.post('/callback/passwords', { csrfToken: await who.csrfToken(), email: 'ann@example.com', password: passwords.ann })
    expect((await list()).map(({ email }) => email)).toEqual(['ann@example.com', 'bob@example.com'])
  })

  it('a browser that better-auth trusted is asked for a code once, and can be remembered here', async () => {
    const who = browser(after, browsers.cleo)
    const post = async () => {
      const fields = { csrfToken: await who.csrfToken(), email: 'cleo@example.com', password: passwords.cleo, callbackUrl: '/' }
      return locationOf(await who.post('/callback/passwords', fields))
    }
    expect(await post()).toContain('/two-factor')
    await who.post('/two-factor', { csrfToken: await who.csrfToken(), code: totpAt(totpSecret, Date.now()), remember: 'on' })
    expect(await idOf(who)).toBe(ids.cleo)
    await who.post('/signout', { csrfToken: await who.csrfToken() })
    expect(await post()).not.toContain('/two-factor')
    expect(await idOf(who)).toBe(ids.cleo)
  })

  it('a number that better-auth verified by a text signs in', async () => {
    const who = browser(after)
    await who.post('/signin/phone', { csrfToken: await who.csrfToken(), phone: '+49 151 23456789' })
    await expect.poll(() => sent.length).toBe(1)
    await who.post('/callback/phone', { csrfToken: await who.csrfToken(), code: sent[0]! })
    expect(await idOf(who)).toBe(ids.bob)
  })

  it('teams have their ids and members', async () => {
    const { teams } = after.auth.organizations
    const ann = { userId: ids.ann }
    expect((await teams.list(ann, organizationId)).find(({ id }) => id === teamId)).toMatchObject({ name: 'Builders' })
    expect((await teams.members(ann, organizationId, teamId)).map(({ userId }) => userId)).toEqual([ids.ann])
  })
})
