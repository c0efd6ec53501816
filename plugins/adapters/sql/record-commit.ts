/** Several writes of records as one, and what a taken key is called. */
import { RecordConflict, type StoredKey, type StoredRow, type StoredWrite } from 'authkernel/kernel'
import { sql, type Transaction } from 'kysely'
import type { Database, Runner } from './database.ts'
import { isTaken } from './dialect.ts'
import { type Condition, endedCondition, equalCondition, joinConditions, liveCondition, readRow, runOnTable } from './record-query.ts'
import { columnName, type RecordTable, tableName, valueSlot } from './record-table.ts'
import { eraseRows, insertRows, isLong, writeOne } from './record-write.ts'
import type { AnyDatabase } from './types.ts'

/** Finds the table of a record. */
type TableOf = (record: string) => RecordTable

// Writes that meet on a key again and again fail in the end.
const attempts = 5

/** The condition of a write does not hold: everything before it is rolled back. */
class ConditionFailed extends Error {}

/** The answers in order, or null when a condition does not hold. Throws RecordConflict. */
export async function commitWrites(
  database: Database,
  tableOf: TableOf,
  writes: readonly StoredWrite[],
  now: number,
): Promise<readonly unknown[] | null> {
  const [first] = writes
  if (!first) return []
  const alone = writes.length === 1 && !isLong(tableOf(first.table), first)
  for (let attempt = 1; ; attempt++) {
    try {
      return alone
        ? [await database.retry(() => writeOrRefuse({ database, runner: database.db, table: tableOf(first.table), now }, first))]
        : await runTogether(database, (tx) => writeInOrder(database, tx, tableOf, writes, now))
    } catch (error) {
      if (error instanceof ConditionFailed) return null
      if (!isTaken(error)) throw error
      const conflict = findTwins(tableOf, writes) ?? (await makeRoom(database, tableOf, writes, now))
      if (conflict) throw conflict
      if (attempt >= attempts) throw new RecordConflict(first.table, tableOf(first.table).stored.unique[0] ?? ['id'])
    }
  }
}

/** `read committed`: every condition is checked on a row that is locked, and MySQL locks nothing between rows then. */
async function runTogether<T>(database: Database, work: (tx: Transaction<AnyDatabase>) => Promise<T>): Promise<T> {
  if (database.dialect !== 'mysql') return database.transaction(work)
  return database.retry(() => database.db.transaction().setIsolationLevel('read committed').execute(work))
}

async function writeInOrder(
  database: Database,
  runner: Runner,
  tableOf: TableOf,
  writes: readonly StoredWrite[],
  now: number,
): Promise<unknown[]> {
  await lockInOrder(database, runner, tableOf, writes)
  const answers: unknown[] = []
  for (let at = 0; at < writes.length;) {
    const write = writes[at]!
    const target = { database, runner, table: tableOf(write.table), now }
    const rows = creationsFrom(writes, at)
    if (rows.length > 1) {
      await insertRows(target, rows)
      answers.push(...rows)
      at += rows.length
    } else {
      answers.push(await writeOrRefuse(target, write))
      at++
    }
  }
  return answers
}

/** Rows of creations of one record that follow each other. */
function creationsFrom(writes: readonly StoredWrite[], from: number): StoredRow[] {
  const rows: StoredRow[] = []
  for (const write of writes.slice(from)) {
    if (write.op !== 'create' || write.table !== writes[from]!.table) break
    rows.push(write.row)
  }
  return rows
}

async function writeOrRefuse(target: Parameters<typeof writeOne>[0], write: StoredWrite): Promise<unknown> {
  const answer = await writeOne(target, write)
  if (answer === null) throw new ConditionFailed()
  return answer
}

/** Two transactions that change the same rows must come to them in the same order, else one of them waits for a deadlock to be found. */
async function lockInOrder(database: Database, runner: Runner, tableOf: TableOf, writes: readonly StoredWrite[]): Promise<void> {
  if (database.dialect === 'sqlite') return
  const keys = writes.flatMap((write) => {
    const id = rowIdOf(write)
    return id === undefined || write.op === 'create' ? [] : [{ table: write.table, ns: 'row' in write ? write.row.ns : write.ns, id }]
  })
  const sorted = keys.toSorted((a, b) => compareText(a.table, b.table) || compareText(a.id, b.id))
  if (sorted.every((key, at) => key === keys[at])) return
  for (const { table: name, ns, id } of sorted) {
    const table = tableOf(name)
    await runOnTable(
      database,
      runner,
      table,
      'lock',
      () => sql`select 1 as one from ${tableName(table)} where ${equalCondition(table, { ns, id }, 'key.').sql()} for update`,
      equalCondition(table, { ns, id }, 'key.').values,
    )
  }
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function rowIdOf(write: StoredWrite): string | undefined {
  if ('row' in write) return write.row.id
  if ('id' in write) return write.id
  return 'id' in write.key ? String(write.key['id']) : undefined
}

/** Deletes expired rows that hold a key of these writes. Answers the conflict with a row that lives. */
async function makeRoom(
  database: Database,
  tableOf: TableOf,
  writes: readonly StoredWrite[],
  now: number,
): Promise<RecordConflict | undefined> {
  for (const write of writes) {
    const table = tableOf(write.table)
    const row = await wantedRow(database, table, write, now)
    if (!row) continue
    const keys = [...(write.op === 'create' ? [['id']] : []), ...table.stored.unique]
    for (const fields of keys) {
      if (fields.some((field) => (row[field] ?? null) === null)) continue
      const key = equalCondition(table, { ns: row.ns, ...pickFields(row, fields) }, 'key.')
      const other = fields[0] === 'id' ? key : joinConditions(key, otherRowCondition(table, row.id))
      if (await database.retry(() => readRow(database, database.db, table, joinConditions(other, liveCondition(table, now)))))
        return new RecordConflict(write.table, fields)
      const { expires } = table.stored
      if (expires !== undefined)
        await database.retry(() => eraseRows(database, database.db, table, joinConditions(other, endedCondition(table, expires, now))))
    }
  }
  return undefined
}

/** The row as the write would leave it. */
async function wantedRow(database: Database, table: RecordTable, write: StoredWrite, now: number): Promise<StoredRow | null> {
  if ('row' in write) return write.row
  if (write.op !== 'update' && write.op !== 'increment') return null
  const condition = joinConditions(equalCondition(table, { ns: write.ns, id: write.id }, 'key.'), liveCondition(table, now))
  const row = await database.retry(() => readRow(database, database.db, table, condition))
  return row && ({ ...row, ...(write.op === 'update' ? write.change : write.set) } as StoredRow)
}

/** Two of the writes themselves want one key. */
function findTwins(tableOf: TableOf, writes: readonly StoredWrite[]): RecordConflict | undefined {
  const seen = new Set<string>()
  for (const write of writes) {
    if (!('row' in write)) continue
    for (const fields of [['id'], ...tableOf(write.table).stored.unique]) {
      if (fields.some((field) => (write.row[field] ?? null) === null)) continue
      const key = JSON.stringify([write.table, fields, write.row.ns, ...fields.map((field) => write.row[field])])
      if (seen.has(key)) return new RecordConflict(write.table, fields)
      seen.add(key)
    }
  }
  return undefined
}

function pickFields(row: StoredRow, fields: readonly string[]): StoredKey {
  return Object.fromEntries(fields.map((field) => [field, row[field] ?? null]))
}

function otherRowCondition(table: RecordTable, id: string): Condition {
  return { key: 'other', sql: () => sql`${columnName(table, 'id')} <> ${valueSlot(table, 'id', 'not.id')}`, values: { 'not.id': id } }
}
