/** Statements over a table whose names were found. */
import { type QueryResult, sql } from 'kysely'
import type { Database, Runner } from './database.ts'
import { compareExactly, isUnstorable } from './dialect.ts'
import { columnOf, columnRef, Slot, tableRef, type Values } from './statements.ts'
import type { DialectName, Sql, SqlExpression, Table } from './types.ts'
import { selectColumns, toColumn, toRecord, writeExpression } from './values.ts'

/** Field and value pairs that select rows. */
type Match = Values

/** Rows that match, locked until the end of the transaction where `lock` says so. SQLite has one writer: nothing to lock. */
export async function findRows<T>(database: Database, db: Runner, table: Table, match: Match, lock = false): Promise<T[]> {
  if (!canExist(table, match)) return []
  const fields = Object.keys(match)
  const end = lock && database.dialect !== 'sqlite' ? sql` for update` : sql``
  const { rows } = await database.run(
    db,
    table,
    `find ${fields.join()} ${lock}`,
    () => sql`select ${selectColumns(table)} from ${tableRef(table)} where ${matchFields(database, table, fields)}${end}`,
    match,
  )
  return rows.map((row) => toRecord<T>(table, row))
}

/** Rows whose field has one of these values. */
export async function findMany<T>(database: Database, db: Runner, table: Table, field: string, values: readonly string[]): Promise<T[]> {
  const found: T[] = []
  for (const list of listBatches(field, values)) {
    const build = (): Sql =>
      sql`select ${selectColumns(table)} from ${tableRef(table)} where ${columnRef(table, field)} in (${listSlots(field)})`
    const { rows } = await database.run(db, table, `many find ${field}`, build, list)
    for (const row of rows) found.push(toRecord<T>(table, row))
  }
  // A collation may take others for them.
  return found.filter((row) => values.includes(String((row as Record<string, unknown>)[field])))
}

/** Inserts a row and returns it as stored. `match` finds it where the dialect has no RETURNING. */
export async function insertRow<T>(database: Database, db: Runner, table: Table, record: object, match: Match): Promise<T> {
  const { fields, row } = valuesOf(table, record)
  const { rows, insertId } = await database.run(
    db,
    table,
    `insert ${fields.join()}`,
    () => {
      const { head, values } = insertInto(database, table, fields)
      return sql`${head} values (${values})${hasReturning(database) ? sql` returning ${selectColumns(table)}` : sql``}`
    },
    row,
  )
  if (hasReturning(database)) return toRecord<T>(table, rows[0])
  const serial = table.columns.get('id')?.filled && insertId !== undefined && insertId > 0n
  const [found] = await findRows<T>(database, db, table, serial ? { id: String(insertId) } : match)
  // A link may be used up before it is read again.
  if (!found && table.kind === 'tokens') return record as T
  if (!found) throw new Error(`[sql] A row that was inserted into ${table.name} is not there.`)
  return found
}

/**
 * Inserts a row that belongs to a user, or throws when the user is not there. One statement, which locks the user's row: who is deleted
 * at that moment leaves nothing behind, also where no foreign key says so.
 */
export async function insertOwned(database: Database, db: Runner, table: Table, users: Table, record: { userId: string }): Promise<void> {
  if (canExist(users, { id: record.userId })) {
    const { fields, row } = valuesOf(table, record)
    const result = await database.run(
      db,
      table,
      `insert owned ${fields.join()}`,
      () => {
        const { head, values } = insertInto(database, table, fields)
        const lock = { postgres: sql`for key share`, mysql: sql`lock in share mode`, sqlite: sql`` }[database.dialect]
        return countingQuery(
          database,
          sql`${head} select ${values} from ${tableRef(users)} where ${matchFields(database, users, ['id'], undefined, 'owner.')} ${lock}`,
        )
      },
      { ...row, 'owner.id': record.userId },
    )
    if (countAffectedRows(database, result) > 0) return
  }
  throw new Error(`[sql] The row for ${table.name} was not stored: no user has the id it names.`)
}

/** A condition beside a match; its values are among those that are given. */
interface Guard {
  /** Tells statements apart. */
  key: string
  /** Begins with `and`. */
  sql: () => SqlExpression
  values?: Values
}

