/** An app with organizations and SCIM on a PostgreSQL database, as each process of the measurement has it. */
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'

export const origin = 'http://localhost:3000'
const secret = 'a-secret-of-more-than-32-characters-for-the-bench'

/** `onQuery` gets the text of each query. `strategy`: `jwt` sessions are revocable and at most a second old. */
export function createHost(
  { createAuth, adapterPlugin, sqlAdapter, organizationsPlugin, scimPlugin, apiKeysPlugin },
  { url, strategy = 'database', onQuery, connections = 10 },
) {
  const pool = new pg.Pool({ connectionString: url, max: connections })
  pool.on('error', () => {})
  const log = onQuery && (({ query }) => onQuery(query.sql, query.parameters))
  const adapter = sqlAdapter(new Kysely({ dialect: new PostgresDialect({ pool }), ...(log && { log }) }), { pool })
  const zone = new Map()
  const auth = createAuth({
    secret,
    origin,
    env: false,
    logger: { error: (error) => console.error(error), warn() {}, debug() {} },
    session: { strategy, ...(strategy === 'jwt' && { revocable: { staleness: 1 } }) },
    providers: [
      { id: 'credentials', name: 'Password', type: 'credentials', authorize: ({ email }) => adapter.getUserByEmail(String(email)) },
    ],
  })
    .use(adapterPlugin(adapter))
    .use({ name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: () => undefined }) })
    .use(apiKeysPlugin())
    .use(
      organizationsPlugin({
        limits: { members: 10_000_000 },
        domains: { resolveTxt: async (name) => (zone.get(name) ?? []).map((one) => [one]) },
      }),
    )
    .use(scimPlugin({ limit: { max: 10_000_000, seconds: 60 } }))
  return { auth, adapter, zone, close: () => auth.close() }
}

/** An organization with a proved domain and a directory; answers its token. */
export async function createDirectory({ auth, adapter, zone }, domain) {
  const owner = await adapter.createUser({ id: `owner-${domain}`, email: `owner@${domain}`, emailVerified: new Date(), name: 'Owner' })
  const { id: organizationId } = await auth.organizations.create({ userId: owner.id }, { name: domain })
  const { record, text } = await auth.organizations.domains.claim({ system: true }, organizationId, domain)
  zone.set(record, [text])
  await auth.organizations.domains.prove({ system: true }, organizationId, domain)
  const { id: directoryId } = await auth.scim.directories.create({ organizationId, name: 'Okta' })
  const { token } = await auth.scim.tokens.create({ directoryId })
  return { organizationId, directoryId, token }
}

/** Sends a request of SCIM. */
export function clientOf(auth, token) {
  return async (method, path, body) => {
    const response = await auth.handler(
      new Request(`${origin}/auth/scim/v2${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    )
    const text = await response.text()
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
  }
}
