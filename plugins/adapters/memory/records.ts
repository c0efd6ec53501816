/** Records in maps: the reference of the contract, for tests and for hosts of one process. */
import {
  RecordConflict,
  type RecordStore,
  type StoredKey,
  type StoredQuery,
  type StoredRow,
  type StoredTable,
  type StoredValue,
  type StoredWrite,
} from 'authkernel/kernel'

/** Rows by table and by namespace and id; given to `memoryRecords`, they outlive it. */
export type RecordData = Map<string, Map<string, StoredRow>>

/** A RecordStore in memory. `erase` deletes what a user owns, for the adapter that deletes the user. */
export function memoryRecords(data: RecordData = new Map()): RecordStore & { erase(userId: string): void } {
  const tables = new Map<string, StoredTable>()
  const rowsOf = (name: string): Map<string, StoredRow> => {
    let rows = data.get(name)
    if (!rows) data.set(name, (rows = new Map()))
    return rows
  }
  const tableOf = (name: string): StoredTable => {
    const table = tables.get(name)
    if (!table) throw new Error(`The record "${name}" was not defined.`)
    return table
  }
  const live = (table: StoredTable, row: StoredRow | undefined, now: number): row is StoredRow =>
    row !== undefined &&
    !(table.expires !== undefined && row[table.expires] instanceof Date && (row[table.expires] as Date).getTime() <= now)
  const find = (name: string, ns: string, key: StoredKey, now: number): StoredRow | undefined => {
    const table = tableOf(name)
    const rows = rowsOf(name)
    if ('id' in key) {
      const row = rows.get(rowKey(ns, String(key['id'])))
      return live(table, row, now) ? row : undefined
    }
    for (const row of rows.values()) if (row.ns === ns && hasValues(row, key) && live(table, row, now)) return row
    return undefined
  }
  const select = (name: string, { ns, where, by, range, order, after, limit }: StoredQuery, now: number): StoredRow[] => {
    const table = tableOf(name)
    const sign = order === 'asc' ? 1 : -1
    const place = (row: StoredRow): readonly StoredValue[] => (by === undefined ? [row.id] : [row[by] ?? null, row.id])
    const sort = (a: readonly StoredValue[], b: readonly StoredValue[]): number =>
      sign * (compareValues(a[0]!, b[0]!) || compareValues(a[1] ?? null, b[1] ?? null))
    return [...rowsOf(name).values()]
      .filter(
        (row) => row.ns === ns && hasValues(row, where) && live(table, row, now) && (by === undefined || inRange(row[by] ?? null, range)),
      )
      .filter((row) => !after || sort(place(row), by === undefined ? [after.id] : [after.value, after.id]) > 0)
      .sort((a, b) => sort(place(a), place(b)))
      .slice(0, limit)
  }

  /** Null: a condition does not hold. The caller undoes what was done before. */
  const apply = (write: StoredWrite, now: number, log: Log): unknown => {
    const table = tableOf(write.table)
    const rows = withLog(rowsOf(write.table), log)
    const set = (row: StoredRow): StoredRow => {
      assertFree(table, rows, row, now, live)
      rows.set(rowKey(row.ns, row.id), row)
      return row
    }
    if (write.op === 'create') {
      if (find(write.table, write.row.ns, { id: write.row.id }, now)) throw new RecordConflict(write.table, ['id'])
      return set(write.row)
    }
    if (write.op === 'put') return set(write.row)
    if (write.op === 'delete') {
      const row = find(write.table, write.ns, { id: write.id }, now)
      return rows.delete(rowKey(write.ns, write.id)) && row !== undefined
    }
    const row = find(write.table, write.ns, write.op === 'take' ? write.key : { id: write.id }, now)
    if (!row || !hasValues(row, write.if)) return null
    if (write.op === 'take') {
      rows.delete(rowKey(row.ns, row.id))
      return row
    }
    if (write.op === 'update') return set({ ...row, ...write.change } as StoredRow)
    const next = Number(row[write.field] ?? 0) + write.by
    if (next < (write.min ?? -Infinity) || next > (write.max ?? Infinity)) return null
    set({ ...row, ...write.set, [write.field]: next } as StoredRow)
    return next
  }

  return {
    shared: false,
    define(defined) {
      for (const table of defined) {
        tables.set(table.name, table)
        // Fields that came later count for rows that are there.
        for (const [key, row] of rowsOf(table.name)) {
          const added = table.fields
            .filter(({ name }) => row[name] === undefined)
            .map((field) => [field.name, field.default ?? null] as const)
          if (added.length > 0) rowsOf(table.name).set(key, { ...row, ...Object.fromEntries(added) })
        }
      }
    },
    get: (name, ns, key, now) => copyRow(find(name, ns, key, now)) ?? null,
    find: (name, query, now) => select(name, query, now).map((row) => copyRow(row) as StoredRow),
    count: (name, query, now) => select(name, query, now).length,
    write(writes, now) {
      const log: Log = []
      try {
        const answers: unknown[] = []
        for (const write of writes) {
          const answer = apply(write, now, log)
          if (answer === null) return undoChanges(log)
          answers.push(copyRow(answer))
        }
        return answers
      } catch (error) {
        undoChanges(log)
        throw error
      }
    },
    deleteWhere(name, query, now) {
      const found = select(name, query, now)
      for (const row of found) rowsOf(name).delete(rowKey(row.ns, row.id))
      return found.length
    },
    deleteExpired(name, now, limit) {
      const table = tableOf(name)
      const gone = [...rowsOf(name)].filter(([, row]) => !live(table, row, now)).slice(0, limit)
      for (const [key] of gone) rowsOf(name).delete(key)
      return gone.length
    },
    erase(userId) {
      for (const { name, owner } of tables.values()) {
        if (owner === undefined) continue
        for (const [key, row] of rowsOf(name)) if (row[owner] === userId) rowsOf(name).delete(key)
      }
    },
  }
}

