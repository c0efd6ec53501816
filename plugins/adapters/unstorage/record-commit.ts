/** Writes of records in a transaction of the engine: rows, unique keys, sets and what a user owns change together. */
import { RecordConflict, type StoredKey, type StoredRow, type StoredWrite } from 'authkernel/kernel'
import { hasValues, listMember, ownedSet, type RecordPlace, toRow, toValue } from './record-codec.ts'
import type { Engine, Key, Transaction } from './types.ts'

/** What writes need of a store. */
export interface RecordWorld {
  readonly engine: Engine
  readonly root: string
  place(record: string): RecordPlace
}

// An expired row counts for nothing, and stays readable for the clean-up that takes its entries off the sets. Milliseconds.
const grace = 86_400_000

/** Applies a write; null: its condition does not hold. Throws RecordConflict. */
export async function applyWrite(world: RecordWorld, tx: Transaction, write: StoredWrite, now: number): Promise<unknown> {
  const place = world.place(write.table)
  if (write.op === 'create' || write.op === 'put') {
    const before = await loadRow(place, tx, write.row.ns, write.row.id)
    if (write.op === 'create' && before && isLiveRow(place, before, now)) throw new RecordConflict(write.table, ['id'])
    await storeRow(world, place, tx, before, write.row, now)
    return write.row
  }
  if (write.op === 'delete') {
    const row = await loadRow(place, tx, write.ns, write.id)
    if (row) await storeRow(world, place, tx, row, null, now)
    return row !== null && isLiveRow(place, row, now)
  }
  const row = await findLiveRow(place, tx, write.ns, write.op === 'take' ? write.key : { id: write.id }, now)
  if (!row || !hasValues(row, write.if)) return null
  if (write.op === 'take') {
    await storeRow(world, place, tx, row, null, now)
    return row
  }
  if (write.op === 'update') {
    const next = { ...row, ...write.change } as StoredRow
    await storeRow(world, place, tx, row, next, now)
    return next
  }
  const number = Number(row[write.field] ?? 0) + write.by
  if (number < (write.min ?? -Infinity) || number > (write.max ?? Infinity)) return null
  await storeRow(world, place, tx, row, { ...row, ...write.set, [write.field]: number } as StoredRow, now)
  return number
}

/** The live row of an id or a unique key. */
export async function findLiveRow(
  place: RecordPlace,
  reader: Pick<Transaction, 'get'>,
  ns: string,
  key: StoredKey,
  now: number,
): Promise<StoredRow | null> {
  if ('id' in key) {
    const row = await loadRow(place, reader, ns, String(key['id']))
    return row && isLiveRow(place, row, now) ? row : null
  }
  const fields = place.table.unique.find((each) => each.length === Object.keys(key).length && each.every((field) => field in key)) ?? []
  const id = await reader.get(await place.unique(fields, { ...key, ns, id: '' }))
  if (typeof id !== 'string') return null
  const row = await loadRow(place, reader, ns, id)
  return row && isLiveRow(place, row, now) && hasValues(row, key) ? row : null
}

/** The row at its place, live or not. */
export async function loadRow(place: RecordPlace, reader: Pick<Transaction, 'get'>, ns: string, id: string): Promise<StoredRow | null> {
  const row = toRow(place.table, await reader.get(await place.row(ns, id)))
  return row?.id === id ? row : null
}

export function isLiveRow({ table }: RecordPlace, row: StoredRow, now: number): boolean {
  const end = table.expires === undefined ? null : row[table.expires]
  return !(end instanceof Date && end.getTime() <= now)
}

/** Puts `after` in the place of `before`; null: there is none. */
export async function storeRow(
  world: RecordWorld,
  place: RecordPlace,
  tx: Transaction,
  before: StoredRow | null,
  after: StoredRow | null,
  now: number,
): Promise<void> {
  const { table } = place
  const { ns, id } = (after ?? before)!
  const end = after && table.expires !== undefined ? after[table.expires] : null
  const expires = end instanceof Date ? new Date(end.getTime() + grace) : undefined
  for (const fields of table.unique) {
    const [old, next] = await Promise.all([before, after].map(async (row) => (row ? uniqueKey(place, fields, row) : undefined)))
    if (next && after) {
      await makeRoom(world, place, tx, fields, next, after, now)
      tx.put(next, id, expires)
    }
    // A key that an expired row had may be another row's by now.
    if (old && old.path !== next?.path && (await tx.get(old)) === id) tx.remove(old)
  }
  const key = await place.row(ns, id)
  if (after) tx.put(key, toValue(after), expires)
  else tx.remove(key)
  await changeSets(world, place, tx, before, after)
}

/** Undefined: a field is null, and null is like nothing. */
async function uniqueKey(place: RecordPlace, fields: readonly string[], row: StoredRow): Promise<Key | undefined> {
  return fields.some((field) => (row[field] ?? null) === null) ? undefined : place.unique(fields, row)
}

/** Another live row has the key: a conflict. One that expired goes. */
async function makeRoom(
  world: RecordWorld,
  place: RecordPlace,
  tx: Transaction,
  fields: readonly string[],
  key: Key,
  row: StoredRow,
  now: number,
): Promise<void> {
  const holder = await tx.get(key)
  if (typeof holder !== 'string' || holder === row.id) return
  const other = await loadRow(place, tx, row.ns, holder)
  if (!other || !fields.every((field) => hasValues(other, { [field]: row[field] ?? null }))) return
  if (isLiveRow(place, other, now)) throw new RecordConflict(place.table.name, fields)
  await storeRow(world, place, tx, other, null, now)
}

async function changeSets(
  { engine, root }: RecordWorld,
  place: RecordPlace,
  tx: Transaction,
  before: StoredRow | null,
  after: StoredRow | null,
): Promise<void> {
  for (const [row, present] of [
    [before, false],
    [after, true],
  ] as const) {
    if (!row) continue
    for (const list of place.lists) await changeSet(engine, place, tx, row, list, present)
    const owner = place.table.owner === undefined ? null : row[place.table.owner]
    if (typeof owner === 'string') tx.change(await ownedSet(root, owner), [place.table.name, row.ns, row.id].join('\0'), present)
  }
}

/** Puts a row into the set of a list, or takes it out. */
export async function changeSet(
  engine: Engine,
  place: RecordPlace,
  tx: Transaction,
  row: StoredRow,
  list: readonly string[],
  present: boolean,
): Promise<void> {
  // Without sorted sets a list of all rows would be written whole with each of them: they are looked through instead.
  if (!engine.sorted && list.length === 0) return
  const bucket = engine.sorted ? undefined : (row[list[0]!] ?? null)
  tx.change(await place.set(row.ns, list, bucket), listMember(row, engine.sorted ? list : list.slice(1)), present)
}
