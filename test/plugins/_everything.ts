/** An app with the plugins that have routes for people and machines, and a walk over all routes that change something. */
import { isFullTier } from '../_tier.ts'
import type { RouteInfo } from 'authkernel/kernel'
import type { MemoryData } from 'authkernel/plugins/memory'
import { expect } from 'vitest'
import { Client } from '../_setup.ts'
import { type Everything, everything } from './_every-plugin.ts'

export interface World {
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

export async function world(strategy: 'jwt' | 'database' = 'database'): Promise<World> {
  const made = everything({ origin: 'http://localhost:3000', session: { strategy, ...(strategy === 'jwt' && { revocable: true }) } })
  const { auth, data, store, admins } = made
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
  const { app } = await made.kernel.contextOf({ job: 'probe' })
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

/** What a walk needs of a world. */
export interface Walked {
  routes: readonly RouteInfo[]
  own: World['own']
  /** Whose the ids in paths and bodies are; default ada. */
  person?: string
  /** Fields that go over the usual ones, and names of path parameters. */
  fields?: Record<string, string>
}

const actions = [
  undefined,
  ...(
    'create update delete role remove invite cancel active accept decline add all switch signOut ban unban newFactor verifyAddress revoke rotate ' +
    'send proof confirm totp start enrol backup team.create team.rename team.delete team.add team.remove domain.claim domain.prove ' +
    'domain.provider domain.remove'
  ).split(' '),
]
// Acts of one route alone.
const actsOfOrganizations = 'role.create role.update role.delete domain.joining suspend restore transfer roles invite.many join'.split(' ')
/** A body that fits all routes as well as one can. */
const bodyOf = ({ own, person = 'ada' }: Walked): Record<string, string> => ({
  organization: own.organization,
  team: own.team,
  invitation: own.invitation,
  userId: person,
  id: person,
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
  title: 'Mallory',
  'permission.member:read': 'yes',
  'role.owner': 'yes',
  text: 'many@example.com',
  joining: 'join',
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

/**
 * Sends forms and JSON bodies to every route that changes something: with every action in the full tier and for `whole`, else without an action and with a
 * third of them, others at each route. Answers the routes after which `kept` was another text.
 */
export async function walk(
  of: Walked,
  kept: () => string,
  {
    client: open,
    skip = () => false,
    answered = () => {},
    whole = isFullTier,
  }: {
    client: () => Promise<Client>
    skip?: (path: string, action: string | undefined) => boolean
    answered?: (at: string, response: Response) => unknown
    whole?: boolean
  },
): Promise<{ changed: string[]; asked: number }> {
  const changed = new Set<string>()
  let [client, before, asked] = [await open(), kept(), 0]
  for (const [index, { method, path, at }] of of.routes.entries()) {
    if (at === 'root' || ['GET', 'HEAD', 'OPTIONS'].includes(method)) continue
    const to = path.replace(/:(\w+)/g, (_, name: string) => of.fields?.[name] ?? (name === 'provider' ? 'passwords' : (of.person ?? 'ada')))
    const all = path === '/organizations' ? [...actions, ...actsOfOrganizations] : actions
    for (const action of all.filter((one, place) => whole || one === undefined || (place + index) % 3 === 0))
      for (const type of ['application/x-www-form-urlencoded', 'application/json']) {
        // Routes of clients, and those about passwords, know no actions.
        if (((type === 'application/json' || /^\/(passwords|callback)/.test(path)) && action !== undefined) || skip(path, action)) continue
        const values = { ...bodyOf(of), ...of.fields, ...(action !== undefined && { action }), csrfToken: await client.csrfToken() }
        const response = await client.send(to, {
          method,
          // Without it the routes that are protected by the origin would refuse everybody.
          headers: { 'content-type': type, origin: client.origin },
          body: type === 'application/json' ? JSON.stringify(values) : new URLSearchParams(values).toString(),
        })
        asked++
        await answered(`${method} ${path} ${action ?? ''}`, response.clone())
        expect(response.status < 500 || isUnreachable(path, response), `${method} ${path} ${action} ${type}: ${response.status}`).toBe(true)
        const now = kept()
        if (now !== before) changed.add(`${path}${action === undefined ? '' : ` ${action}`}`)
        before = now
        // A sign-out, or a sign-in as another user: begin anew.
        if ([302, 200].includes(response.status) && response.headers.has('set-cookie')) client = await open()
      }
  }
  return { changed: [...changed], asked }
}

/** What needs the metadata of a provider, and there is no network: a logout is answered 503, which tells the provider to try again, a link 502. */
export function isUnreachable(path: string, response: Response): boolean {
  if (path === '/accounts/link' && response.status === 502) return true
  return /^\/(?:back|front)channel-logout\/:provider$/.test(path) && response.status === 503 && response.headers.has('retry-after')
}

/** Rows that a visit changes by itself, and what is written down about refusals. */
export const passing: ReadonlySet<string> = new Set([
  'audit',
  'auditHead',
  'impersonation',
  'deviceSession',
  'sessionRecord',
  'kernelLease',
  'erasure',
  // The log of an organization: the walks compare what it is about.
  'organizationEvent',
  'multiSession',
])
export const text = (value: unknown): string => JSON.stringify(value, (_, each: unknown) => (each instanceof Map ? [...each] : each))

/** What a user has: the user, ways in, and what plugins keep about the person. */
export function ofUser({ data }: World, userId: string): string {
  const own = <T extends { userId?: unknown }>(rows: Map<string, T>) => [...rows.values()].filter((row) => row.userId === userId)
  const kept = [...(data.records ?? [])].filter(([name]) => !passing.has(name)).map(([name, rows]) => [name, own(rows as never)])
  return text([data.users.get(userId), own(data.accounts), own(data.authenticators as never), kept])
}
/** All that belongs to an organization. */
export function ofOrganization({ data }: World, id: string): string {
  const tables = [...(data.records ?? [])].filter(([name]) => !passing.has(name))
  const kept = tables.map(([name, rows]) => [name, [...rows.values()].filter((row) => row['organizationId'] === id || row.id === id)])
  return text(kept)
}
