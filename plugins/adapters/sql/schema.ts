/** The tables as they should be, and the names that Auth.js and its published adapters give to tables and columns. */
import type { AdditionalFields } from 'authkernel/kernel'
import { type Kysely, sql } from 'kysely'
import type { AnyDatabase, DialectName, SqlMapping, SqlNames, TableName } from './types.ts'

/** The names of a new database: those of `@auth/pg-adapter`. */
export const defaultTables: Readonly<Record<TableName, string>> = {
  users: 'users',
  accounts: 'accounts',
  sessions: 'sessions',
  tokens: 'verification_token',
  authenticators: 'authenticators',
}

// Of pg, typeorm and sequelize; of kysely and prisma; of drizzle.
const tableNames: Readonly<Record<TableName, readonly string[]>> = {
  users: ['users', 'User', 'user'],
  accounts: ['accounts', 'Account', 'account'],
  sessions: ['sessions', 'Session', 'session'],
  tokens: [
    'verification_token',
    'verification_tokens',
    'VerificationToken',
    'verificationToken',
    'verificationtoken',
    'verificationtokens',
  ],
  authenticators: ['authenticators', 'Authenticator', 'authenticator'],
}

/** Fields that a table must have to be the one that is looked for. */
export const requiredFields: Readonly<Record<TableName, readonly string[]>> = {
  users: ['id', 'email', 'emailVerified'],
  accounts: ['userId', 'type', 'provider', 'providerAccountId'],
  sessions: ['sessionToken', 'userId', 'expires'],
  tokens: ['identifier', 'token', 'expires'],
  authenticators: [
    'credentialID',
    'userId',
    'providerAccountId',
    'credentialPublicKey',
    'counter',
    'credentialDeviceType',
    'credentialBackedUp',
  ],
}
const optionalFields: Readonly<Record<TableName, readonly string[]>> = {
  users: ['name', 'image'],
  accounts: ['id', 'refresh_token', 'access_token', 'expires_at', 'token_type', 'scope', 'id_token', 'session_state'],
  sessions: ['id', 'createdAt'],
  tokens: ['id', 'attempt'],
  authenticators: ['transports'],
}

/** Names that a table may have, best first. */
export function candidateNames(table: TableName, names: SqlNames): readonly string[] {
  const own = names[table]
  const name = typeof own === 'string' ? own : own?.table
  return name === undefined ? tableNames[table] : [name]
}

/** The field that a column holds. Columns of the host's own have their own name. */
export function fieldOf(table: TableName, column: string, names: SqlNames): string {
  const mapping = names[table]
  const columns: Readonly<Record<string, string>> = typeof mapping === 'object' ? (mapping.columns ?? {}) : {}
  const mapped = Object.entries(columns).find(([, name]) => name === column)
  if (mapped) return mapped[0]
  const known = [...requiredFields[table], ...optionalFields[table]].filter((field) => columns[field] === undefined)
  // Sequelize and hand-made schemas write user_id for userId; MySQL and SQLite do not tell cases apart.
  return known.find((field) => field === column) ?? known.find((field) => bareName(field) === bareName(column)) ?? column
}

/** The column name of a field in a table that is to be made. */
export function columnNameOf(table: TableName, field: string, names: SqlNames): string {
  const mapping = names[table]
  return (typeof mapping === 'object' ? mapping.columns?.[field] : undefined) ?? field
}

/** The mapping of a table, if the host gives more than its name. */
export function mappingOf(table: TableName, names: SqlNames): SqlMapping | undefined {
  const mapping = names[table]
  return typeof mapping === 'object' ? mapping : undefined
}

function bareName(name: string): string {
  return name.replaceAll('_', '').toLowerCase()
}

/** What a column is for; the dialect says what it is. */
type ColumnType = 'key' | 'long-key' | 'text' | 'date' | 'number' | 'boolean'
interface WantedColumn {
  field: string
  type: ColumnType
  required?: true
  /** Made by the database when left out, so that published adapters can write too. */
  generated?: true
  /** Of rows that do not say otherwise. */
  default?: string | number | boolean
}
export interface WantedTable {
  kind: TableName
  columns: readonly WantedColumn[]
  primary: readonly string[]
  unique: readonly (readonly string[])[]
  /** Looked up by these. */
  index: readonly string[]
  /** Whether rows belong to a user and go with them. */
  owned: boolean
}

const id = { field: 'id', type: 'key', required: true, generated: true } as const
const userId = { field: 'userId', type: 'key', required: true } as const

