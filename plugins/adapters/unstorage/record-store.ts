/** Records of plugins in any unstorage driver. */
import type { RecordStore, StoredQuery, StoredRow } from 'authkernel/kernel'
import { hasValues, idOfMember, matchesQuery, listMember, ownedSet, recordPlace, rangeOf, type RecordPlace, toRow } from './record-codec.ts'
import { applyWrite, findLiveRow, isLiveRow, loadRow, type RecordWorld, storeRow } from './record-commit.ts'
import { assertBuilt, createSchemas, type Schemas } from './record-schema.ts'
import { compareBytes, inRange } from './sorted-sets.ts'
import type { Engine, Transaction } from './types.ts'

/** What `unstorageRecords` makes. */
export interface UnstorageRecords extends RecordStore {
  missing(): Promise<readonly string[]>
  /** Builds indexes that were declared after rows had been written; a dry run unless `apply` is true. */
  migrate(options?: { apply?: boolean }): Promise<{ statements: readonly string[]; notes: readonly string[] }>
  close(): Promise<void>
}
/** The same over the store that the adapter has open. */
interface OwnRecords extends UnstorageRecords {
  /** Deletes what a user owns, in the transaction that deletes the user. */
  erase(tx: Transaction, userId: string): Promise<void>
}

// Rows of one transaction.
const batch = 100

/** A condition does not hold: nothing is written. */
class ConditionFailed extends Error {}

/** Records over an engine. `root` begins all keys. */
export function createRecordStore(engine: Engine, root: string): OwnRecords {
  const places = new Map<string, RecordPlace>()
  const world: RecordWorld = {
    engine,
    root,
    place(record) {
      const place = places.get(record)
      if (!place) throw new Error(`[unstorage] The record "${record}" was not declared.`)
      return place
    },
  }
  const schemas = createSchemas(world)
  return {
    shared: engine.atomic,
    // Several kernels may share the store, and each declares what it knows.
    define(tables) {
      for (const table of tables) {
        if (JSON.stringify(places.get(table.name)?.table) === JSON.stringify(table)) continue
        places.set(table.name, recordPlace(table, root))
        schemas.forget(table.name)
      }
    },
    get: (record, ns, key, now) => findLiveRow(world.place(record), engine, ns, key, now),
    find: (record, query, now) => selectRows(world, schemas, world.place(record), query, now),
    async count(record, query, now) {
      return (await selectRows(world, schemas, world.place(record), query, now)).length
    },
    async write(writes, now) {
      try {
        return await engine.transact(async (tx) => {
          const answers: unknown[] = []
          for (const record of new Set(writes.map(({ table }) => table))) await schemas.begin(tx, world.place(record))
          for (const write of writes) {
            const answer = await applyWrite(world, tx, write, now)
            if (answer === null) throw new ConditionFailed()
            answers.push(answer)
          }
          return answers
        })
      } catch (error) {
        if (error instanceof ConditionFailed) return null
        throw error
      }
    },
    async deleteWhere(record, query, now) {
      const place = world.place(record)
      const rows = await selectRows(world, schemas, place, query, now)
      return removeRows(world, place, rows, (row) => isLiveRow(place, row, now) && matchesQuery(row, query))
    },
    async deleteExpired(record, now, limit) {
      const place = world.place(record)
      const hasEnded = (row: StoredRow): boolean => !isLiveRow(place, row, now)
      if (place.table.expires === undefined) return 0
      const rows: StoredRow[] = []
      for await (const page of engine.scan(place.folder)) {
        for (const path of page) {
          const row = toRow(place.table, await engine.get({ path }))
          if (row && hasEnded(row)) rows.push(row)
          if (rows.length >= limit) return removeRows(world, place, rows, hasEnded)
        }
      }
      return removeRows(world, place, rows, hasEnded)
    },
    missing: () => schemas.missing([...places.values()]),
    migrate: ({ apply: write = false } = {}) => schemas.migrate([...places.values()], write),
    close: () => engine.close(),
    async erase(tx, userId) {
      for (const member of await tx.members(await ownedSet(root, userId))) {
        const [record = '', ns = '', id = ''] = member.split('\0')
        const place = places.get(record)
        const row = place && (await loadRow(place, tx, ns, id))
        if (place && row && row[place.table.owner ?? ''] === userId) await storeRow(world, place, tx, row, null, 0)
        else tx.change(await ownedSet(root, userId), member, false)
      }
    },
  }
}

