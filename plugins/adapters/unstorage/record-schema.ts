/** Which indexes of a record were built: one that is declared later must be, before it is used. */
import type { StoredRow } from 'authkernel/kernel'
import { type RecordPlace, toRow } from './record-codec.ts'
import { changeSet, loadRow, type RecordWorld } from './record-commit.ts'
import type { Transaction } from './types.ts'

export interface Schemas {
  /** Notes the lists of a record at its first row. */
  begin(tx: Transaction, place: RecordPlace): Promise<void>
  /** Lists that are not built. */
  unbuilt(place: RecordPlace): Promise<readonly (readonly string[])[]>
  missing(places: readonly RecordPlace[]): Promise<readonly string[]>
  migrate(places: readonly RecordPlace[], apply: boolean): Promise<{ statements: readonly string[]; notes: readonly string[] }>
  forget(record: string): void
}

// Rows of one transaction.
const batch = 100

/** Throws an error that names the command when the list of a query is not built. */
export async function assertBuilt(schemas: Schemas, place: RecordPlace, list: readonly string[]): Promise<void> {
  const unbuilt = await schemas.unbuilt(place)
  if (unbuilt.some((each) => each.join() === list.join()))
    throw new Error(
      `[unstorage] The index (${list.join(', ')}) of the record "${place.table.name}" is not built. Run \`npx authkernel migrate --apply\`.`,
    )
}

export function createSchemas(world: RecordWorld): Schemas {
  const { engine } = world
  // Records whose lists are all built: not read again.
  const whole = new Set<string>()
  const namesOf = ({ lists, table }: RecordPlace): string[] => [
    ...lists.map((list) => list.join()),
    ...table.unique.map((fields) => `unique ${fields.join()}`),
  ]
  /** What a record lacks; a record without rows lacks nothing. */
  async function lacking(place: RecordPlace, reader: Pick<Transaction, 'get'>): Promise<string[]> {
    const built = await reader.get({ path: place.schema })
    if (!Array.isArray(built)) return []
    return namesOf(place).filter((name) => !built.includes(name))
  }
  async function build(place: RecordPlace, names: readonly string[]): Promise<string[]> {
    const notes: string[] = []
    const lists = place.lists.filter((list) => names.includes(list.join()))
    const keys = place.table.unique.filter((fields) => names.includes(`unique ${fields.join()}`))
    for await (const page of engine.scan(place.folder)) {
      for (let at = 0; at < page.length; at += batch) {
        await engine.transact(async (tx) => {
          for (const path of page.slice(at, at + batch)) {
            const row = toRow(place.table, await tx.get({ path }))
            if (!row) continue
            for (const list of lists) await changeSet(engine, place, tx, row, list, true)
            for (const fields of keys) await claimKey(place, tx, row, fields, notes)
          }
        })
      }
    }
    if (notes.length === 0) await engine.transact(async (tx) => tx.put({ path: place.schema }, namesOf(place)))
    return [...new Set(notes)]
  }
  return {
    async begin(tx, place) {
      if (whole.has(place.table.name)) return
      const path = place.schema
      if (!Array.isArray(await tx.get({ path }))) tx.put({ path }, namesOf(place))
    },
    async unbuilt(place) {
      if (whole.has(place.table.name)) return []
      const names = await lacking(place, engine)
      // Before the first row there is nothing to know yet: another process may have declared less.
      if (names.length === 0 && Array.isArray(await engine.get({ path: place.schema }))) whole.add(place.table.name)
      return place.lists.filter((list) => names.includes(list.join()))
    },
    async missing(places) {
      const found = await Promise.all(
        places.map(async (place) => (await lacking(place, engine)).map((name) => `index ${name} of ${place.table.name}`)),
      )
      return found.flat()
    },
    async migrate(places, apply) {
      const [statements, notes]: [string[], string[]] = [[], []]
      for (const place of places) {
        const names = await lacking(place, engine)
        statements.push(...names.map((name) => `build index (${name}) of the record ${place.table.name}`))
        if (apply && names.length > 0) notes.push(...(await build(place, names)))
      }
      return { statements, notes }
    },
    forget: (record) => void whole.delete(record),
  }
}

async function claimKey(place: RecordPlace, tx: Transaction, row: StoredRow, fields: readonly string[], notes: string[]): Promise<void> {
  if (fields.some((field) => (row[field] ?? null) === null)) return
  const key = await place.unique(fields, row)
  const holder = await tx.get(key)
  if (typeof holder === 'string' && holder !== row.id && (await loadRow(place, tx, row.ns, holder)))
    notes.push(`${place.table.name}: values of (${fields.join(', ')}) occur more than once. Merge those rows, then migrate again.`)
  else tx.put(key, row.id)
}
