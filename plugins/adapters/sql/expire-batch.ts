/** What the batches of `deleteExpired` have in common: their size, the keys of their rows, lists of values. */
import { sql } from 'kysely'
import { ref } from './refs.ts'
import { Slot } from './statements.ts'
import type { DialectName, SqlExpression, Table, UniqueIndex } from './types.ts'

/** Rows of one statement. */
export const batchSize = 1_000

export type Row = Record<string, unknown>

/** Where the next batch begins, and the identifiers of the rows that this one deleted. */
export interface Batch {
  deleted: readonly unknown[]
  /** Undefined: there is nothing left. */
  next: Readonly<Record<string, unknown>> | undefined
}

/** Fields that tell rows apart: what the database itself keeps unique, where there is something. */
export function keyOf(table: Table): UniqueIndex {
  const natural = table.kind === 'sessions' ? ['sessionToken'] : ['identifier', 'token']
  const unique = (fields: readonly string[]): UniqueIndex | undefined =>
    table.unique.find((list) => list.every((field) => fields.includes(field)))
  return unique(natural) ?? unique(['id']) ?? natural
}

/** The field that tells what a deleted row was. */
export function labelOf(table: Table): string {
  return table.kind === 'sessions' ? 'sessionToken' : 'identifier'
}

/** `(a, b) in ((1, 2), …)`, for as many rows as a batch has: one statement fits all. */
export function listed(dialect: DialectName, table: Table, fields: readonly string[], size: number = batchSize): SqlExpression {
  const places = [...Array(size).keys()].map((at) => sql.join(fields.map((field) => sql`${new Slot(`${field}.${at}`)}`)))
  const columns = sql.join(fields.map((field) => ref(table, field)))
  if (fields.length === 1) return sql`${columns} in (${sql.join(places)})`
  const rows = sql.join(places.map((place) => sql`(${place})`))
  return sql`(${columns}) in (${dialect === 'mysql' ? sql`` : sql`values `}${rows})`
}

/** Values for `listed`, those of the last row repeated. */
export function listValues(fields: readonly string[], rows: readonly Row[], size: number = batchSize): Row {
  const values: Row = {}
  for (const field of fields) {
    for (let at = 0; at < size; at++) values[`${field}.${at}`] = rows[Math.min(at, rows.length - 1)]![field]
  }
  return values
}
