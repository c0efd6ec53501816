/** Values on their way into columns and back: dates in UTC whatever the column and the time zones of process and server. */
import { fromBase64, toBase64, toBase64Url } from 'authkernel/kernel'
import { isDate } from 'authkernel/kernel/stores'
import { sql } from 'kysely'
import { columnRef, Slot } from './statements.ts'
import type { Column, DialectName, Form, Kind, SqlExpression, Table } from './types.ts'

const dates = new Set(['emailVerified', 'expires', 'createdAt'])
const numbers = new Set(['expires_at', 'counter'])
const ids = new Set(['id', 'userId'])
const own = new Set(['createdAt', 'attempt'])
const partsByTable = new WeakMap<Table, Map<string, readonly Part[]>>()

/** How a column of that field and type holds values. */
export function columnKind(dialect: DialectName, field: string, type: string, form?: Form): Kind {
  if (form === 'flag') return 'boolean'
  if (dates.has(field) || form === 'instant') {
    if (dialect === 'postgres' && /^(timestamp|date)/.test(type)) return 'pg-date'
    if (dialect === 'mysql' && /^timestamp/.test(type)) return 'mysql-timestamp'
    if (dialect === 'mysql' && /^date/.test(type)) return 'mysql-datetime'
    if (/int|numeric|decimal|^real|^double|^float/.test(type)) return 'ms'
    return /varchar|character varying|bpchar/.test(type) ? 'ms-text' : 'iso'
  }
  if (field === 'credentialBackedUp') return 'boolean'
  if (numbers.has(field)) return 'number'
  if (/json/.test(type)) return 'json'
  return ids.has(field) || /char|text|uuid/.test(type) ? 'text' : 'other'
}

/** Columns to read, under their field names behind a prefix. */
export function selectColumns(table: Table, alias?: string, prefix = ''): SqlExpression {
  const parts = [...table.columns.values()].map(
    (column) => sql`${readExpression(column, columnRef(table, column.field, alias))} as ${sql.id(prefix + column.field)}`,
  )
  return sql.join(parts)
}

/** A read row as a record. */
export function toRecord<T>(table: Table, row: unknown, prefix = ''): T {
  const record: Row = {}
  for (const { field, name, decode, own } of partsOf(table, prefix)) {
    const read = (row as Row)[name] ?? null
    const value = decode ? decode(read) : read
    if (value !== null || !own) record[field] = value
  }
  for (const [field, make] of Object.entries(table.mapping?.absent ?? {})) record[field] = make(record)
  return record as T
}

/** The expression that writes the value of that name into a column. */
export function writeExpression(dialect: DialectName, column: Column, name: string): SqlExpression {
  const slot = new Slot(name, (given) => {
    const value = column.form ? toColumn(column.form, given) : given
    return value === null || value === undefined ? null : encodeValue(dialect, column, value)
  })
  return column.kind === 'mysql-timestamp' ? sql`from_unixtime(${slot})` : sql`${slot}`
}

/** The expression that reads a column in a form that means the same everywhere. */
export function readExpression({ kind }: Column, ref: SqlExpression): SqlExpression {
  if (kind === 'pg-date') return sql`extract(epoch from ${ref}) * 1000`
  if (kind === 'mysql-timestamp') return sql`unix_timestamp(${ref}) * 1000`
  if (kind === 'mysql-datetime') return sql`cast(${ref} as char)`
  return ref
}

// A name that no mail server has.
const noAddress = '@no-address.invalid'

/** What is written for a value of the field. */
export function toColumn(form: Form, value: unknown): unknown {
  if (form === 'flag') return value !== null && value !== undefined && value !== false
  if (form === 'blank') return value ?? ''
  if (form === 'address') return value ?? `${crypto.randomUUID()}${noAddress}`
  if (value === null || value === undefined) return null
  return form === 'instant' ? new Date(Number(value) * 1000) : toBase64Url(fromBase64(String(value)))
}

/** What turns a read value into what it stands for; undefined where that is the same. Throws when it is nonsense, naming the column. */
export function decoderOf(column: Column): ((value: unknown) => unknown) | undefined {
  const { form } = column
  const decode = plainDecoderOf(column)
  if (!form) return decode
  return (value) => toField(form, decode && value !== null ? decode(value) : value)
}

type Row = Record<string, unknown>