/** Deletes rows that still are as they were found, a hundred at a time. */
async function removeRows(
  world: RecordWorld,
  place: RecordPlace,
  rows: readonly StoredRow[],
  still: (row: StoredRow) => boolean,
): Promise<number> {
  let removed = 0
  for (let at = 0; at < rows.length; at += batch) {
    removed += await world.engine.transact(async (tx) => {
      let count = 0
      for (const { ns, id } of rows.slice(at, at + batch)) {
        const row = await loadRow(place, tx, ns, id)
        if (!row || !still(row)) continue
        await storeRow(world, place, tx, row, null, 0)
        count++
      }
      return count
    })
  }
  return removed
}

/** Live rows of a query, in its order. */
async function selectRows(world: RecordWorld, schemas: Schemas, place: RecordPlace, query: StoredQuery, now: number): Promise<StoredRow[]> {
  const { engine } = world
  const equal = Object.keys(query.where).length
  const list = query.index.slice(0, query.by === undefined ? equal : equal + 1)
  if (!engine.sorted && equal === 0) return lookThrough(world, place, query, list, now)
  await assertBuilt(schemas, place, list)
  const bucket = engine.sorted ? undefined : (query.where[list[0]!] ?? null)
  const fields = engine.sorted ? list : list.slice(1)
  const set = await place.set(query.ns, list, bucket)
  const range = rangeOf(query, engine.sorted ? list.slice(0, equal) : list.slice(1, equal))
  const rows: StoredRow[] = []
  for (let { min, max } = range; ;) {
    const limit = query.limit - rows.length
    const members = await engine.range(set, { ...range, min, max, limit })
    const found = await Promise.all(members.map((member) => loadRow(place, engine, query.ns, idOfMember(member))))
    const vanished: string[] = []
    for (const [at, row] of found.entries()) {
      // One that was changed since is in another place of the set, or in none.
      if (row && isLiveRow(place, row, now) && hasValues(row, query.where) && listMember(row, fields) === members[at]) rows.push(row)
      else if (!row) vanished.push(members[at]!)
    }
    if (vanished.length > 0) await removeMembers(world, place, query.ns, set, vanished)
    const last = members.at(-1)
    if (members.length < limit || last === undefined || rows.length >= query.limit) return rows
    if (range.reverse) max = `(${last}`
    else min = `(${last}`
  }
}

/** Takes off the members of rows that ended by their time to live. */
async function removeMembers(
  { engine }: RecordWorld,
  place: RecordPlace,
  ns: string,
  set: string,
  members: readonly string[],
): Promise<void> {
  await engine.transact(async (tx) => {
    for (const member of members) if (!(await loadRow(place, tx, ns, idOfMember(member)))) tx.change(set, member, false)
  })
}

/** Where no set serves the query: all rows of the tenant. */
async function lookThrough(
  { engine }: RecordWorld,
  place: RecordPlace,
  query: StoredQuery,
  list: readonly string[],
  now: number,
): Promise<StoredRow[]> {
  const rows = new Map<string, StoredRow>()
  for (const path of await engine.paths(`${place.folder}${query.ns || '_'}:`)) {
    const row = toRow(place.table, await engine.get({ path }))
    if (row && row.ns === query.ns && isLiveRow(place, row, now)) rows.set(listMember(row, list), row)
  }
  return inRange([...rows.keys()].sort(compareBytes), rangeOf(query, [])).map((member) => rows.get(member)!)
}
