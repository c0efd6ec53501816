/** An app with every plugin that has pages, and how a browser gets to each of them. */
import type { RequestListener } from 'node:http'
import type { Context, Plugin } from 'authkernel/kernel'
import { nodeBinding } from 'authkernel/bindings/node'
import { admissionPlugin } from 'authkernel/plugins/admission'
import { authorizationServerPlugin } from 'authkernel/plugins/authorization-server'
import { pagesPlugin, type PageReplacement } from 'authkernel/plugins/pages'
import type { PortalApi } from 'authkernel/plugins/portal'
import type { SsoApi } from 'authkernel/plugins/sso'
import type { Page } from 'playwright-core'
import { drawConfirmation, drawDelivery, drawReturn } from '../../plugins/federation/saml/pages.ts'
import { tokenDigest } from '../../plugins/sign-in/passwords/tables.ts'
import { type Everything, everything, type Made } from '../plugins/_every-plugin.ts'
import { listen, secret } from './_pages.ts'

/** Users of the app: `new` has nothing, `waiting` is asked for a second factor at each sign-in. */
export type Visitor = 'ada' | 'root' | 'new' | 'waiting' | 'nobody'

/** One page of a browser. One of `paths`, `draw` and `open` leads there. */
export interface Scene {
  /** Default: `ada`. */
  as?: Visitor
  /** Addresses below the base path. */
  paths?: (site: Site) => readonly string[]
  /** Draws it in a request of its own, for pages that are answers to forms of others. */
  draw?: (ctx: Context, site: Site) => Promise<Response> | Response
  /** Walks there. */
  open?: (page: Page, site: Site) => Promise<unknown>
  /** The window of its visitor is another one afterwards. */
  alone?: true
  /** Status of the answer, default 200. */
  status?: number
}

/** The running app, and what is in it. */
export interface Site extends Pick<Made, 'mails'> {
  url: string
  auth: Everything & PortalApi & SsoApi
  /** Names of all pages. */
  names: readonly string[]
  organization: string
  connection: string
  client: string
  team: string
  /** Texts that a page asked for and no language has. */
  missing: Set<string>
  /** Pages that were drawn since the last visit. */
  drawn: Set<string>
  close(): Promise<void>
}

/** Names the language of the pages: Chromium lets no test change Accept-Language while a window is open. */
export const localeHeader = 'x-locale'

const token = 'a'.repeat(64)
const longName = 'Wilhelmina-Konstantina van der Allerlängsten-Straße'
let users = 0
const long = 'reports_of_the_department_with_a_name_that_has_no_end:read'
const device = { ticket: 'x', code: 'BCDF-GHJK', app: 'TV', who: 'ada@example.com', scopes: `read ${long}`, place: 'Berlin', agent: 'TV' }
const consent = { ticket: 'x', who: 'ada@example.com', client: 'Notes', host: 'notes.example', source: 'registration' }
const under = (path: string) => (): readonly string[] => [path]
const ofOrganization =
  (section: string, more = '') =>
  ({ organization }: Site): readonly string[] => [`/organizations/${section}?organization=${organization}${more}`]
const root = (path: string): Scene => ({ as: 'root', paths: under(path) })
const render =
  (name: string, params: Record<string, string> = {}) =>
  (ctx: Context): Promise<Response> =>
    ctx.render(name as 'error', params)
const saml = { id: 'saml', name: 'Acme SAML' } as Parameters<typeof drawReturn>[1]

