/** Rows that no secret opens any more: they are absent for plugins, and give way to a row that takes their place. */
import type { RecordStore, StoredKey, StoredRow, StoredValue, StoredWrite } from '../contract/records.ts'
import { RecordConflict } from './record-conflict.ts'
import type { Declared } from './record-spec.ts'
import { fromStored, type RecordScope, unreadableIn } from './record-values.ts'

/** The row as its plugin knows it; null where a field that it needs cannot be opened. */
export async function readable(scope: RecordScope, declared: Declared, stored: StoredRow): Promise<Record<string, unknown> | null> {
  const row = await fromStored(declared, stored, scope)
  const { names, lost } = unreadableIn(declared, stored, row)
  if (names.length > 0) scope.unreadable?.(declared.stored.name, names)
  return lost ? null : row
}

/** Writes all or none. A row that cannot be opened and has the id or a unique key of a new one is deleted. Throws RecordConflict for any other. */
export async function writeOver(scope: RecordScope, writes: readonly StoredWrite[]): Promise<Awaited<ReturnType<RecordStore['write']>>> {
  try {
    return await scope.store.write(writes, scope.now())
  } catch (error) {
    if (!(error instanceof RecordConflict)) throw error
    const inTheWay = await lostRows(scope, writes)
    if (inTheWay.length === 0) throw error
    await scope.store.write(inTheWay, scope.now())
    return scope.store.write(writes, scope.now())
  }
}

async function lostRows(scope: RecordScope, writes: readonly StoredWrite[]): Promise<StoredWrite[]> {
  const found = new Map<string, StoredWrite>()
  for (const write of writes) {
    if (write.op !== 'create' && write.op !== 'put') continue
    const { table, row } = write
    const declared = scope.declared(table)
    if (![...declared.fields.values()].some(({ sealed }) => sealed)) continue
    for (const key of [{ id: row.id }, ...uniqueKeys(declared, row)]) {
      const other = await scope.store.get(table, row.ns, key, scope.now())
      if (other && unreadableIn(declared, other, await fromStored(declared, other, scope)).lost)
        found.set(`${table} ${other.id}`, { op: 'delete', table, ns: other.ns, id: other.id })
    }
  }
  return [...found.values()]
}

/** One that has a null is no key. */
function uniqueKeys({ stored }: Declared, row: StoredRow): StoredKey[] {
  return stored.unique
    .map((fields) => Object.fromEntries(fields.map((field) => [field, (row[field] ?? null) as StoredValue])))
    .filter((key) => !Object.values(key).includes(null))
}
