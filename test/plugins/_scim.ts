/** Two organizations with proved domains, a directory each, and clients that speak SCIM. */
import { createAuth } from 'authkernel'
import type { Adapter, AdapterUser, Auth, AuthConfig, Plugin } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { type ApiKeysApi, apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { type OrganizationsApi, organizationsPlugin } from 'authkernel/plugins/organizations'
import { type ScimApi, type ScimChange, type ScimOptions, scimPlugin } from 'authkernel/plugins/scim'
import { baseConfig, Client } from '../_setup.ts'

export const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User'
export const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
export const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group'
const patchSchema = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'

export interface ScimAnswer {
  status: number
  headers: Headers
  // oxlint-disable-next-line no-explicit-any -- the answers of a protocol that tests look into
  body: any
}
export type Send = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<ScimAnswer>

export interface ScimWorld {
  auth: Auth & OrganizationsApi & ScimApi & ApiKeysApi
  store: Required<Adapter>
  runtime: ReturnType<typeof baseConfig>['runtime']
  log: ReturnType<typeof baseConfig>['logger']
  changes: ScimChange[]
  acme: string
  globex: string
  directoryId: string
  otherDirectoryId: string
  token: string
  send: Send
  /** The client of another organization. */
  other: Send
  clientOf(token: string): Send
  patch(path: string, ...operations: object[]): Promise<ScimAnswer>
  createUser(name: string, more?: object): Promise<ScimAnswer>
  signIn(email: string): Promise<Client>
  isSignedIn(client: Client): Promise<boolean>
}

export async function createScimWorld({
  options = {},
  strategy = 'database',
  adapter = memoryAdapter(memoryData()),
  rules = {},
  config = {},
  plugins = [],
  now,
}: {
  options?: ScimOptions
  strategy?: 'jwt' | 'database'
  adapter?: Adapter
  rules?: object
  config?: AuthConfig
  plugins?: readonly Plugin[]
  /** Milliseconds since the epoch, for libraries that read the clock of the process. */
  now?: number
} = {}): Promise<ScimWorld> {
  const base = baseConfig({
    origin: 'http://localhost:3000',
    session: { strategy, ...(strategy === 'jwt' && { revocable: true }) },
    providers: [
      { id: 'credentials', name: 'Password', type: 'credentials', authorize: ({ email }) => store.getUserByEmail(String(email)) },
    ],
    ...config,
  })
  if (now !== undefined) base.runtime.advance(now - base.runtime.now())
  const store = adapter as Required<Adapter>
  const zone = new Map<string, string[]>()
  const resolveTxt = async (name: string) => (zone.get(name) ?? []).map((one) => [one])
  const postbox: Plugin = { name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: () => undefined }) }
  const auth = createAuth(base)
    .use(adapterPlugin(adapter))
    .use(postbox)
    .use(apiKeysPlugin())
    .use(organizationsPlugin({ roles: { viewer: {} }, domains: { resolveTxt } }))
    .use(scimPlugin(options))
  for (const plugin of plugins) auth.use(plugin)
  const changes: ScimChange[] = []
  auth.on('scimChanged', (change) => void changes.push(change))
  await auth.ready({ warm: true })
  const createOrganization = async (name: string, domain: string) => {
    const owner = await store.createUser({ email: `owner@${domain}`, emailVerified: new Date(0), name: `Owner of ${name}` } as AdapterUser)
    const { id } = await auth.organizations.create({ userId: owner.id }, { name })
    const { record, text } = await auth.organizations.domains.claim({ system: true }, id, domain)
    zone.set(record, [text])
    await auth.organizations.domains.prove({ system: true }, id, domain)
    const directory = await auth.scim.directories.create({ organizationId: id, name: `Directory of ${name}`, rules })
    const { token } = await auth.scim.tokens.create({ directoryId: directory.id })
    return { id, directoryId: directory.id, token }
  }
  const acme = await createOrganization('Acme', 'acme.example')
  const globex = await createOrganization('Globex', 'globex.example')
  const clientOf =
    (token: string): Send =>
    async (method, path, body, headers = {}) => {
      const response = await auth.handler(
        new Request(`http://localhost:3000/auth/scim/v2${path}`, {
          method,
          headers: {
            authorization: `Bearer ${token}`,
            ...(body !== undefined && { 'content-type': 'application/scim+json' }),
            ...headers,
          },
          ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        }),
      )
      const text = await response.text()
      return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) }
    }
  const send = clientOf(acme.token)
  return {
    auth,
    store,
    runtime: base.runtime,
    log: base.logger,
    changes,
    acme: acme.id,
    globex: globex.id,
    directoryId: acme.directoryId,
    otherDirectoryId: globex.directoryId,
    token: acme.token,
    send,
    other: clientOf(globex.token),
    clientOf,
    patch: (path, ...operations) => send('PATCH', path, { schemas: [patchSchema], Operations: operations }),
    createUser: (name, more = {}) =>
      send('POST', '/Users', {
        schemas: [userSchema],
        userName: `${name}@acme.example`,
        name: { givenName: name, familyName: 'Doe' },
        emails: [{ value: `${name}@acme.example`, type: 'work', primary: true }],
        active: true,
        ...more,
      }),
    async signIn(email) {
      const client = new Client(auth)
      await client.post('/callback/credentials', { email })
      return client
    },
    isSignedIn: async (client) => (await (await client.get('/session')).json()) !== null,
  }
}
