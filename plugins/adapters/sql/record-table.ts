/** Tables of plugins' records: what they and their columns are called, and how values go in and out. Names are public, and stay. */
import type { StoredField, StoredTable, StoredValue } from 'authkernel/kernel'
import { sql } from 'kysely'
import { Slot } from './statements.ts'
import type { DialectName, Sql, SqlExpression, SqlNames } from './types.ts'

/** A declared record as a table. */
export interface RecordTable {
  readonly stored: StoredTable
  readonly name: string
  readonly schema: string | undefined
  readonly dialect: DialectName
  readonly columns: ReadonlyMap<string, RecordColumn>
}
export interface RecordColumn {
  readonly field: string
  readonly name: string
  readonly type: StoredField['type']
  readonly optional: boolean
}

// PostgreSQL cuts longer names, and then two may be one.
const longest = 60

/** `auth_<record>`, unless `names.records` says otherwise; columns in snake case. */
export function recordTable(stored: StoredTable, dialect: DialectName, names: SqlNames, schema: string | undefined): RecordTable {
  const text = { type: 'string', optional: false } as const
  const columns = [
    { ...text, field: 'ns', name: 'ns' },
    { ...text, field: 'id', name: 'id' },
    ...stored.fields.map(({ name, type, optional }) => ({ field: name, name: shortName(snakeCase(name)), type, optional })),
  ]
  return {
    stored,
    name: names.records?.[stored.name] ?? shortName(`auth_${snakeCase(stored.name)}`),
    schema: dialect === 'postgres' ? schema : undefined,
    dialect,
    columns: new Map(columns.map((column) => [column.field, column])),
  }
}

/** The table's name in a statement. */
export function tableName({ name, schema }: RecordTable): Sql {
  return schema === undefined ? sql.id(name) : sql.id(schema, name)
}

/** A column's name in a statement. */
export function columnName(table: RecordTable, field: string): Sql {
  return sql.id(columnOf(table, field).name)
}

export function columnOf({ columns, stored }: RecordTable, field: string): RecordColumn {
  const found = columns.get(field)
  if (!found) throw new Error(`[sql] The record "${stored.name}" has no field "${field}".`)
  return found
}

/** The place of a value of that field, which is given under that name. */
export function valueSlot(table: RecordTable, field: string, name: string): SqlExpression {
  const { type } = columnOf(table, field)
  return sql`${new Slot(name, (value) => encodeValue(table.dialect, type, value as StoredValue))}`
}

/** All columns, under their field names, in a form that means the same everywhere. */
export function columnsToRead(table: RecordTable): SqlExpression {
  return sql.join(
    [...table.columns.values()].map(({ field, name, type }) => {
      const read = type === 'date' ? readDate(table.dialect, sql.id(name)) : sql.id(name)
      return sql`${read} as ${sql.id(field)}`
    }),
  )
}

/** A read row as the kernel gave it. */
export function toRow(table: RecordTable, read: unknown): Record<string, StoredValue> & { ns: string; id: string } {
  const row: Record<string, StoredValue> = {}
  for (const { field, type } of table.columns.values()) row[field] = decodeValue(type, (read as Record<string, unknown>)[field] ?? null)
  return row as Record<string, StoredValue> & { ns: string; id: string }
}

/** The value of a default as text of a statement. */
export function literalOf(dialect: DialectName, { type }: RecordColumn, value: StoredValue): string {
  const encoded = encodeValue(dialect, type, value)
  return typeof encoded === 'string'
    ? `'${encoded.replaceAll("'", "''").replaceAll('\\', dialect === 'mysql' ? '\\\\' : '\\')}'`
    : String(encoded)
}

/** Names of tables, columns and indexes that a database takes whole. */
export function shortName(name: string): string {
  if (name.length <= longest) return name
  // FNV-1a: a name, nothing secret.
  let hash = 0x811c9dc5
  for (const letter of name) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193) >>> 0
  return `${name.slice(0, longest - 9)}_${hash.toString(16).padStart(8, '0')}`
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function readDate(dialect: DialectName, ref: Sql): Sql {
  if (dialect === 'postgres') return sql`extract(epoch from ${ref}) * 1000`
  return dialect === 'mysql' ? sql`cast(${ref} as char)` : ref
}

function encodeValue(dialect: DialectName, type: StoredField['type'], value: StoredValue | undefined): unknown {
  if (value === null || value === undefined) return null
  if (type === 'boolean') return dialect === 'postgres' ? value : value === true ? 1 : 0
  if (type !== 'date') return value
  const iso = (value as Date).toISOString()
  return dialect === 'mysql' ? iso.replace('T', ' ').replace('Z', '') : iso
}

function decodeValue(type: StoredField['type'], value: unknown): StoredValue {
  if (value === null) return null
  if (type === 'integer') return Number(value)
  if (type === 'boolean') return value === true || value === 't' || value === 'true' || Number(value) === 1
  if (type !== 'date') return String(value)
  if (value instanceof Date) return value
  const text = String(value)
  return new Date(/^-?[\d.]+$/.test(text) ? Math.round(Number(text)) : `${text.replace(' ', 'T').replace(/Z$/, '')}Z`)
}

/** No such table or column: of the record, not of a trigger behind it. PostgreSQL: 42P01, 42703. MySQL: 1146, 1054. SQLite says it in words. */
export function isMissingTable({ name, columns }: RecordTable, error: unknown): boolean {
  const { code, errno, message } = error as { code?: unknown; errno?: unknown; message?: unknown }
  const text = String(message)
  const absent =
    code === '42P01' || code === '42703' || errno === 1146 || errno === 1054 || /no such (table|column)|has no column named/i.test(text)
  return absent && (text.includes(name) || [...columns.values()].some((each) => new RegExp(`\\b${each.name}\\b`).test(text)))
}

export function missingTableError({ name, stored }: RecordTable, cause: unknown): Error {
  return new Error(
    `[sql] The table ${name} of the record "${stored.name}" is missing, or lacks a column. Run \`npx authkernel migrate --apply\`.`,
    { cause },
  )
}
