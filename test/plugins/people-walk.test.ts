/** Every route of every plugin, and every call of the APIs, by people who have no right to it: what they must not touch stays as it was. */
import { type Auth, createAuth } from 'authkernel'
import type { Kernel, MailMessage, Plugin, RouteInfo } from 'authkernel/kernel'
import { accountsPlugin } from 'authkernel/plugins/accounts'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { type AdminApi, adminPlugin } from 'authkernel/plugins/admin'
import { apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { bearerPlugin } from 'authkernel/plugins/bearer'
import { codesPlugin, email } from 'authkernel/plugins/codes'
import { deviceFlowPlugin } from 'authkernel/plugins/device-flow'
import { deviceSessionsPlugin } from 'authkernel/plugins/device-sessions'
import { guestPlugin } from 'authkernel/plugins/guest'
import { type ImpersonationApi, impersonationPlugin } from 'authkernel/plugins/impersonation'
import { jwtPlugin } from 'authkernel/plugins/jwt'
import { memoryAdapter, type MemoryData, memoryData } from 'authkernel/plugins/memory'
import { multiSessionPlugin } from 'authkernel/plugins/multi-session'
import { type OrganizationsApi, organizationsPlugin } from 'authkernel/plugins/organizations'
import { passwordsPlugin } from 'authkernel/plugins/passwords'
import { providerTokensPlugin } from 'authkernel/plugins/provider-tokens'
import { singleLogoutPlugin } from 'authkernel/plugins/single-logout'
import { stepUpPlugin } from 'authkernel/plugins/step-up'
import { twoFactorPlugin } from 'authkernel/plugins/two-factor'
import { usernamesPlugin } from 'authkernel/plugins/usernames'
import passkey from 'authkernel/providers/passkey'
import { expect, it } from 'vitest'
import { baseConfig, Client } from '../_setup.ts'

const clients = [{ id: 'api', secret: 's'.repeat(32), audiences: ['https://api.example'] }]
const apps = [{ id: 'app', name: 'App', redirectUris: ['http://127.0.0.1/cb'], scopes: ['read'] }]

type Everything = Auth<AdminApi & ImpersonationApi & OrganizationsApi>
interface World {
  auth: Everything
  data: MemoryData
  routes: readonly RouteInfo[]
  admins: Set<string>
  /** Of the organization of ada, and what is in it. */
  own: { organization: string; team: string; invitation: string }
  /** Of the organization of dan. */
  other: string
  browser(user?: string): Promise<Client>
  asks(client: Client): Request
  acting(): Promise<Client>
}

async function world(): Promise<World> {
  const data = memoryData()
  const store = memoryAdapter(data)
  const mails: MailMessage[] = []
  const admins = new Set(['root'])
  let inside: Kernel | undefined
  const probe: Plugin = {
    name: 'probe',
    setup(kernel) {
      inside = kernel
      kernel.provide('mailTransport', { send: (mail) => void mails.push(mail) })
    },
  }
  const base = baseConfig({
    origin: 'http://localhost:3000',
    session: { strategy: 'database' },
    // Else the walk would end at a limit.
    throttle: false,
    providers: [
      {
        id: 'credentials',
        name: 'Name',
        type: 'credentials',
        authorize: ({ user }: Record<string, unknown>) => (typeof user === 'string' ? { id: user, name: user } : null),
      },
      passkey(),
      { id: 'orbit', name: 'Orbit', type: 'oidc', issuer: 'https://orbit.example', clientId: 'c', clientSecret: 's' },
    ],
    experimental: { enableWebAuthn: true },
  })
  const auth = createAuth(base)
    .use(adapterPlugin(store))
    .use(probe)
    .use(accountsPlugin())
    .use(apiKeysPlugin({ routes: true, accountSection: true }))
    .use(jwtPlugin({ audiences: ['https://api.example'], routes: true, introspection: { clients } }))
    .use(bearerPlugin({ apps }))
    .use(deviceFlowPlugin({ apps: ['app'] }))
    .use(providerTokensPlugin())
    .use(singleLogoutPlugin())
    .use(stepUpPlugin())
    .use(passwordsPlugin({ breached: false }))
    .use(usernamesPlugin())
    .use(codesPlugin({ via: email() }))
    .use(twoFactorPlugin())
    .use(deviceSessionsPlugin({ bind: 'optional' }))
    .use(guestPlugin())
    .use(multiSessionPlugin())
    .use(adminPlugin({ can: ({ admin }) => admins.has(admin.id ?? ''), pages: true }))
    .use(impersonationPlugin({ can: ({ admin }) => admins.has(admin.id ?? '') }))
    .use(organizationsPlugin({ domains: { isPublicSuffix: () => false, resolveTxt: () => Promise.resolve([]) } })) as unknown as Everything
  await auth.ready()
  for (const id of ['ada', 'bob', 'cy', 'dan', 'root'])
    await store.createUser({ id, email: `${id}@example.com`, name: id, emailVerified: new Date(0) })
  await store.linkAccount({ userId: 'ada', type: 'oauth', provider: 'orbit', providerAccountId: '1' })
  const { organizations } = auth
  const { id: organization } = await organizations.create({ userId: 'ada' }, { name: 'A', slug: 'a' })
  await organizations.add({ system: true }, organization, 'bob', 'member')
  const team = await organizations.teams.create({ userId: 'ada' }, organization, { name: 'T' })
  await organizations.domains.claim({ userId: 'ada' }, organization, 'acme.example')
  const invitation = await organizations.invite({ userId: 'ada' }, organization, { email: 'cy@example.com' })
  const { id: other } = await organizations.create({ userId: 'dan' }, { name: 'D' })
  const browser = async (user?: string) => {
    const client = new Client(auth)
    if (user !== undefined) await client.post('/callback/credentials', { user })
    return client
  }
  const asks = (client: Client) => new Request('http://localhost:3000/', { headers: { cookie: client.cookieHeader() } })
  const acting = async () => {
    const client = await browser('root')
    const response = await auth.impersonation.start(asks(client), { userId: 'ada', reason: 'ticket' })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (/max-age=0|expires=thu, 01 jan 1970/i.test(line) || value === '') client.cookies.delete(name)
      else client.cookies.set(name, value)
    }
    return client
  }
  const { app } = await inside!.contextOf({ job: 'probe' })
  return {
    auth,
    data,
    routes: app.routes.list,
    admins,
    own: { organization, team: team.id, invitation: invitation.id },
    other,
    browser,
    asks,
    acting,
  }
}

