/** Reads the tables of better-auth under the names that the app gave them. Fields have the names of better-auth. */
import { Overloaded } from 'authkernel/kernel'
import { assertColumns } from './columns.ts'
import { type BetterAuthModel, type BetterAuthSchema, columnOf, neededFields, tableOf } from './schema.ts'

/** Any Kysely instance. */
export interface BetterAuthDatabase {
  readonly schema: object
  readonly introspection: object
  selectFrom: unknown
}
/** A row, by the fields of better-auth. Columns that it does not know keep their names. */
export type SourceFields = Readonly<Record<string, unknown>>

/** As much of Kysely as is used here. */
interface Reader {
  withoutPlugins(): Reader
  introspection: { getTables(): Promise<readonly { name: string; columns: readonly { name: string }[] }[]> }
  selectFrom(table: string): Query
}
interface Query {
  select(expression: string | ((builder: { fn: { countAll(): { as(name: string): unknown } } }) => unknown)): Query
  selectAll(): Query
  where(column: string, operator: string, value: unknown): Query
  orderBy(column: string): Query
  limit(rows: number): Query
  execute(): Promise<Record<string, unknown>[]>
}

const pageSize = 500

/** `['banned', 'is', true]`: a condition on a field. */
export type Condition = readonly [field: string, operator: string, value: unknown]

/** The tables, as far as they are there. */
export interface Source {
  /** Whether there is such a table, and in it such a field. */
  has(model: BetterAuthModel, field?: string): boolean
  /** Columns of a table that better-auth and its plugins do not have. */
  columns(model: BetterAuthModel): readonly string[]
  /** Rows of a table that nothing here reads, by its name in better-auth; undefined: there is none. */
  countTable(model: string): Promise<number | undefined>
  /** Names of all tables in which no model of better-auth is. */
  others(): readonly string[]
  /** Rows of one of them. */
  countOther(table: string): Promise<number>
  count(model: BetterAuthModel, where?: readonly Condition[]): Promise<number>
  /** All rows, or those of a condition, in the order of their ids, a page at a time. */
  pages(model: BetterAuthModel, where?: readonly Condition[]): AsyncGenerator<SourceFields[]>
  /** Rows whose field has one of the values. */
  find(model: BetterAuthModel, field: string, values: readonly string[], where?: readonly Condition[]): Promise<SourceFields[]>
}

/** Looks at the database once. Throws AuthError for a table that lacks a column: its rows would look as if there were none. */
export async function openSource(database: BetterAuthDatabase, schema: BetterAuthSchema): Promise<Source> {
  // The tables of the host are known at run time. `Reader` is the part of Kysely that is used.
  const db = (database as unknown as Reader).withoutPlugins()
  const tables = new Map((await db.introspection.getTables()).map(({ name, columns }) => [name, columns.map((column) => column.name)]))
  assertColumns(tables, schema)
  const models = Object.keys(neededFields) as BetterAuthModel[]
  // A model has few columns, and pages have many rows: names are looked up once.
  const fieldsOf = new Map(
    models.map((model) => {
      const known = [...knownFields[model], ...neededFields[model]]
      return [model, new Map(known.map((field) => [columnOf(schema, model, field), field]))] as const
    }),
  )
  const toFields = (model: BetterAuthModel, row: Record<string, unknown>): SourceFields => {
    const names = fieldsOf.get(model)!
    const fields: Record<string, unknown> = {}
    for (const [column, value] of Object.entries(row)) fields[names.get(column) ?? column] = value
    return fields
  }
  const table = (model: BetterAuthModel): Query => db.selectFrom(tableOf(schema, model))
  const filter = (model: BetterAuthModel, where: readonly Condition[]): Query =>
    where.reduce((query, [field, operator, value]) => query.where(columnOf(schema, model, field), operator, value), table(model))
  return {
    has: (model, field) => {
      const columns = tables.get(tableOf(schema, model))
      return columns !== undefined && (field === undefined || columns.includes(columnOf(schema, model, field)))
    },
    columns: (model) => (tables.get(tableOf(schema, model)) ?? []).filter((column) => !fieldsOf.get(model)!.has(column)),
    countTable: async (model) => {
      const name = tableOf(schema, model as BetterAuthModel)
      return tables.has(name) ? countRows(db.selectFrom(name)) : undefined
    },
    others: () => {
      const read = new Set<string>(models.map((model) => tableOf(schema, model)))
      return [...tables.keys()].filter((name) => !read.has(name))
    },
    countOther: (name) => countRows(db.selectFrom(name)),
    count: (model, where = []) => countRows(filter(model, where)),
    async *pages(model, where = []) {
      const id = columnOf(schema, model, 'id')
      let last: unknown
      for (;;) {
        const query = filter(model, where).selectAll().orderBy(id).limit(pageSize)
        const rows = await (last === undefined ? query : query.where(id, '>', last)).execute()
        if (rows.length > 0) yield rows.map((row) => toFields(model, row))
        if (rows.length < pageSize) return
        last = rows.at(-1)![id]
      }
    },
    async find(model, field, values, where = []) {
      const found: SourceFields[] = []
      for (let at = 0; at < values.length; at += pageSize) {
        const some = values.slice(at, at + pageSize)
        const rows = await filter(model, where)
          .selectAll()
          .where(columnOf(schema, model, field), 'in', some)
          .execute()
        found.push(...rows.map((row) => toFields(model, row)))
      }
      return found
    },
  }
}

