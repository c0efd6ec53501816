/** Names of tables and columns in statements, quoted by the dialect. */
import { sql } from 'kysely'
import type { Column, Sql, Table } from './types.ts'

/** A table's name in a statement. */
export function nameOf(table: Table): Sql {
  return table.schema === undefined ? sql.id(table.name) : sql.id(table.schema, table.name)
}

/** A column in a statement. */
export function ref(table: Table, field: string, alias?: string): Sql {
  const { name } = columnOf(table, field)
  return alias === undefined ? sql.id(name) : sql.id(alias, name)
}

/** A column by its field. */
export function columnOf(table: Table, field: string): Column {
  const column = table.columns.get(field)
  if (!column) throw new Error(`[sql] The table ${table.name} has no column for ${field}.`)
  return column
}