/** Changes the named fields of matching rows and tells how many there are. */
export async function updateRows(
  database: Database,
  db: Runner,
  table: Table,
  match: Match,
  change: object,
  guard?: Guard,
): Promise<number> {
  if (!canExist(table, match)) return 0
  const values = change as Record<string, unknown>
  const fields = Object.keys(values).filter((field) => values[field] !== undefined && table.columns.has(field) && !(field in match))
  if (fields.length === 0) return (await findRows(database, db, table, match)).length
  return rewriteRows(database, db, table, match, fields, values, guard)
}

/** Changes these fields, those of the match included. */
export async function rewriteRows(
  database: Database,
  db: Runner,
  table: Table,
  match: Match,
  fields: readonly string[],
  given: Values,
  guard?: Guard,
): Promise<number> {
  const keys = Object.keys(match)
  const set = Object.fromEntries(fields.map((field) => [`set.${field}`, given[field]]))
  const result = await database.run(
    db,
    table,
    `update ${keys.join()} ${fields.join()} ${guard?.key}`,
    () => {
      const sets = fields.map(
        (field) => sql`${columnRef(table, field)} = ${writeExpression(database.dialect, columnOf(table, field), `set.${field}`)}`,
      )
      return countingQuery(
        database,
        sql`update ${tableRef(table)} set ${sql.join(sets)} where ${matchFields(database, table, keys)} ${guard?.sql() ?? sql``}`,
      )
    },
    { ...match, ...set, ...guard?.values },
  )
  return countAffectedRows(database, result)
}

/** Deletes the row that matches and returns it, to one of several callers. */
export async function takeRow<T>(database: Database, db: Runner, table: Table, match: Match): Promise<T | null> {
  if (!canExist(table, match)) return null
  const fields = Object.keys(match)
  const query = (): Sql => sql`delete from ${tableRef(table)} where ${matchFields(database, table, fields)}`
  if (hasReturning(database)) {
    const returning = (): Sql => sql`${query()} returning ${selectColumns(table)}`
    const { rows } = await database.run(db, table, `take ${fields.join()}`, returning, match)
    return rows[0] ? toRecord<T>(table, rows[0]) : null
  }
  // Many may read the row; the server counts it as deleted for one of them.
  const [row] = await findRows<T>(database, db, table, match)
  if (!row) return null
  const deleted = await database.run(db, table, `delete ${fields.join()}`, query, match)
  return countAffectedRows(database, deleted) > 0 ? row : null
}

/** Deletes all rows that match and tells how many there were, by the driver's count. */
export async function removeRows(database: Database, db: Runner, table: Table, match: Match, guard?: Guard): Promise<number> {
  if (!canExist(table, match)) return 0
  const fields = Object.keys(match)
  const { numAffectedRows } = await database.run(
    db,
    table,
    `delete ${fields.join()} ${guard?.key}`,
    () => sql`delete from ${tableRef(table)} where ${matchFields(database, table, fields)} ${guard?.sql() ?? sql``}`,
    { ...match, ...guard?.values },
  )
  return Number(numAffectedRows ?? 0n)
}

/** `a = 1 and b = 2`, exactly; each value is named like its field behind a prefix. */
export function matchFields({ dialect }: Database, table: Table, fields: readonly string[], alias?: string, prefix = ''): SqlExpression {
  const conditions = fields.map((field) => {
    const { form } = columnOf(table, field)
    const slot = new Slot(prefix + field, form && ((value) => toColumn(form, value)))
    return compareExactly(dialect, columnRef(table, field, alias), slot)
  })
  return sql.join(conditions, sql` and `)
}

// PostgreSQL refuses to compare with what such a column cannot hold.
const largest: Readonly<Record<string, number>> = { int2: 32_767, int4: 2_147_483_647 }

/** Whether a row of these keys could exist: bad input is unknown, not an error of the database. */
export function canExist(table: Table, match: Match): boolean {
  return Object.entries(match).every(([field, value]) => {
    if (isUnstorable(value)) return false
    const { type } = columnOf(table, field)
    if (/^(int|bigint|smallint|serial|integer|mediumint)/.test(type)) {
      return /^(?:0|-?[1-9]\d{0,14})$/.test(String(value)) && Math.abs(Number(value)) <= (largest[type] ?? Number.MAX_SAFE_INTEGER)
    }
    if (type === 'uuid') return /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i.test(String(value))
    return true
  })
}