/** How to get to each page. A page without a scene fails the test. */
export const scenes: Readonly<Record<string, Scene>> = {
  signIn: { as: 'nobody', paths: () => ['/signin', '/signin?error=CredentialsSignin'] },
  signOut: { paths: under('/signout') },
  error: { as: 'nobody', paths: under('/error?error=AccessDenied'), status: 403 },
  verifyRequest: { as: 'nobody', paths: under('/verify-request?provider=codes&type=email') },
  verifyConfirm: { as: 'nobody', draw: render('verifyConfirm', { action: '/callback/codes', token, email: 'ada@example.com' }) },

  account: { paths: under('/account') },
  accountProfile: { paths: under('/account/profile') },
  accountDelete: { paths: under('/account/delete') },
  passkeyRename: { paths: under('/account/passkeys/rename?id=Y3JlZA') },
  passkeyRemove: { paths: under('/account/passkeys/remove?id=Y3JlZA') },
  address: { paths: under('/account/address') },
  addressMailed: { paths: under('/account/address/mailed') },
  addressConfirm: {
    async draw(ctx) {
      const change = { userId: 'ada', from: 'ada@example.com', to: 'countess-of-lovelace@mail.example', id: 'one' }
      return ctx.render('addressConfirm', { token: await ctx.seal('address-change', change, 600) })
    },
  },
  addressUndo: {
    as: 'nobody',
    async draw(ctx) {
      const change = { userId: 'ada', from: 'ada@example.com', to: 'eve@mail.example', id: 'two', at: ctx.now.getTime() }
      return ctx.render('addressUndo', { token: await ctx.seal('address-undo', change, 600) })
    },
  },
  userName: { paths: under('/username') },
  switch: { paths: under('/switch') },
  impersonation: {
    as: 'root',
    alone: true,
    async open(page, site) {
      await page.goto(`${site.url}/auth/account`)
      const cookie = (await page.context().cookies()).map(({ name, value }) => `${name}=${value}`).join('; ')
      const request = new Request(`${site.url}/`, { headers: { cookie } })
      const answer = await site.auth.impersonation.start(request, { userId: 'ada', reason: 'A ticket about an invoice' })
      const cookies = answer.headers.getSetCookie().flatMap((line) => {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
        return value === '' ? [] : [{ name, value, url: site.url }]
      })
      await page.context().addCookies(cookies)
      await page.goto(`${site.url}/auth/impersonation`)
    },
  },

  passwordSignUp: { as: 'nobody', paths: under('/passwords/sign-up') },
  passwordReset: { as: 'nobody', paths: under('/passwords/reset') },
  passwordMailed: { as: 'nobody', paths: under('/passwords/mailed') },
  passwordChange: { paths: under('/passwords/change') },
  passwordLonger: { as: 'nobody', paths: under('/passwords/longer') },
  passwordNew: {
    as: 'nobody',
    async draw(ctx) {
      const row = { userId: 'ada', address: 'ada@example.com', token: await tokenDigest(ctx, 'reset', token), expires: inAnHour(ctx) }
      if (!(await ctx.records('passwordReset').get('ada'))) await ctx.records('passwordReset').create({ id: 'ada', ...row })
      return ctx.render('passwordNew', { token })
    },
  },
  passwordConfirm: {
    as: 'nobody',
    async draw(ctx) {
      const digest = await tokenDigest(ctx, 'pending', token)
      const row = { address: 'new@example.com', token: digest, hash: 'x', browser: 'x', created: ctx.now, expires: inAnHour(ctx) }
      if (!(await ctx.records('passwordPending').get({ token: digest }))) await ctx.records('passwordPending').create(row)
      return ctx.render('passwordConfirm', { token })
    },
  },
  codes: { as: 'nobody', open: (page, site) => startCode(page, site, 'codes', 'email', 'ada@example.com') },
  phoneCode: { as: 'nobody', open: (page, site) => startCode(page, site, 'phone', 'phone', '+4915123456789') },
  twoFactor: { as: 'waiting', paths: under('/two-factor') },
  twoFactorSetup: { paths: under('/two-factor/setup') },
  // A page may have several scenes: what follows the dot tells them apart.
  'twoFactorSetup.on': {
    as: 'nobody',
    alone: true,
    async open(page, { url }) {
      await post(page, url, '/callback/credentials', { user: `secured-${++users}` })
      await page.goto(`${url}/auth/scene/twoFactorSetup.on`)
    },
    async draw(ctx, { url }) {
      const userId = (await ctx.session.user(ctx))?.id ?? ''
      const row = { person: `user:${userId}`, userId, created: ctx.now, expires: inAnHour(ctx) }
      for (const kind of ['totp', 'emailCode'])
        await ctx.records('twoFactor').create({ ...row, kind, secret: null, confirmed: true, step: 0 })
      await ctx.records('twoFactorDevice').create({ ...row, hash: userId, generation: 0, label: 'Firefox on Linux' })
      return Response.redirect(`${url}/auth/two-factor/setup`)
    },
  },
  twoFactorApp: {
    async open(page, site) {
      await page.goto(`${site.url}/auth/two-factor/setup`)
      await page.locator('form:has(input[name=action][value=totp]) button').first().click()
      await page.locator('input[name=code]').waitFor()
    },
  },
  twoFactorCodes: { draw: render('twoFactorCodes', { codes: Array.from({ length: 10 }, (_, at) => `ABCDE-FGHI${at}`).join(' ') }) },

  apiKeyMade: { draw: render('apiKeyMade', { key: `ak_${'0123456789'.repeat(6)}`, name: 'n'.repeat(100) }) },
  agentMade: { draw: render('agentMade', { credential: `agent_${'0123456789'.repeat(6)}`, name: 'Robot' }) },
  appConsent: {
    draw: render('appConsent', { ticket: 'x', app: 'Phone app', who: 'ada@example.com', scopes: `read ${long}`, target: 'app:/' }),
  },
  appReturn: { draw: render('appReturn', { to: 'https://app.example/cb' }) },
  clientReturn: { draw: render('clientReturn', { to: 'https://app.example/cb' }) },
  clientConsent: {
    draw: render('clientConsent', { ...consent, scopes: `openid email ${long}`, target: 'https://notes.example/cb', switch: '/switch' }),
  },
  clientApproval: {
    async draw(ctx, { url }) {
      const rows = ctx.records('oauthBackchannel')
      const of = { userId: 'ada', clientId: 'partner', clientName: 'Partner', scopes: ['openid', long], audiences: [], details: [] }
      const rest = { needsSecondFactor: false, ping: null, status: 'pending', attributes: null, access: null, interval: 5 } as const
      const times = { polled: ctx.now, until: inAnHour(ctx), expires: inAnHour(ctx) }
      if (!(await rows.get('asked'))) await rows.create({ id: 'asked', ...of, ...rest, ...times, binding: 'Till 4, 12.80 €' })
      return Response.redirect(`${url}/auth/oauth2/approve?request=asked`)
    },
  },
  clientLogout: { draw: render('clientLogout', { ticket: 'x', who: 'ada@example.com', target: 'https://notes.example/out' }) },
  clientSignedOut: { draw: render('clientSignedOut', { frames: '[]', to: 'https://notes.example/out' }) },
  device: { paths: () => ['/device', '/device?user_code=BCDF-GHJK', '/device?done=allowed'] },
  deviceConfirm: { draw: render('deviceConfirm', device) },
  clientDevice: { paths: () => ['/oauth2/device', '/oauth2/device?user_code=BCDF-GHJK', '/oauth2/device?done=denied'] },
  clientDeviceConfirm: { draw: render('clientDeviceConfirm', { ...device, details: JSON.stringify([[['Account', 'DE12 3456']]]) }) },
  samlPost: { as: 'nobody', draw: (ctx) => drawDelivery(ctx, { url: 'https://idp.example/sso', fields: { SAMLRequest: 'x' } }) },
  samlReturn: { as: 'nobody', draw: (ctx) => drawReturn(ctx, saml, 'x') },
  samlConfirm: { as: 'nobody', draw: (ctx) => drawConfirmation(ctx, saml, { subject: longName, attributes: {} } as never, 'x') }, // Only these are read.
  ssoStart: { as: 'nobody', paths: ({ connection }) => [`/sso/start?connection=${connection}`] },

  adminOverview: root('/admin/overview'),
  adminUsers: root('/admin'),
  adminNewUser: root('/admin/new'),
  adminUser: root('/admin/user?id=ada'),
  adminAct: root('/admin/act?id=ada&action=ban&act=ban'),
  adminOrganizations: root('/admin/organizations'),
  adminKeys: root('/admin/keys'),
  adminClients: root('/admin/clients'),
  adminClient: root('/admin/client?id=partner'),
  adminNewClient: root('/admin/clients/new'),
  adminEditClient: {
    as: 'root',
    paths: ({ client }) => [`/admin/clients/edit?id=${client}`],
  },
  adminClientForm: { as: 'root', draw: render('adminClientForm') },
  adminClientSecret: { as: 'root', draw: render('adminClientSecret', { id: 'partner', secret: '0123456789'.repeat(6), name: 'Partner' }) },
  adminAgents: root('/admin/agents'),
  adminAudit: root('/admin/audit'),
  adminConfiguration: root('/admin/configuration'),

  admission: { as: 'nobody', paths: () => ['/admission'] },
  admissionWaiting: { as: 'nobody', paths: under('/admission/waiting') },
  admissionManage: root('/admission/manage'),
  admissionInvited: {
    as: 'root',
    draw: render('admissionInvited', { code: 'K7QX-2MPD-9HVB-T4RC', url: `https://app.example/auth/admission/invitation?code=${token}` }),
  },

  organizations: { paths: ({ organization }) => ['/organizations', `/organizations?leave=${organization}`] },
  organizationMembers: { paths: ofOrganization('members') },
  organizationMember: { paths: ofOrganization('member', '&userId=bob') },
  organizationInvited: {
    draw: (ctx, { organization }) =>
      ctx.render('organizationInvited' as 'error', {
        organization,
        results: JSON.stringify([
          { line: 1, email: 'cy@example.com', role: null, error: null },
          { line: 2, email: 'broken', role: 'admin', error: 'AlreadyInvited' },
        ]),
      }),
  },
  organizationRoles: { paths: ofOrganization('roles') },
  organizationTeams: {
    paths: (site) => [...ofOrganization('teams')(site), ...ofOrganization('teams', `&team=${site.team}`)(site)],
  },
  organizationApps: { paths: ({ organization }) => [`/organizations/apps?organization=${organization}`] },
  organizationAppSecret: {
    draw: (ctx, { organization }) =>
      ctx.render('organizationAppSecret' as 'error', { organization, id: 'c'.repeat(32), name: longName, secret: '0123456789'.repeat(4) }),
  },
  organizationDomains: { paths: ofOrganization('domains') },
  organizationSettings: { paths: ofOrganization('settings') },
  organizationHistory: { paths: ofOrganization('history') },
  organizationInvitation: {
    as: 'new',
    open: (page, site) =>
      page.goto(/https?:\/\/\S+invitation\?token=[0-9a-f]+/.exec(site.mails.find(({ to }) => to.startsWith('new'))!.text)![0]),
  },
  portalLinks: { paths: ({ organization }) => [`/portal/links?organization=${organization}`] },
  portalOpen: { as: 'new', open: openPortalLink },
  portal: { as: 'new', open: openPortal },
  ...Object.fromEntries(
    ['domains', 'connections', 'policy', 'log', 'directory'].map((section): [string, Scene] => [
      `portal.${section}`,
      {
        as: 'new',
        async open(page, site) {
          await openPortal(page, site)
          await page.goto(`${site.url}/auth/portal/${section}`)
        },
      },
    ]),
  ),
}