const actions = [
  undefined,
  ...(
    'create update delete role remove invite cancel active accept decline add all switch signOut ban unban newFactor verifyAddress revoke rotate ' +
    'send proof confirm totp start enrol backup team.create team.rename team.delete team.add team.remove domain.claim domain.prove ' +
    'domain.provider domain.remove'
  ).split(' '),
]
/** A body that fits all routes as well as one can. */
const bodyOf = ({ own }: World): Record<string, string> => ({
  organization: own.organization,
  team: own.team,
  invitation: own.invitation,
  userId: 'ada',
  id: 'ada',
  user: 'x',
  name: 'Mallory',
  slug: 'mallory',
  email: 'bob@example.com',
  address: 'mallory@example.com',
  username: 'mallory',
  password: 'seven purple otters sing',
  current: 'seven purple otters sing',
  repeat: 'seven purple otters sing',
  role: 'owner',
  permission: 'member:read',
  domain: 'mallory.example',
  provider: 'orbit',
  providerAccountId: '1',
  reason: 'because',
  code: '123456',
  token: 'f'.repeat(64),
  scopes: 'member:read',
  audience: 'https://api.example',
  client_id: 'app',
  grant_type: 'refresh_token',
  refresh_token: 'rt.x',
  user_code: 'BCDF-GHJK',
  ticket: 'x',
  decision: 'allow',
  logout_token: 'x',
})

