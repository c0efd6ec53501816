/** Single writes of records. One statement where the dialect answers with the row it changed; MySQL locks the row and then writes it. */
import type { StoredKey, StoredRow, StoredValue, StoredWrite } from 'authkernel/kernel'
import { sql } from 'kysely'
import type { Database, Runner } from './database.ts'
import { all, equal, live, type Part, read, run } from './record-query.ts'
import { column, type RecordTable, selected, slot, tableName, toRow } from './record-table.ts'
import { countOf, counting } from './rows.ts'
import { Slot } from './statements.ts'
import type { Sql, SqlExpression } from './types.ts'

/** Where a write goes. */
export interface Target {
  readonly database: Database
  readonly runner: Runner
  readonly table: RecordTable
  readonly now: number
}
type Of<Op extends StoredWrite['op']> = Extract<StoredWrite, { op: Op }>

// Rows of one insert.
const sizes = [50, 10, 1]

/** What the write answers; null: its condition did not hold. Throws what the database throws for a taken key. */
export async function writeOne(target: Target, write: StoredWrite): Promise<unknown> {
  switch (write.op) {
    case 'create':
      await insert(target, [write.row])
      return write.row
    case 'put':
      await put(target, write.row)
      return write.row
    case 'update':
      return Object.keys(write.change).length === 0 ? look(target, write) : update(target, write)
    case 'increment':
      return increment(target, write)
    case 'take':
      return take(target, write)
    default:
      return remove(target, write)
  }
}

/** Whether a write needs more than one statement of this dialect. */
export function isLong({ dialect }: RecordTable, { op }: StoredWrite): boolean {
  return dialect === 'mysql' && op !== 'create' && op !== 'delete'
}

/** Inserts rows, several by one statement. */
export async function insert({ database, runner, table }: Target, rows: readonly StoredRow[]): Promise<void> {
  const fields = [...table.columns.keys()]
  let at = 0
  for (const size of sizes) {
    for (; rows.length - at >= size; at += size) {
      const values: Record<string, StoredValue> = {}
      for (let n = 0; n < size; n++) for (const field of fields) values[`${n}.${field}`] = rows[at + n]![field] ?? null
      const build = (): Sql => {
        const places = [...Array(size).keys()].map((n) => sql`(${sql.join(fields.map((field) => slot(table, field, `${n}.${field}`)))})`)
        return sql`insert into ${tableName(table)} (${columns(table, fields)}) values ${sql.join(places)}`
      }
      await run(database, runner, table, `insert ${size}`, build, values)
    }
  }
}

async function put(target: Target, row: StoredRow): Promise<void> {
  const { database, runner, table } = target
  const fields = [...table.columns.keys()].filter((field) => field !== 'ns' && field !== 'id')
  // Its upsert takes any unique key for the one that was meant.
  if (table.dialect === 'mysql' && table.stored.unique.length > 0) {
    const condition = equal(table, { ns: row.ns, id: row.id }, 'key.')
    if (!(await read(database, runner, table, condition, true))) return insert(target, [row])
    if (fields.length > 0) await set(target, condition, Object.fromEntries(fields.map((field) => [field, row[field] ?? null])))
    return
  }
  const build = (): Sql => {
    const names = ['ns', 'id', ...fields]
    const into = sql`insert into ${tableName(table)} (${columns(table, names)}) values (${sql.join(names.map((field) => slot(table, field, field)))})`
    if (table.dialect === 'mysql') {
      const same = (fields.length > 0 ? fields : ['id']).map((field) => sql`${column(table, field)} = values(${column(table, field)})`)
      return sql`${into} on duplicate key update ${sql.join(same)}`
    }
    const fresh = fields.map((field) => sql`${column(table, field)} = ${sql.id('excluded', table.columns.get(field)!.name)}`)
    return sql`${into}
      on conflict (${column(table, 'ns')}, ${column(table, 'id')}) do ${fields.length > 0 ? sql`update set ${sql.join(fresh)}` : sql`nothing`}`
  }
  await run(database, runner, table, 'put', build, row)
}

async function look({ database, runner, table, now }: Target, write: Of<'update'>): Promise<StoredRow | null> {
  return read(database, runner, table, fitting(table, write, now))
}

