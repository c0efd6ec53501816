/** Shapes of the SQL adapter: what it takes, and what it knows of a database. */
import type { Expression, Kysely, RawBuilder, Transaction } from 'kysely'

/**
 * Any `Kysely` instance. Structural, so that `Kysely<Database>` of every `Database` fits and types of the host's copy of Kysely do.
 */
export interface SqlDatabase {
  readonly schema: object
  readonly introspection: object
  transaction(): object
  getExecutor(): object
  destroy(): Promise<void>
}

/** Tables by what they hold. */
export type TableName = 'users' | 'accounts' | 'sessions' | 'tokens' | 'authenticators'
/** Dialects of Kysely that are known here. */
export type DialectName = 'postgres' | 'mysql' | 'sqlite'
/** A table that another product made, or a host. */
export interface SqlMapping {
  table?: string
  /** Columns by field; what is not named is found by itself. */
  columns?: Readonly<Record<string, string>>
  /** Fields that the column holds in another form. */
  forms?: Readonly<Record<string, Form>>
  /** For new rows: values of required columns that are not fields of authkernel. */
  fill?: Readonly<Record<string, () => unknown>>
  /** Fields without a column, made of the other fields of a row. `migrate` adds no column for them. */
  absent?: Readonly<Record<string, (row: Readonly<Record<string, unknown>>) => unknown>>
}
/** Names of a host's own tables and columns; what is not named is found by itself (see `docs/plugins/sql.md`). */
export type SqlNames = {
  [T in TableName]?: string | SqlMapping
} & {
  /** Tables of plugins' records, by the name of the record; default `auth_<record>` in snake case. */
  records?: Readonly<Record<string, string>>
}

export type AnyDatabase = Record<string, Record<string, unknown>>
export type Db = Kysely<AnyDatabase> | Transaction<AnyDatabase>
export type Sql = RawBuilder<unknown>
export type SqlExpression = Expression<unknown>

/** How a column holds its values. */
export type Kind =
  | 'text'
  | 'number'
  | 'boolean'
  | 'json'
  | 'other'
  /** PostgreSQL `timestamp` (UTC) and `timestamptz`. */
  | 'pg-date'
  /** MySQL `datetime`: UTC. */
  | 'mysql-datetime'
  /** MySQL `timestamp`: converted by the session's time zone. */
  | 'mysql-timestamp'
  /** Milliseconds in an integer column. */
  | 'ms'
  /** Milliseconds as digits in a varchar column, as `@auth/typeorm-adapter` has them. */
  | 'ms-text'
  /** ISO 8601 text. */
  | 'iso'

/** A column of a known table. */
export interface Column {
  field: string
  name: string
  kind: Kind
  /** As the database calls the type, in lower case. */
  type: string
  nullable: boolean
  /** Filled by the database when left out. */
  filled: boolean
  form?: Form | undefined
}
/** Fields that the database keeps unique together. */
export interface UniqueIndex extends ReadonlyArray<string> {
  /** Of the index. */
  readonly name?: string
}
/** A table as it is. */
export interface Table {
  kind: TableName
  name: string
  schema: string | undefined
  columns: ReadonlyMap<string, Column>
  /** Unique indexes and primary keys, as lists of fields. */
  unique: readonly UniqueIndex[]
  /** Of a table that is not laid out as ours. */
  mapping?: SqlMapping | undefined
  /** Fields that some index begins with. */
  indexed: ReadonlySet<string>
  /** Whether each row has its `ctid`, by which PostgreSQL finds it without an index. */
  placed: boolean
}
/** What was found. */
export type Layout = Partial<Record<TableName, Table>>

/**
 * How a column holds its field. `flag`: whether there is a date, as a boolean. `instant`: seconds, as a date. `blank`: no text, as ''.
 * `base64url`: bytes in that alphabet. `address`: no address, as one below `no-address.invalid` that differs in each row (RFC 2606).
 */
export type Form = 'flag' | 'instant' | 'blank' | 'base64url' | 'address'