/** Another live row with the same unique values is a conflict; one that expired makes room. */
function assertFree(
  table: StoredTable,
  rows: Rows,
  row: StoredRow,
  now: number,
  live: (table: StoredTable, row: StoredRow | undefined, now: number) => row is StoredRow,
): void {
  for (const fields of table.unique) {
    if (fields.some((field) => row[field] === null)) continue
    for (const [key, other] of rows.all) {
      if (other.ns !== row.ns || other.id === row.id || !fields.every((field) => isSame(other[field] ?? null, row[field] ?? null))) continue
      if (live(table, other, now)) throw new RecordConflict(table.name, fields)
      rows.delete(key)
    }
  }
}

/** What a write replaced, to be put back. */
type Log = [rows: Map<string, StoredRow>, key: string, before: StoredRow | undefined][]
interface Rows {
  readonly all: Map<string, StoredRow>
  set(key: string, row: StoredRow): void
  delete(key: string): boolean
}

function withLog(all: Map<string, StoredRow>, log: Log): Rows {
  return {
    all,
    set(key, row) {
      log.push([all, key, all.get(key)])
      all.set(key, row)
    },
    delete(key) {
      log.push([all, key, all.get(key)])
      return all.delete(key)
    },
  }
}

function undoChanges(log: Log): null {
  for (const [rows, key, before] of log.toReversed()) {
    if (before) rows.set(key, before)
    else rows.delete(key)
  }
  return null
}

function rowKey(ns: string, id: string): string {
  return `${ns}\0${id}`
}

function hasValues(row: StoredRow, values: StoredKey): boolean {
  return Object.entries(values).every(([field, value]) => isSame(row[field] ?? null, value))
}

function isSame(a: StoredValue, b: StoredValue): boolean {
  return compareValues(a, b) === 0 && (a === null) === (b === null)
}

function inRange(value: StoredValue, { gt, gte, lt, lte }: StoredQuery['range']): boolean {
  // As in SQL: null is in no range.
  if (value === null) return gt === undefined && gte === undefined && lt === undefined && lte === undefined
  return (
    (gt === undefined || compareValues(value, gt) > 0) &&
    (gte === undefined || compareValues(value, gte) >= 0) &&
    (lt === undefined || compareValues(value, lt) < 0) &&
    (lte === undefined || compareValues(value, lte) <= 0)
  )
}

const utf8 = new TextEncoder()

/** Texts by their UTF-8 bytes, as databases with a binary collation; null first. */
function compareValues(a: StoredValue, b: StoredValue): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1
  if (typeof a !== 'string' || typeof b !== 'string') return Math.sign(Number(a) - Number(b))
  const [left, right] = [utf8.encode(a), utf8.encode(b)]
  for (let i = 0; i < Math.min(left.length, right.length); i++) if (left[i] !== right[i]) return left[i]! < right[i]! ? -1 : 1
  return Math.sign(left.length - right.length)
}

function copyRow<T>(value: T): T {
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  return Object.fromEntries(
    Object.entries(value).map(([field, one]) => [field, one instanceof Date ? new Date(one) : (one as unknown)]),
  ) as T
}
