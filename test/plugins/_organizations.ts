/** A world with organizations: people with proved addresses, a postbox, and browsers. */
import { createAuth } from 'authkernel'
import type { Adapter, Auth, AuthConfig, MailMessage, Plugin } from 'authkernel/kernel'
import { type AccountsApi, accountsPlugin } from 'authkernel/plugins/accounts'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { type ApiKeysApi, apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { type ImpersonationApi, impersonationPlugin } from 'authkernel/plugins/impersonation'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { type OrganizationsApi, type OrganizationsOptions, organizationsPlugin, type PermissionOf } from 'authkernel/plugins/organizations'
import { expect, vi } from 'vitest'
import { baseConfig, Client, type fakeRuntime, type recordingLogger } from '../_setup.ts'
import { settle } from '../_settle.ts'

export const statements = { project: ['create', 'update', 'delete'], billing: ['read'] } as const
export const roles = { member: { project: ['update'], member: ['read'] }, viewer: {} } as const

type Answer = Record<string, unknown> & { error?: string }
/** What `world` makes. */
export interface World {
  auth: Auth & AccountsApi & ApiKeysApi & ImpersonationApi & OrganizationsApi<PermissionOf<typeof statements>>
  store: Required<Adapter>
  mails: MailMessage[]
  /** What happened and who did it. */
  told: string[]
  browser(user?: string): Promise<Client>
  asks(client: Client, headers?: Record<string, string>): Request
  call(client: Client, method: string, input?: object): Promise<{ status: number; answer: Answer }>
  /** Of the newest mail. */
  token(): Promise<string>
  settle(): Promise<unknown>
  found(members?: Record<string, string>, owner?: string): Promise<string>
  runtime: ReturnType<typeof fakeRuntime>
  logger: ReturnType<typeof recordingLogger>
}

/** People by name; `eve` has not proved the address. */
export async function world(
  strategy: 'jwt' | 'database' = 'database',
  options: OrganizationsOptions<typeof statements> = {},
  config: AuthConfig = {},
  plugins: readonly Plugin[] = [],
): Promise<World> {
  const base = baseConfig({
    origin: 'http://localhost:3000',
    session: { strategy, ...(strategy === 'jwt' && { revocable: true }) },
    providers: [
      { id: 'credentials', name: 'Password', type: 'credentials', authorize: ({ user }) => ({ id: String(user), name: String(user) }) },
    ],
    ...config,
  })
  const mails: MailMessage[] = []
  const postbox: Plugin = { name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: (mail) => void mails.push(mail) }) }
  const store = memoryAdapter(memoryData())
  const auth = createAuth(base)
    .use(adapterPlugin(store))
    .use(postbox)
    .use(accountsPlugin())
    .use(apiKeysPlugin())
    .use(impersonationPlugin({ can: ({ admin }) => admin.id === 'root' }))
    .use(organizationsPlugin({ statements, roles, ...options }))
  for (const plugin of plugins) auth.use(plugin)
  const told: string[] = []
  auth.on('organizationChanged', ({ act, by }) => void told.push(`${act} ${by}`))
  await auth.ready({ warm: true })
  for (const id of ['ada', 'bob', 'cy', 'dan', 'root'])
    await store.createUser({ id, email: `${id}@example.com`, name: id, emailVerified: new Date(0) })
  await store.createUser({ id: 'eve', email: 'eve@example.com', name: 'eve', emailVerified: null })
  const browser = async (user?: string) => {
    const client = new Client(auth)
    if (user !== undefined) await client.post('/callback/credentials', { user })
    return client
  }
  const asks = (client: Client, headers: Record<string, string> = {}) =>
    new Request('http://localhost:3000/', { headers: { cookie: client.cookieHeader(), ...headers } })
  /** A method of `client.organizations`. */
  const call = async (client: Client, method: string, input: object = {}) => {
    const isRead = /^(list|has)/.test(method)
    const path = `/organizations/${method.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
    const response = isRead
      ? await client.get(`${path}?input=${encodeURIComponent(JSON.stringify(input))}`)
      : await client.send(path, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ ...input, csrfToken: await client.csrfToken() }),
        })
    return { status: response.status, answer: (await response.json()) as Answer }
  }
  const token = async () => {
    // The first mail loads what writes mails.
    await vi.waitFor(() => expect(mails).not.toEqual([]))
    await settle()
    return /token=([0-9a-f]{64})/.exec(mails.at(-1)?.text ?? '')?.[1] ?? ''
  }
  /** An organization of ada with members of the given roles. */
  const found = async (members: Record<string, string> = {}, owner = 'ada') => {
    const { id } = await auth.organizations.create({ userId: owner }, { name: `Org of ${owner}` })
    for (const [user, role] of Object.entries(members)) await auth.organizations.add({ system: true }, id, user, role)
    return id
  }
  return {
    auth,
    store: store as Required<Adapter>,
    mails,
    told,
    browser,
    asks,
    call,
    token,
    settle,
    found,
    runtime: base.runtime,
    logger: base.logger,
  }
}

/** What a refused promise was refused with. */
export const type = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (error: { type?: string; status?: number }) => error.type ?? error.status ?? String(error),
  )