/** Sends every form and JSON body to every route that changes something. Answers the routes after which `kept` was another text. */
async function walk(
  of: World,
  kept: () => string,
  { client: open, skip = () => false }: { client: () => Promise<Client>; skip?: (path: string, action: string | undefined) => boolean },
): Promise<{ changed: string[]; asked: number }> {
  const changed = new Set<string>()
  let [client, before, asked] = [await open(), kept(), 0]
  for (const { method, path, at } of of.routes) {
    if (at === 'root' || ['GET', 'HEAD', 'OPTIONS'].includes(method)) continue
    const to = path.replace(/:(\w+)/g, (_, name: string) => (name === 'provider' ? 'passwords' : 'ada'))
    for (const action of actions)
      for (const type of ['application/x-www-form-urlencoded', 'application/json']) {
        // Routes of clients, and those about passwords, know no actions.
        if (((type === 'application/json' || /^\/(passwords|callback)/.test(path)) && action !== undefined) || skip(path, action)) continue
        const values = { ...bodyOf(of), ...(action !== undefined && { action }), csrfToken: await client.csrfToken() }
        const response = await client.send(to, {
          method,
          // Without it the routes that are protected by the origin would refuse everybody.
          headers: { 'content-type': type, origin: 'http://localhost:3000' },
          body: type === 'application/json' ? JSON.stringify(values) : new URLSearchParams(values).toString(),
        })
        asked++
        expect(response.status, `${method} ${path} ${action} ${type}`).toBeLessThan(500)
        const now = kept()
        if (now !== before) changed.add(`${path}${action === undefined ? '' : ` ${action}`}`)
        before = now
        // A sign-out, or a sign-in as somebody else: begin anew.
        if ([302, 200].includes(response.status) && response.headers.has('set-cookie')) client = await open()
      }
  }
  return { changed: [...changed], asked }
}

/** Rows that a visit changes by itself. */
const passing = new Set(['impersonation', 'deviceSession', 'sessionRecord', 'kernelLease', 'erasure', 'multiSession'])
const text = (value: unknown): string => JSON.stringify(value, (_, each: unknown) => (each instanceof Map ? [...each] : each))

/** What somebody has: the user, ways in, and what plugins keep about the person. */
function ofUser({ data }: World, userId: string): string {
  const own = <T extends { userId?: unknown }>(rows: Map<string, T>) => [...rows.values()].filter((row) => row.userId === userId)
  const kept = [...(data.records ?? [])].filter(([name]) => !passing.has(name)).map(([name, rows]) => [name, own(rows as never)])
  return text([data.users.get(userId), own(data.accounts), own(data.authenticators as never), kept])
}
/** All that belongs to an organization. */
function ofOrganization({ data }: World, id: string): string {
  const kept = [...(data.records ?? [])].map(([name, rows]) => [
    name,
    [...rows.values()].filter((row) => row['organizationId'] === id || row.id === id),
  ])
  return text(kept)
}

it('A77: an impersonator changes nothing of the user by any route: no factor, password, address, passkey, key, account, name or organization', async () => {
  const of = await world()
  const mine = () => ofUser(of, 'ada') + ofOrganization(of, of.own.organization)
  const paths = of.routes.map(({ method, path }) => `${method} ${path}`)
  for (const path of ['/oauth/authorize', '/oauth/token', '/device/decide', '/jwt/token', '/api-keys', '/backchannel-logout/:provider'])
    expect(paths).toContain(`POST ${path}`)
  const { changed, asked } = await walk(of, mine, { client: of.acting })
  expect(changed).toEqual([])
  expect(asked).toBeGreaterThan(1000)
  expect((await of.auth.session(of.asks(await of.acting())))?.actor?.id).toBe('root')
  // The same walk by the user: it does reach what it is about.
  // What ends the person or the organization would leave nothing to reach.
  const skip = (path: string, action?: string) => /\/(?:delete|leave|transfer)$/.test(path) || action === 'delete' || action === 'leave'
  const control = await walk(of, mine, { client: () => of.browser('ada'), skip })
  for (const path of [
    '/passwords/change',
    '/username',
    '/two-factor/setup totp',
    '/api-keys',
    '/account/api-keys create',
    '/organizations update',
    '/organizations team.create',
  ])
    expect(control.changed).toContain(path)
  expect(control.changed.length, String(control.changed)).toBeGreaterThan(12)
}, 120_000)