/** Starts the app. */
export async function startEverything(): Promise<Site> {
  const [missing, drawn] = [new Set<string>(), new Set<string>()]
  const holder: { site?: Site } = {}
  let handler: RequestListener = () => undefined
  const { url, close } = await listen((req, res) => handler(req, res))
  const config = { secret, origin: url, runtime: { fetch: () => Promise.reject(new Error('no network in this test')) } }
  const made = everything(config, { more: [nodeBinding(), scenePlugin(holder)] })
  const auth = made.auth as unknown as Site['auth'] & { node: { handler(...given: unknown[]): Promise<boolean> } }
  // With these options the two plugins have pages more.
  auth.remove('admission')
  auth.remove('authorization-server')
  auth.use(admissionPlugin({ mode: 'waitlist', can: ({ admin }) => admin.id === 'root', pages: true }))
  auth.use(
    authorizationServerPlugin({
      organizationClients: {},
      clients: [{ client_id: 'partner', client_name: 'Partner', redirect_uris: ['https://partner.example/cb'] }],
      ciba: {},
      device: {},
    }),
  )
  const names = [...(await pagesOf(made)).keys()]
  const recorded = Object.fromEntries(names.map((name) => [name, record(name, drawn, missing)]))
  auth.use(pagesPlugin({ pages: recorded, locale: ({ headers }) => headers.get(localeHeader) ?? 'en' }))
  await auth.ready()
  handler = (req, res) => void auth.node.handler(req, res).then((answered) => answered || res.end('<!doctype html><title>app</title>'))
  const site: Site = { url, auth, mails: made.mails, names, missing, drawn, close, ...(await fill(made, auth)) }
  holder.site = site
  return site
}

