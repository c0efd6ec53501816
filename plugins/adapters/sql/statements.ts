/** Statements that are compiled once per table and kept, and the names of tables and columns in them. */
import { type CompiledQuery, type QueryResult, sql } from 'kysely'
import type { Column, Db, Sql, SqlExpression, Table } from './types.ts'

/** A place in a statement that a value of that name is put into. */
export class Slot {
  readonly name: string
  readonly encode: (value: unknown) => unknown
  constructor(name: string, encode: (value: unknown) => unknown = (value) => value ?? null) {
    this.name = name
    this.encode = encode
  }
}

/** Values by the names of their slots. */
export type Values = Readonly<Record<string, unknown>>

/** Runs a statement over a table; `build` runs once for each `key`. */
export type Run = <Row>(runner: Db, table: object, key: string, build: () => Sql, values: Values) => Promise<QueryResult<Row>>

// A key names fields, and fields of rows come from hosts and providers: more than this many sets of them are not remembered.
const limit = 500

/** `compiled` hears of every text that will be run again. */
export function createStatements(db: Db, compiled?: (text: string) => void): Run {
  const known = new WeakMap<object, Map<string, CompiledQuery>>()
  return (runner, table, key, build, values) => {
    let statements = known.get(table)
    if (!statements) known.set(table, (statements = new Map()))
    let statement = statements.get(key)
    if (!statement) {
      statement = build().compile(db)
      if (statements.size >= limit) statements.clear()
      statements.set(key, statement)
      // The best plan for a list of values depends on the size of the table. A plan that PostgreSQL made while it was small, and keeps by the name, reads all rows.
      if (!key.startsWith('many ')) compiled?.(statement.sql)
    }
    const { query, queryId, sql, parameters } = statement
    const filled = parameters.map((value) => (value instanceof Slot ? value.encode(values[value.name]) : value))
    return runner.executeQuery({ query, queryId, sql, parameters: filled })
  }
}

/**
 * PostgreSQL alone: the row for each of these values, where `select` ends with the column that has it. Before a large table is analysed the server takes a tenant,
 * or a provider, for a few rows, and reads all of them for a list of values. A lookup for each value has one plan.
 */
export function lookUpEach(select: Sql, places: readonly SqlExpression[]): Sql {
  const wanted = sql`select distinct id from (values ${sql.join(places.map((place) => sql`(${place})`))}) as listed (id)`
  return sql`select found.* from (${wanted}) as wanted cross join lateral (${select} = wanted.id limit 1) as found`
}

/** A table's name in a statement. */
export function tableRef(table: Table): Sql {
  return table.schema === undefined ? sql.id(table.name) : sql.id(table.schema, table.name)
}

/** A column in a statement. */
export function columnRef(table: Table, field: string, alias?: string): Sql {
  const { name } = columnOf(table, field)
  return alias === undefined ? sql.id(name) : sql.id(alias, name)
}

/** A column by its field. */
export function columnOf(table: Table, field: string): Column {
  const column = table.columns.get(field)
  if (!column) throw new Error(`[sql] The table ${table.name} has no column for ${field}.`)
  return column
}
