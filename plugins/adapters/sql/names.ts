/** Fields of each table, and the names that Auth.js and its published adapters give to tables and columns. */
import type { SqlMapping, SqlNames, TableName } from './types.ts'

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
export function candidates(table: TableName, names: SqlNames): readonly string[] {
  const given = names[table]
  const name = typeof given === 'string' ? given : given?.table
  return name === undefined ? tableNames[table] : [name]
}

/** The field that a column holds. Columns of the host's own have their own name. */
export function fieldOf(table: TableName, column: string, names: SqlNames): string {
  const given = names[table]
  const columns: Readonly<Record<string, string>> = typeof given === 'object' ? (given.columns ?? {}) : {}
  const mapped = Object.entries(columns).find(([, name]) => name === column)
  if (mapped) return mapped[0]
  const known = [...requiredFields[table], ...optionalFields[table]].filter((field) => columns[field] === undefined)
  // Sequelize and hand-made schemas write user_id for userId; MySQL and SQLite do not tell cases apart.
  return known.find((field) => field === column) ?? known.find((field) => bare(field) === bare(column)) ?? column
}

/** What is told of a table beside its name. */
export function mappingOf(table: TableName, names: SqlNames): SqlMapping | undefined {
  const given = names[table]
  return typeof given === 'object' ? given : undefined
}

/** The column name of a field in a table that is to be made. */
export function columnOf(table: TableName, field: string, names: SqlNames): string {
  const given = names[table]
  return (typeof given === 'object' ? given.columns?.[field] : undefined) ?? field
}

function bare(name: string): string {
  return name.replaceAll('_', '').toLowerCase()
}