/** Fields that the table has, with what the program must make. */
export function valuesOf(table: Table, record: object): { fields: string[]; row: Values } {
  const row: Record<string, unknown> = { ...record }
  const id = table.columns.get('id')
  // Prisma, TypeORM and Sequelize make ids of accounts and sessions in the program.
  if (id && row.id === undefined && !id.filled) row.id = crypto.randomUUID()
  // A serial id is the database's to give.
  if (id && id.filled && !canExist(table, { id: row.id ?? null })) delete row.id
  for (const [field, make] of Object.entries(table.mapping?.fill ?? {})) row[field] ??= make()
  // No text, and no date, is written as something.
  for (const [field, { form }] of table.columns) if (form === 'flag' || form === 'blank' || form === 'address') row[field] ??= null
  return { fields: Object.keys(row).filter((field) => row[field] !== undefined && table.columns.has(field)), row }
}

/** `insert into … (…)`, and the expressions of the values; each value is named like its field behind a prefix. */
export function insertInto(
  { dialect }: Database,
  table: Table,
  fields: readonly string[],
  alias?: string,
  prefix = '',
): { head: Sql; values: SqlExpression } {
  const name = alias === undefined ? tableRef(table) : sql`${tableRef(table)} as ${sql.id(alias)}`
  return {
    head: sql`insert into ${name} (${sql.join(fields.map((field) => columnRef(table, field)))})`,
    values: sql.join(fields.map((field) => writeExpression(dialect, columnOf(table, field), prefix + field))),
  }
}

/** A statement whose rows `countOf` counts. Drivers count in different ways, so rows are returned where that is possible. */
export function countingQuery(database: Database, query: Sql): Sql {
  return hasReturning(database) ? sql`${query} returning 1 as one` : query
}

export function countAffectedRows(database: Database, { rows, numAffectedRows }: QueryResult<unknown>): number {
  return hasReturning(database) ? rows.length : Number(numAffectedRows ?? 0n)
}

function hasReturning({ dialect }: Database): boolean {
  return dialect !== 'mysql'
}

/** Rows of one statement. */
export const batchSize = 1_000

/** `(a, b) in ((1, 2), …)`, for as many rows as a batch has: one statement fits all. */
export function inList(dialect: DialectName, table: Table, fields: readonly string[], size: number = batchSize): SqlExpression {
  const places = [...Array(size).keys()].map((at) => sql.join(fields.map((field) => sql`${new Slot(`${field}.${at}`)}`)))
  const columns = sql.join(fields.map((field) => columnRef(table, field)))
  if (fields.length === 1) return sql`${columns} in (${sql.join(places)})`
  const rows = sql.join(places.map((place) => sql`(${place})`))
  return sql`(${columns}) in (${dialect === 'mysql' ? sql`` : sql`values `}${rows})`
}

/** Values for `listed`, those of the last row repeated. */
export function valuesOfList(fields: readonly string[], rows: readonly Values[], size: number = batchSize): Values {
  const values: Record<string, unknown> = {}
  for (const field of fields) {
    for (let at = 0; at < size; at++) values[`${field}.${at}`] = rows[Math.min(at, rows.length - 1)]![field]
  }
  return values
}

// Values of one statement: a list is filled up with its last value, so that one statement fits all.
const listSize = 100

/** Places for the values of a list. */
export function listSlots(name: string): SqlExpression {
  return sql.join(listPlaces(name))
}

/** The same one by one. */
export function listPlaces(name: string): SqlExpression[] {
  return [...Array(listSize).keys()].map((at) => sql`${new Slot(`${name}.${at}`)}`)
}

/** The values of a list, as many as a statement takes. */
export function* listBatches(name: string, values: readonly string[]): Generator<Values> {
  for (let from = 0; from < values.length; from += listSize) {
    const part = values.slice(from, from + listSize)
    yield Object.fromEntries([...Array(listSize).keys()].map((at) => [`${name}.${at}`, part[at] ?? part.at(-1)]))
  }
}
