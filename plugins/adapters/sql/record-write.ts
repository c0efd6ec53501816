/** Single writes of records. One statement where the dialect answers with the row it changed; MySQL locks the row and then writes it. */
import type { StoredKey, StoredRow, StoredValue, StoredWrite } from 'authkernel/kernel'
import { sql } from 'kysely'
import type { Database, Runner } from './database.ts'
import { type Condition, equalCondition, joinConditions, liveCondition, readRow, runOnTable } from './record-query.ts'
import { columnName, columnsToRead, type RecordTable, tableName, toRow, valueSlot } from './record-table.ts'
import { countingQuery, countAffectedRows } from './rows.ts'
import { Slot } from './statements.ts'
import type { Sql, SqlExpression } from './types.ts'

/** Where a write goes. */
interface Target {
  readonly database: Database
  readonly runner: Runner
  readonly table: RecordTable
  readonly now: number
}
type Of<Op extends StoredWrite['op']> = Extract<StoredWrite, { op: Op }>

// Rows of one insert: an import has pages of 500. SQLite and those who speak its dialect take fewer values in one statement.
const sizes = { postgres: [500, 50, 10, 1], mysql: [500, 50, 10, 1], sqlite: [50, 10, 1] } as const
// PostgreSQL counts values by 16 bits.
const maxValues = 60_000

/** What the write answers; null: its condition did not hold. Throws what the database throws for a taken key. */
export async function writeOne(target: Target, write: StoredWrite): Promise<unknown> {
  switch (write.op) {
    case 'create':
      await insertRows(target, [write.row])
      return write.row
    case 'put':
      await putRow(target, write.row)
      return write.row
    case 'update':
      return Object.keys(write.change).length === 0 ? checkRow(target, write) : updateRow(target, write)
    case 'increment':
      return incrementField(target, write)
    case 'take':
      return takeRow(target, write)
    default:
      return removeRow(target, write)
  }
}

/** Whether a write needs more than one statement of this dialect. */
export function isLong({ dialect }: RecordTable, { op }: StoredWrite): boolean {
  return dialect === 'mysql' && op !== 'create' && op !== 'delete'
}

/** Inserts rows, several by one statement. */
export async function insertRows({ database, runner, table }: Target, rows: readonly StoredRow[]): Promise<void> {
  const fields = [...table.columns.keys()]
  let at = 0
  for (const size of sizes[table.dialect]) {
    if (size * fields.length > maxValues) continue
    for (; rows.length - at >= size; at += size) {
      const values: Record<string, StoredValue> = {}
      for (let n = 0; n < size; n++) for (const field of fields) values[`${n}.${field}`] = rows[at + n]![field] ?? null
      const build = (): Sql => {
        const places = [...Array(size).keys()].map(
          (n) => sql`(${sql.join(fields.map((field) => valueSlot(table, field, `${n}.${field}`)))})`,
        )
        return sql`insert into ${tableName(table)} (${columnList(table, fields)}) values ${sql.join(places)}`
      }
      await runOnTable(database, runner, table, `insert ${size}`, build, values)
    }
  }
}

async function putRow(target: Target, row: StoredRow): Promise<void> {
  const { database, runner, table } = target
  const fields = [...table.columns.keys()].filter((field) => field !== 'ns' && field !== 'id')
  // Its upsert takes any unique key for the one that was meant.
  if (table.dialect === 'mysql' && table.stored.unique.length > 0) {
    const condition = equalCondition(table, { ns: row.ns, id: row.id }, 'key.')
    if (!(await readRow(database, runner, table, condition, true))) return insertRows(target, [row])
    if (fields.length > 0) await setFields(target, condition, Object.fromEntries(fields.map((field) => [field, row[field] ?? null])))
    return
  }
  const build = (): Sql => {
    const names = ['ns', 'id', ...fields]
    const into = sql`insert into ${tableName(table)} (${columnList(table, names)}) values (${sql.join(names.map((field) => valueSlot(table, field, field)))})`
    if (table.dialect === 'mysql') {
      const same = (fields.length > 0 ? fields : ['id']).map(
        (field) => sql`${columnName(table, field)} = values(${columnName(table, field)})`,
      )
      return sql`${into} on duplicate key update ${sql.join(same)}`
    }
    const fresh = fields.map((field) => sql`${columnName(table, field)} = ${sql.id('excluded', table.columns.get(field)!.name)}`)
    return sql`${into}
      on conflict (${columnName(table, 'ns')}, ${columnName(table, 'id')}) do ${fields.length > 0 ? sql`update set ${sql.join(fresh)}` : sql`nothing`}`
  }
  await runOnTable(database, runner, table, 'put', build, row)
}

async function checkRow({ database, runner, table, now }: Target, write: Of<'update'>): Promise<StoredRow | null> {
  return readRow(database, runner, table, writeCondition(table, write, now))
}

async function updateRow(target: Target, write: Of<'update'>): Promise<StoredRow | null> {
  const { database, runner, table, now } = target
  const condition = writeCondition(table, write, now)
  if (table.dialect !== 'mysql') return updateReturning(target, condition, write.change)
  const row = await readRow(database, runner, table, condition, true)
  if (!row) return null
  await setFields(target, equalCondition(table, { ns: write.ns, id: write.id }, 'key.'), write.change)
  return { ...row, ...write.change } as StoredRow
}