/** A column in the answer of a statement. */
interface Part {
  field: string
  /** Under which it is read. */
  name: string
  decode: ((value: unknown) => unknown) | undefined
  /** Of ours: who knows nothing of it reads back what they wrote. */
  own: boolean
}

function partsOf(table: Table, prefix: string): readonly Part[] {
  let byPrefix = partsByTable.get(table)
  if (!byPrefix) partsByTable.set(table, (byPrefix = new Map()))
  let parts = byPrefix.get(prefix)
  if (!parts) {
    parts = [...table.columns.values()].map((column) => ({
      field: column.field,
      name: prefix + column.field,
      decode: decoderOf(column),
      own: own.has(column.field),
    }))
    byPrefix.set(prefix, parts)
  }
  return parts
}

/** What was read, as the field has it. The moment of a flag is not known: it is the beginning of time. */
function toField(form: Form, value: unknown): unknown {
  if (value === null) return null
  if (form === 'flag') return value === true ? new Date(0) : null
  if (form === 'blank') return value === '' ? null : value
  if (form === 'address') return String(value).endsWith(noAddress) ? null : value
  if (form === 'instant') return isDate(value) ? Math.floor(value.getTime() / 1000) : null
  try {
    return toBase64(fromBase64(String(value)))
  } catch {
    return value
  }
}

function encodeValue(dialect: DialectName, { kind, type }: Column, value: unknown): unknown {
  switch (kind) {
    case 'mysql-timestamp':
      return toTime(value) / 1000
    case 'pg-date':
    case 'iso':
      return new Date(toTime(value)).toISOString()
    case 'mysql-datetime':
      return new Date(toTime(value)).toISOString().replace('T', ' ').replace('Z', '')
    case 'ms':
      return toTime(value)
    case 'ms-text':
      return String(toTime(value))
    case 'boolean':
      return dialect === 'postgres' && type.startsWith('bool') ? value === true : value === true ? 1 : 0
    case 'json':
      return JSON.stringify(value)
    case 'number':
      return value
    default:
      return encodePlain(dialect, kind, value)
  }
}

// Fields of the host's own.
function encodePlain(dialect: DialectName, kind: Kind, value: unknown): unknown {
  if (isDate(value)) return dialect === 'mysql' ? new Date(value) : value.toISOString()
  if (typeof value === 'boolean' && dialect === 'sqlite') return value ? 1 : 0
  return typeof value === 'object' && kind === 'text' ? JSON.stringify(value) : value
}

function toTime(value: unknown): number {
  return new Date(value as string | number | Date).getTime()
}

function plainDecoderOf({ field, kind, name, form }: Column): ((value: unknown) => unknown) | undefined {
  if (form === 'instant' || (form === undefined && dates.has(field))) {
    return (value) => {
      if (value === null) return null
      const date = toDate(kind, value)
      if (Number.isNaN(date.getTime())) throw new Error(`[sql] The column ${name} holds a value that is not a date.`)
      return date
    }
  }
  if (kind === 'boolean') {
    return (value) => (value === null ? null : value === true || value === 't' || value === 'true' || Number(value) === 1)
  }
  if (kind === 'number') {
    return (value) => {
      if (value === null) return null
      const number = Number(value)
      if (!Number.isFinite(number)) throw new Error(`[sql] The column ${name} holds a value that is not a number.`)
      return number
    }
  }
  return ids.has(field) ? (value) => (value === null || typeof value === 'string' ? value : String(value)) : undefined
}

function toDate(kind: Kind, value: unknown): Date {
  if (kind === 'pg-date' || kind === 'mysql-timestamp') return new Date(Math.round(Number(value)))
  if (isDate(value)) return value instanceof Date ? value : new Date(value)
  if (typeof value === 'bigint') return new Date(Number(value))
  const text = String(value)
  if (/^-?\d+(\.\d+)?$/.test(text)) {
    const number = Number(text)
    // Seconds, as some schemas keep them, are below this until the year 5138; milliseconds above since 1973.
    return new Date(Math.abs(number) < 1e11 ? number * 1000 : number)
  }
  // `2026-01-02 03:04:05.678 +00:00`, with or without zone: without one it is UTC.
  const [, day, clock, zone] = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|[+-]\d\d(?::?\d\d)?)?$/.exec(text) ?? []
  if (!day || !clock) return new Date(Number.NaN)
  return new Date(`${day}T${clock}${!zone || zone === 'Z' ? 'Z' : zone.length === 3 ? `${zone}:00` : zone}`)
}
