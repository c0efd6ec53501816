/** Statements over a table whose names were found. */
import { sql } from 'kysely'
import type { Database, Runner } from './database.ts'
import { exactly, isUnstorable } from './dialect.ts'
import type { Sql, SqlExpression, Table } from './types.ts'
import { columnOf, nameOf, ref } from './refs.ts'
import { decode, reading, writing } from './values.ts'

/** Field and value pairs that select rows. */
export type Match = Readonly<Record<string, unknown>>

/** Columns to read, under their field names behind a prefix. */
export function selection(table: Table, alias?: string, prefix = ''): SqlExpression {
  const parts = [...table.columns.values()].map(
    (column) => sql`${reading(column, ref(table, column.field, alias))} as ${sql.id(prefix + column.field)}`,
  )
  return sql.join(parts)
}

/** A read row as a record. */
export function toRecord<T>(table: Table, row: unknown, prefix = ''): T {
  const result: Record<string, unknown> = {}
  for (const column of table.columns.values()) {
    const value = decode(column, (row as Record<string, unknown>)[prefix + column.field])
    // A column of ours: who knows nothing of it reads back what they wrote.
    if (value !== null || column.field !== 'createdAt') result[column.field] = value
  }
  return result as T
}

/** `a = 1 and b = 2`, exactly. */
export function matching({ dialect }: Database, table: Table, match: Match, alias?: string): SqlExpression {
  const conditions = Object.entries(match).map(([field, value]) => exactly(dialect, ref(table, field, alias), value))
  return sql.join(conditions, sql` and `)
}

// PostgreSQL refuses to compare with what such a column cannot hold.
const largest: Readonly<Record<string, number>> = { int2: 32_767, int4: 2_147_483_647 }

/** Whether a row of these keys could exist: bad input is unknown, not an error of the database. */
export function possible(table: Table, match: Match): boolean {
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

/** Rows that match. */
export async function find<T>(database: Database, db: Runner, table: Table, match: Match, end: SqlExpression = sql``): Promise<T[]> {
  if (!possible(table, match)) return []
  const query = sql`select ${selection(table)} from ${nameOf(table)} where ${matching(database, table, match)} ${end}`
  const { rows } = await query.execute(db)
  return rows.map((row) => toRecord<T>(table, row))
}

/** Names and values of the fields that the table has; other fields are left out. */
function values({ dialect }: Database, table: Table, record: object): { columns: Sql[]; expressions: SqlExpression[] } {
  const row: Record<string, unknown> = { ...record }
  const id = table.columns.get('id')
  // Prisma, TypeORM and Sequelize make ids of accounts and sessions in the program.
  if (id && row.id === undefined && !id.filled) row.id = crypto.randomUUID()
  // A serial id is the database's to give.
  if (id && id.filled && !possible(table, { id: row.id ?? null })) delete row.id
  const fields = Object.keys(row).filter((field) => row[field] !== undefined && table.columns.has(field))
  return {
    columns: fields.map((field) => ref(table, field)),
    expressions: fields.map((field) => writing(dialect, columnOf(table, field), row[field])),
  }
}

/** Inserts a row and returns it as stored. `match` finds it where the dialect has no RETURNING. */
export async function insert<T>(database: Database, db: Runner, table: Table, record: object, match: Match): Promise<T> {
  const { columns, expressions } = values(database, table, record)
  const query = sql`insert into ${nameOf(table)} (${sql.join(columns)}) values (${sql.join(expressions)})`
  if (returns(database)) {
    const { rows } = await sql`${query} returning ${selection(table)}`.execute(db)
    return toRecord<T>(table, rows[0])
  }
  const { insertId } = await query.execute(db)
  const serial = table.columns.get('id')?.filled && insertId !== undefined && insertId > 0n
  const [row] = await find<T>(database, db, table, serial ? { id: String(insertId) } : match)
  // A link or a mark may be used up before it is read again.
  if (!row && table.kind === 'tokens') return record as T
  if (!row) throw new Error(`[sql] A row that was inserted into ${table.name} is not there.`)
  return row
}

/**
 * Inserts a row that belongs to a user, or throws when the user is not there. One statement, which locks the user's row: who is deleted
 * at that moment leaves nothing behind, also where no foreign key says so.
 */
export async function insertOwned(database: Database, db: Runner, table: Table, users: Table, record: { userId: string }): Promise<void> {
  const owner = { id: record.userId }
  if (possible(users, owner)) {
    const { columns, expressions } = values(database, table, record)
    const lock = { postgres: sql`for key share`, mysql: sql`lock in share mode`, sqlite: sql`` }[database.dialect]
    const query = sql`insert into ${nameOf(table)} (${sql.join(columns)}) select ${sql.join(expressions)} from ${nameOf(users)}
      where ${matching(database, users, owner)} ${lock}`
    if ((await affected(database, db, query)) > 0) return
  }
  throw new Error(`[sql] The row for ${table.name} was not stored: no user has the id it names.`)
}

/** Changes the named fields of matching rows and tells how many there are. */
export async function update(
  database: Database,
  db: Runner,
  table: Table,
  match: Match,
  change: object,
  guard: SqlExpression = sql``,
): Promise<number> {
  if (!possible(table, match)) return 0
  const fields = Object.entries(change).filter(([field, value]) => value !== undefined && table.columns.has(field) && !(field in match))
  if (fields.length === 0) return (await find(database, db, table, match)).length
  const sets = fields.map(([field, value]) => sql`${ref(table, field)} = ${writing(database.dialect, columnOf(table, field), value)}`)
  const query = sql`update ${nameOf(table)} set ${sql.join(sets)} where ${matching(database, table, match)} ${guard}`
  return affected(database, db, query)
}

/** Deletes the row that matches and returns it, to one of several callers. */
export async function take<T>(database: Database, db: Runner, table: Table, match: Match): Promise<T | null> {
  if (!possible(table, match)) return null
  const query = sql`delete from ${nameOf(table)} where ${matching(database, table, match)}`
  if (returns(database)) {
    const { rows } = await sql`${query} returning ${selection(table)}`.execute(db)
    return rows[0] ? toRecord<T>(table, rows[0]) : null
  }
  // Many may read the row; the server counts it as deleted for one of them.
  const [row] = await find<T>(database, db, table, match)
  return row && (await affected(database, db, query)) > 0 ? row : null
}

/** Deletes all rows that match. */
export async function remove(database: Database, db: Runner, table: Table, match: Match, guard: SqlExpression = sql``): Promise<void> {
  if (!possible(table, match)) return
  await sql`delete from ${nameOf(table)} where ${matching(database, table, match)} ${guard}`.execute(db)
}

/** Rows that a statement touched. Drivers count in different ways, so rows are returned where that is possible. */
export async function affected(database: Database, db: Runner, query: Sql): Promise<number> {
  if (returns(database)) return (await sql`${query} returning 1 as one`.execute(db)).rows.length
  return Number((await query.execute(db)).numAffectedRows ?? 0n)
}

function returns({ dialect }: Database): boolean {
  return dialect !== 'mysql'
}