async function incrementField(target: Target, write: Of<'increment'>): Promise<number | null> {
  const { database, runner, table, now } = target
  const { field, by, min, max } = write
  const next = (): SqlExpression => sql`coalesce(${columnName(table, field)}, 0) + ${new Slot('by')}`
  const bounds: Condition = {
    key: `${min === undefined ? '' : 'min'} ${max === undefined ? '' : 'max'}`.trim(),
    sql: () =>
      sql.join(
        [
          ...(min === undefined ? [] : [sql`${next()} >= ${new Slot('min')}`]),
          ...(max === undefined ? [] : [sql`${next()} <= ${new Slot('max')}`]),
        ],
        sql` and `,
      ),
    values: { min, max },
  }
  const condition = joinConditions(writeCondition(table, write, now), bounds)
  const values = { ...condition.values, by }
  if (table.dialect === 'mysql') {
    const row = await readRow(database, runner, table, { ...condition, values }, true)
    if (!row) return null
    const number = Number(row[field] ?? 0) + by
    await setFields(target, equalCondition(table, { ns: write.ns, id: write.id }, 'key.'), { ...write.set, [field]: number })
    return number
  }
  const row = await updateReturning(target, { ...condition, values }, write.set, { field, next })
  return row && Number(row[field])
}

async function takeRow({ database, runner, table, now }: Target, write: Of<'take'>): Promise<StoredRow | null> {
  const condition = joinConditions(
    equalCondition(table, { ns: write.ns, ...write.key }, 'key.'),
    equalCondition(table, write.if, 'if.'),
    liveCondition(table, now),
  )
  if (table.dialect === 'mysql') {
    const row = await readRow(database, runner, table, condition, true)
    if (row) await eraseRows(database, runner, table, equalCondition(table, { ns: row.ns, id: row.id }, 'key.'))
    return row
  }
  const { rows } = await runOnTable(
    database,
    runner,
    table,
    `take ${condition.key}`,
    () => sql`delete from ${tableName(table)} where ${condition.sql()} returning ${columnsToRead(table)}`,
    condition.values,
  )
  return rows[0] ? toRow(table, rows[0]) : null
}

async function removeRow({ database, runner, table, now }: Target, { ns, id }: Of<'delete'>): Promise<boolean> {
  return (
    (await eraseRows(database, runner, table, joinConditions(equalCondition(table, { ns, id }, 'key.'), liveCondition(table, now)))) > 0
  )
}

/** Deletes rows and tells how many. */
export async function eraseRows(
  database: Database,
  runner: Runner,
  table: RecordTable,
  condition: Condition,
  ending?: () => Sql,
): Promise<number> {
  const build = (): Sql => countingQuery(database, sql`delete from ${tableName(table)} where ${condition.sql()}${ending?.() ?? sql``}`)
  return countAffectedRows(database, await runOnTable(database, runner, table, `delete ${condition.key}`, build, condition.values))
}

function writeCondition(table: RecordTable, { ns, id, if: condition }: { ns: string; id: string; if: StoredKey }, now: number): Condition {
  return joinConditions(equalCondition(table, { ns, id }, 'key.'), equalCondition(table, condition, 'if.'), liveCondition(table, now))
}

/** `update … returning`, with one column that counts. */
async function updateReturning(
  { database, runner, table }: Target,
  condition: Condition,
  change: StoredKey,
  count?: { field: string; next: () => SqlExpression },
): Promise<StoredRow | null> {
  const fields = Object.keys(change).filter((field) => field !== count?.field)
  const build = (): Sql => {
    const sets = fields.map((field) => sql`${columnName(table, field)} = ${valueSlot(table, field, `set.${field}`)}`)
    if (count) sets.push(sql`${columnName(table, count.field)} = ${count.next()}`)
    return sql`update ${tableName(table)} set ${sql.join(sets)} where ${condition.sql()} returning ${columnsToRead(table)}`
  }
  const { rows } = await runOnTable(database, runner, table, `update ${fields.join()} ${count?.field} ${condition.key}`, build, {
    ...condition.values,
    ...setValues(change),
  })
  return rows[0] ? toRow(table, rows[0]) : null
}

async function setFields({ database, runner, table }: Target, condition: Condition, change: StoredKey): Promise<void> {
  const fields = Object.keys(change)
  const build = (): Sql => {
    const sets = fields.map((field) => sql`${columnName(table, field)} = ${valueSlot(table, field, `set.${field}`)}`)
    return sql`update ${tableName(table)} set ${sql.join(sets)} where ${condition.sql()}`
  }
  await runOnTable(database, runner, table, `set ${fields.join()} ${condition.key}`, build, { ...condition.values, ...setValues(change) })
}

function setValues(change: StoredKey): Record<string, unknown> {
  return Object.fromEntries(Object.entries(change).map(([field, value]) => [`set.${field}`, value]))
}

function columnList(table: RecordTable, fields: readonly string[]): SqlExpression {
  return sql.join(fields.map((field) => columnName(table, field)))
}