/** In the order in which they can be made. Nothing is ever taken away from a database that has more. */
const wantedTables: readonly WantedTable[] = [
  {
    kind: 'users',
    columns: [
      id,
      { field: 'name', type: 'text' },
      { field: 'email', type: 'key' },
      { field: 'emailVerified', type: 'date' },
      { field: 'image', type: 'text' },
    ],
    primary: ['id'],
    unique: [['email']],
    index: [],
    owned: false,
  },
  {
    kind: 'accounts',
    columns: [
      id,
      userId,
      { field: 'type', type: 'key', required: true },
      { field: 'provider', type: 'key', required: true },
      { field: 'providerAccountId', type: 'key', required: true },
      { field: 'refresh_token', type: 'text' },
      { field: 'access_token', type: 'text' },
      { field: 'expires_at', type: 'number' },
      { field: 'token_type', type: 'text' },
      { field: 'scope', type: 'text' },
      { field: 'id_token', type: 'text' },
      { field: 'session_state', type: 'text' },
    ],
    primary: ['id'],
    unique: [['provider', 'providerAccountId']],
    index: ['userId'],
    owned: true,
  },
  {
    kind: 'sessions',
    columns: [
      id,
      { field: 'sessionToken', type: 'key', required: true },
      userId,
      { field: 'expires', type: 'date', required: true },
      { field: 'createdAt', type: 'date' },
    ],
    primary: ['id'],
    unique: [['sessionToken']],
    index: ['userId', 'expires'],
    owned: true,
  },
  {
    kind: 'tokens',
    columns: [
      { field: 'identifier', type: 'key', required: true },
      { field: 'token', type: 'key', required: true },
      { field: 'expires', type: 'date', required: true },
      // Who has a mark of `once` or `limit`.
      { field: 'attempt', type: 'key' },
    ],
    primary: ['identifier', 'token'],
    unique: [['identifier', 'token']],
    index: ['identifier', 'expires'],
    owned: false,
  },
  {
    kind: 'authenticators',
    columns: [
      { field: 'credentialID', type: 'long-key', required: true },
      userId,
      { field: 'providerAccountId', type: 'long-key', required: true },
      { field: 'credentialPublicKey', type: 'text', required: true },
      { field: 'counter', type: 'number', required: true },
      { field: 'credentialDeviceType', type: 'text', required: true },
      { field: 'credentialBackedUp', type: 'boolean', required: true },
      { field: 'transports', type: 'text' },
    ],
    primary: ['credentialID'],
    unique: [['credentialID']],
    index: ['userId'],
    owned: true,
  },
]

const typesOfFields = { string: 'key', text: 'text', number: 'number', boolean: 'boolean' } as const

/** The tables with the columns that a host declares. */
export function wantedWith(fields: AdditionalFields): readonly WantedTable[] {
  const own = Object.entries(fields).map(([field, { type, default: value }]) => ({
    field,
    type: typesOfFields[type],
    ...(value !== undefined && { default: value }),
  }))
  return wantedTables.map((table) => (table.kind === 'users' ? { ...table, columns: [...table.columns, ...own] } : table))
}

// Keys on MySQL are compared by bytes, trailing spaces included; the collation for that has a name of its own in MariaDB.
const types: Readonly<Record<DialectName, Readonly<Record<ColumnType, string>>>> = {
  postgres: { key: 'text', 'long-key': 'text', text: 'text', date: 'timestamptz(3)', number: 'bigint', boolean: 'boolean' },
  mysql: {
    key: 'varchar(255) character set utf8mb4 collate {binary}',
    'long-key': 'varchar(764) character set utf8mb4 collate {binary}',
    text: 'mediumtext character set utf8mb4',
    date: 'datetime(3)',
    number: 'bigint',
    boolean: 'boolean',
  },
  sqlite: { key: 'text', 'long-key': 'text', text: 'text', date: 'text', number: 'integer', boolean: 'integer' },
}
const generators: Readonly<Record<DialectName, string>> = {
  postgres: 'gen_random_uuid()::text',
  mysql: '(uuid())',
  sqlite: '(lower(hex(randomblob(16))))',
}

/** Type of a column in a dialect. */
export function sqlTypeOf(dialect: DialectName, type: ColumnType, binaryCollation: string): string {
  return types[dialect][type].replace('{binary}', binaryCollation)
}

/** Default of an `id`. */
export function generatorOf(dialect: DialectName): string {
  return generators[dialect]
}

/** A collation that compares bytes and keeps trailing spaces; MySQL and MariaDB name it differently. */
export async function binaryCollation(db: Kysely<AnyDatabase>): Promise<string> {
  const { rows } = await sql<{ v: string }>`select version() as v`.execute(db)
  return /mariadb/i.test(rows[0]?.v ?? '') ? 'utf8mb4_nopad_bin' : 'utf8mb4_0900_bin'
}
