/** Columns on their way out: what a statement selects, and records of what was read. */
import { sql } from 'kysely'
import { ref } from './refs.ts'
import type { SqlExpression, Table } from './types.ts'
import { decoderOf, reading } from './values.ts'

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

const own = new Set(['createdAt', 'attempt'])
const known = new WeakMap<Table, Map<string, readonly Part[]>>()

/** Columns to read, under their field names behind a prefix. */
export function selection(table: Table, alias?: string, prefix = ''): SqlExpression {
  const parts = [...table.columns.values()].map(
    (column) => sql`${reading(column, ref(table, column.field, alias))} as ${sql.id(prefix + column.field)}`,
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

function partsOf(table: Table, prefix: string): readonly Part[] {
  let byPrefix = known.get(table)
  if (!byPrefix) known.set(table, (byPrefix = new Map()))
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