async function countRows(query: Query): Promise<number> {
  const [row] = await query.select(({ fn }) => fn.countAll().as('n')).execute()
  return Number(row?.['n'] ?? 0)
}

/** A boolean of any database. */
export function isTrue(value: unknown): boolean {
  return value === true || value === 't' || Number(value) === 1
}

/** A date of any database; null: none, or not readable. */
export function toDate(value: unknown): Date | null {
  if (value === null || value === undefined || value === '') return null
  const text = typeof value === 'string' && /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?$/.test(value) ? `${value.replace(' ', 'T')}Z` : value
  const date = new Date(text as string | number | Date)
  return Number.isNaN(date.getTime()) ? null : date
}

/** A text, or null for none. */
export function toText(value: unknown): string | null {
  return value === null || value === undefined || value === '' ? null : String(value)
}

/** Fields beside those that a table must have. */
const knownFields: Readonly<Record<BetterAuthModel, readonly string[]>> = {
  user: (
    'name image createdAt updatedAt twoFactorEnabled role banned banReason banExpires username displayUsername phoneNumber phoneNumberVerified isAnonymous ' +
    'lastLoginMethod'
  ).split(' '),
  account: 'accessToken refreshToken idToken accessTokenExpiresAt refreshTokenExpiresAt scope createdAt updatedAt'.split(' '),
  session: 'createdAt updatedAt ipAddress userAgent impersonatedBy activeOrganizationId activeTeamId'.split(' '),
  twoFactor: 'verified failedVerificationCount lockedUntil'.split(' '),
  passkey: 'name counter deviceType backedUp transports createdAt aaguid'.split(' '),
  organization: 'logo metadata createdAt'.split(' '),
  member: ['createdAt'],
  invitation: 'role teamId inviterId createdAt'.split(' '),
  team: 'createdAt updatedAt'.split(' '),
  teamMember: ['createdAt'],
  apikey: (
    'name start prefix userId referenceId configId refillInterval refillAmount lastRefillAt enabled rateLimitEnabled rateLimitTimeWindow rateLimitMax ' +
    'requestCount remaining lastRequest expiresAt createdAt updatedAt permissions metadata'
  ).split(' '),
  ssoProvider: 'oidcConfig samlConfig userId organizationId domainVerified'.split(' '),
  scimProvider: 'organizationId userId'.split(' '),
  scimManagedConnection: 'creationRequestId createdAt'.split(' '),
  scimManagedCredential: 'credentialId hashVersion createdAt lastUsedAt'.split(' '),
  scimUser: (
    'provisioningDomainId userId displayName formattedName givenName familyName serializedEmails serializedAttributes externalId createdAt ' +
    'updatedAt'
  ).split(' '),
  scimGroup: 'externalId createdAt updatedAt'.split(' '),
  scimGroupMember: ['connectionId'],
  oauthApplication: 'name icon metadata clientSecret type disabled userId createdAt updatedAt'.split(' '),
  oauthClient: (
    'clientSecret disabled skipConsent subjectType scopes clientCredentialsScopes userId createdAt name uri icon tos policy postLogoutRedirectUris ' +
    'tokenEndpointAuthMethod applicationType jwks jwksUri grantTypes requirePKCE dpopBoundAccessTokens type public'
  ).split(' '),
  oauthConsent: 'consentGiven referenceId createdAt updatedAt'.split(' '),
}

/** The tables, looked at once. */
export type OpenSource = () => Promise<Source>

/** A database that was away for a moment is looked at again. */
export function createSourceOpener(database: BetterAuthDatabase, schema: BetterAuthSchema): OpenSource {
  let opening: Promise<Source> | undefined
  return () =>
    (opening ??= openSource(database, schema).catch((error: unknown) => {
      opening = undefined
      throw error
    }))
}

/** A row by one field; empty: there is none. */
export type FindRow = (model: BetterAuthModel, field: string, value: string) => Promise<SourceFields>

/** Reads single rows. Without a database every row is empty. */
export function createRowReader(open: OpenSource | undefined): FindRow {
  return async (model, field, value) => (open ? ((await (await open()).find(model, field, [value]))[0] ?? {}) : {})
}

/** What a read answers. Throws Overloaded when the tables cannot be read: a request must not go on as if they were empty. */
export async function readOrRefuse<R>(read: () => Promise<R>): Promise<R> {
  try {
    return await read()
  } catch (error) {
    throw new Overloaded('better-auth-compat: the tables of better-auth cannot be read.', { err: error as Error })
  }
}