async function pagesOf({ kernel }: Made): Promise<ReadonlyMap<string, unknown>> {
  return (await kernel.contextOf({ job: 'pages' })).app.parts.pages
}

/** Writes down that a page is drawn, and the keys that it says and that have no text. */
function record(name: string, drawn: Set<string>, missing: Set<string>): PageReplacement {
  return async (_ctx, tools, _params, draw) => {
    const { say } = tools
    Object.assign(tools, {
      say(key: string, values?: Parameters<typeof say>[1]) {
        const text = say(key, values)
        if (text === '') missing.add(`${name} ${tools.lang}: ${key}`)
        return text
      },
    })
    const view = await draw()
    // What leads elsewhere is no page.
    if (!(view instanceof Response)) drawn.add(name)
    return view
  }
}

/** `GET /scene/<page>` draws what the scene of a page draws. */
function scenePlugin(holder: { site?: Site }): Plugin {
  return {
    name: 'scenes',
    setup(kernel) {
      kernel.route({
        method: 'GET',
        path: '/scene/:page',
        handler: async (ctx) => scenes[ctx.params['page'] ?? '']!.draw!(ctx, holder.site!),
      })
    },
  }
}

/** Users, and something of everything that pages list. */
async function fill({ store, kernel }: Made, auth: Site['auth']): Promise<Pick<Site, 'organization' | 'connection' | 'client' | 'team'>> {
  const names = { ada: longName, root: 'Root', new: 'New', waiting: 'Waiting', bob: 'Bob', cy: 'Cy' }
  for (const [id, name] of Object.entries(names))
    await store.createUser({ id, email: `${id}@example.com`, name, emailVerified: new Date() })
  // One for each window.
  for (let at = 1; at <= 8; at++)
    await store.createUser({ id: `secured-${at}`, email: `s${at}@example.com`, name: 'S', emailVerified: new Date() })
  await store.linkAccount({ userId: 'ada', type: 'oidc', provider: 'orbit', providerAccountId: '1' })
  await store.linkAccount({ userId: 'ada', type: 'webauthn', provider: 'passkey', providerAccountId: 'Y3JlZA' })
  await store.createAuthenticator({
    userId: 'ada',
    credentialID: 'Y3JlZA',
    providerAccountId: 'Y3JlZA',
    credentialPublicKey: 'x',
    counter: 0,
    credentialDeviceType: 'multiDevice',
    credentialBackedUp: true,
    transports: null,
  })
  const ctx = await kernel.contextOf({ job: 'fill' })
  const factor = { person: 'user:waiting', userId: 'waiting', kind: 'emailCode', secret: null, confirmed: true, step: 0 }
  await ctx.records('twoFactor').create({ ...factor, created: new Date(), expires: new Date(Date.now() + 3_600_000) })
  const ada = { userId: 'ada' }
  const { id: organization } = await auth.organizations.create(ada, { name: 'An organization with a long name', slug: 'acme' })
  await auth.organizations.add({ system: true }, organization, 'bob', 'member')
  const team = await auth.organizations.teams.create(ada, organization, { name: 'Core' })
  await auth.organizations.teams.add(ada, organization, team.id, 'bob', 'admin')
  await auth.organizations.domains.claim(ada, organization, 'a-rather-long-domain-name.example')
  await auth.organizations.roles.create(ada, organization, { title: 'Inviter', permissions: ['invitation:create'] })
  await auth.organizations.invite(ada, organization, { email: 'new@example.com' })
  const connection = await auth.sso.create({ system: true }, organization, {
    name: 'Acme ID',
    issuer: 'https://idp.example',
    clientId: 'app',
    clientSecret: 'secret',
  })
  await auth.apiKeys.create(ada, { name: 'Build server' })
  await auth.admin.ban({ userId: 'root' }, 'cy', { reason: 'spam' })
  const metadata = { client_name: 'Shop', redirect_uris: ['https://shop.example/cb'] }
  const client = await auth.admin.createClient({ userId: 'root' }, { metadata, reason: 'contract 4711' })
  return { organization, connection: connection.id, client: client.client_id, team: team.id }
}

async function startCode(page: Page, { url }: Site, provider: string, field: string, value: string): Promise<void> {
  await post(page, url, `/signin/${provider}`, { [field]: value })
  await page.goto(`${url}/auth/${provider}`)
}

async function openPortalLink(page: Page, { auth, url, organization }: Site): Promise<void> {
  const link = await auth.portal.createLink({ system: true }, organization, { email: 'it@example.com', days: 7 })
  await page.goto(`${url}/auth/portal/open${new URL(link.url).search}`)
}

async function openPortal(page: Page, site: Site): Promise<void> {
  await openPortalLink(page, site)
  await page.locator('form[action$="/portal/open"] button').click()
  await page.waitForURL('**/portal')
}

/** Sends a form of the site in the browser of a page. */
export async function post(page: Page, url: string, path: string, fields: Record<string, string>): Promise<void> {
  const { request } = page.context()
  const { csrfToken } = (await (await request.get(`${url}/auth/csrf`)).json()) as { csrfToken: string }
  const form = { csrfToken, ...fields }
  await request.post(`${url}/auth${path}`, { form, headers: { origin: url }, maxRedirects: 0 })
}

function inAnHour(ctx: Context): Date {
  return new Date(ctx.now.getTime() + 3_600_000)
}