async function update(target: Target, write: Of<'update'>): Promise<StoredRow | null> {
  const { database, runner, table, now } = target
  const condition = fitting(table, write, now)
  if (table.dialect !== 'mysql') return returned(target, condition, write.change)
  const row = await read(database, runner, table, condition, true)
  if (!row) return null
  await set(target, equal(table, { ns: write.ns, id: write.id }, 'key.'), write.change)
  return { ...row, ...write.change } as StoredRow
}

async function increment(target: Target, write: Of<'increment'>): Promise<number | null> {
  const { database, runner, table, now } = target
  const { field, by, min, max } = write
  const next = (): SqlExpression => sql`coalesce(${column(table, field)}, 0) + ${new Slot('by')}`
  const bounds: Part = {
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
  const condition = all(fitting(table, write, now), bounds)
  const values = { ...condition.values, by }
  if (table.dialect === 'mysql') {
    const row = await read(database, runner, table, { ...condition, values }, true)
    if (!row) return null
    const number = Number(row[field] ?? 0) + by
    await set(target, equal(table, { ns: write.ns, id: write.id }, 'key.'), { ...write.set, [field]: number })
    return number
  }
  const row = await returned(target, { ...condition, values }, write.set, { field, next })
  return row && Number(row[field])
}

async function take({ database, runner, table, now }: Target, write: Of<'take'>): Promise<StoredRow | null> {
  const condition = all(equal(table, { ns: write.ns, ...write.key }, 'key.'), equal(table, write.if, 'if.'), live(table, now))
  if (table.dialect === 'mysql') {
    const row = await read(database, runner, table, condition, true)
    if (row) await erase(database, runner, table, equal(table, { ns: row.ns, id: row.id }, 'key.'))
    return row
  }
  const { rows } = await run(
    database,
    runner,
    table,
    `take ${condition.key}`,
    () => sql`delete from ${tableName(table)} where ${condition.sql()} returning ${selected(table)}`,
    condition.values,
  )
  return rows[0] ? toRow(table, rows[0]) : null
}

async function remove({ database, runner, table, now }: Target, { ns, id }: Of<'delete'>): Promise<boolean> {
  return (await erase(database, runner, table, all(equal(table, { ns, id }, 'key.'), live(table, now)))) > 0
}

/** Deletes rows and tells how many. */
export async function erase(database: Database, runner: Runner, table: RecordTable, condition: Part, ending?: () => Sql): Promise<number> {
  const build = (): Sql => counting(database, sql`delete from ${tableName(table)} where ${condition.sql()}${ending?.() ?? sql``}`)
  return countOf(database, await run(database, runner, table, `delete ${condition.key}`, build, condition.values))
}

function fitting(table: RecordTable, { ns, id, if: condition }: { ns: string; id: string; if: StoredKey }, now: number): Part {
  return all(equal(table, { ns, id }, 'key.'), equal(table, condition, 'if.'), live(table, now))
}

/** `update … returning`, with one column that counts. */
async function returned(
  { database, runner, table }: Target,
  condition: Part,
  change: StoredKey,
  count?: { field: string; next: () => SqlExpression },
): Promise<StoredRow | null> {
  const fields = Object.keys(change).filter((field) => field !== count?.field)
  const build = (): Sql => {
    const sets = fields.map((field) => sql`${column(table, field)} = ${slot(table, field, `set.${field}`)}`)
    if (count) sets.push(sql`${column(table, count.field)} = ${count.next()}`)
    return sql`update ${tableName(table)} set ${sql.join(sets)} where ${condition.sql()} returning ${selected(table)}`
  }
  const { rows } = await run(database, runner, table, `update ${fields.join()} ${count?.field} ${condition.key}`, build, {
    ...condition.values,
    ...toSet(change),
  })
  return rows[0] ? toRow(table, rows[0]) : null
}

async function set({ database, runner, table }: Target, condition: Part, change: StoredKey): Promise<void> {
  const fields = Object.keys(change)
  const build = (): Sql => {
    const sets = fields.map((field) => sql`${column(table, field)} = ${slot(table, field, `set.${field}`)}`)
    return sql`update ${tableName(table)} set ${sql.join(sets)} where ${condition.sql()}`
  }
  await run(database, runner, table, `set ${fields.join()} ${condition.key}`, build, { ...condition.values, ...toSet(change) })
}

function toSet(change: StoredKey): Record<string, unknown> {
  return Object.fromEntries(Object.entries(change).map(([field, value]) => [`set.${field}`, value]))
}

function columns(table: RecordTable, fields: readonly string[]): SqlExpression {
  return sql.join(fields.map((field) => column(table, field)))
}