it.each(['nobody', 'dan', 'cy', 'bob', 'root of before'])(
  'A78, A80: %s reaches by no route what an owner and an administrator may do',
  async (who) => {
    const of = await world()
    const user = who === 'root of before' ? 'root' : who
    const client = await of.browser(user === 'nobody' ? undefined : user)
    of.admins.clear()
    const kept = () => ofOrganization(of, of.own.organization) + ofUser(of, 'ada') + text([...(of.data.records?.get('userBan') ?? [])])
    const { changed } = await walk(of, kept, {
      client: async () => (user === 'nobody' ? of.browser() : Object.assign(client, await of.browser(user))),
      // The invited may accept, a member may leave, whoever has a mail may decline: own rights.
      skip: (path, action) =>
        who === 'bob' && (['/organizations/leave', '/account/delete'].includes(path) || action === 'leave' || action === 'team.remove'),
    })
    expect(changed).toEqual([])
  },
  120_000,
)

it('A78, A80: every call of auth.organizations, auth.admin and auth.impersonation, by everybody who has no right', async () => {
  const of = await world()
  const { organization, team, invitation } = of.own
  const clients = {
    dan: await of.browser('dan'),
    bob: await of.browser('bob'),
    cy: await of.browser('cy'),
    nobody: await of.browser(),
    root: await of.browser('root'),
  }
  const acting = await of.acting()
  of.admins.clear()
  const kept = () => ofOrganization(of, organization) + ofUser(of, 'ada') + text([...(of.data.records?.get('userBan') ?? [])])
  const before = kept()
  const seconds = ['ada', team, invitation, { name: 'Mallory' }, { email: 'm@example.com' }, 'acme.example']
  const thirds = [undefined, 'owner', 'ada', { name: 'Mallory' }, 'orbit', null]
  const { organizations, admin, impersonation } = of.auth
  const calls: [string, (...args: never[]) => Promise<unknown>][] = []
  for (const [part, api] of Object.entries({ organization: organizations, team: organizations.teams, domain: organizations.domains }))
    for (const [name, call] of Object.entries(api))
      // To make an organization and to see the own ones is everybody's right, and `sweep` nobody's: it looks at the DNS.
      if (typeof call === 'function' && !['organization.create', 'organization.list', 'domain.sweep'].includes(`${part}.${name}`))
        calls.push([`${part}.${name}`, call as never])
  let refused = 0
  for (const [who, client] of Object.entries({ ...clients, acting }))
    for (const [name, call] of calls)
      for (const second of seconds)
        for (const third of thirds) {
          const end = await call(...([of.asks(client), organization, second, third] as never[])).then(
            () => 'done',
            (error: { status?: number }) => error.status ?? 'a wrong type',
          )
          if (end !== 'done') refused++
          // A member may see things; what counts there is that nothing changes.
          else if (who !== 'bob') expect(name).toBe('organization.get')
          if (name === 'organization.leave' && who === 'bob' && end === 'done')
            await organizations.add({ system: true }, organization, 'bob', 'member')
        }
  expect(refused).toBeGreaterThan(1000)
  for (const client of [...Object.values(clients), acting])
    for (const act of Object.values(admin) as ((by: Request, userId: string, order: object) => Promise<unknown>)[]) {
      await expect(act(of.asks(client), 'ada', { reason: 'r' })).rejects.toMatchObject({ status: 403 })
      await expect(impersonation.start(of.asks(client), { userId: 'ada', reason: 'r' })).rejects.toMatchObject({ status: 403 })
    }
  const rows = (all: string) => all.replace(/"(?:id|joined|members|version)":(?:"[^"]*"|\d+)/g, '')
  expect(rows(kept())).toBe(rows(before))
}, 120_000)
