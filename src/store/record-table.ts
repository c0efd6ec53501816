/** Records of one tenant over what an adapter brings: values checked, calls end in time, failures are AdapterErrors. */

import type {
  AtomicWrite,
  FindOptions,
  IncrementOptions,
  NewRow,
  Range,
  RecordStore,
  RecordTable,
  Row,
  StoredKey,
  StoredRow,
  StoredValue,
  StoredWrite,
} from '../contract/records.ts'
import type { Awaitable } from '../contract/data.ts'
import { AuthError } from '../errors/base.ts'
import { withTimeout } from '../errors/deadlines.ts'
import { failedCall, lateCall } from './store-error.ts'
import { toKey, toQuery, writeCursor } from './record-query.ts'
import { type DeclaredRecord, RecordConflict } from './record-spec.ts'
import { type RecordScope, fromStored, toChange, toCondition, toStored, unreadableIn } from './record-values.ts'

export type { RecordScope } from './record-values.ts'

type Fields = Record<string, unknown>

const defaultLimit = 100
const maxLimit = 100_000
const maxMany = 500
const maxAtomic = 20
const countLimit = 1_000
// Of one statement that deletes.
const batch = 1_000

/** The operations of one record. */
export function createRecordTable<T extends Fields>(name: string, scope: RecordScope): RecordTable<T> {
  const declared = scope.declared(name)
  const { store, namespace: ns } = scope
  const call = <R>(operation: string, work: () => R | PromiseLike<R>): Promise<R> =>
    callRecordStore(scope, `records(${JSON.stringify(name)}).${operation}`, work)
  const back = async (row: StoredRow | null): Promise<Row<T> | null> =>
    row && ((await call('read', () => toReadableRow(scope, declared, row))) as Row<T>)
  // One deadline for a page of rows.
  const backAll = async (rows: readonly StoredRow[]): Promise<Row<T>[]> =>
    (await call('read', () => toReadableRows(scope, declared, rows))) as Row<T>[]
  // A store that is broken may answer anything.
  const toMadeRow = (row: unknown): Promise<Row<T>> => back(Object(row) as StoredRow) as Promise<Row<T>>
  const writeOne = async (write: StoredWrite): Promise<unknown> =>
    (await call(write.op, async () => assertList(await writeOverLostRows(scope, [write]))))?.[0] ?? null
  const build = async (row: NewRow<T>): Promise<StoredRow> =>
    toStored(declared, ns, createRowId(declared, row as { id?: string }, scope), withoutId(row), scope)

  return {
    async get(key) {
      const stored = toKey(declared, key)
      return back(await call('get', () => store.get(name, ns, stored, scope.now())))
    },
    async getMany(ids) {
      if (ids.length > maxMany) throw new TypeError(`The record "${name}" takes at most ${maxMany} ids at once.`)
      const wanted = [...new Set(ids)]
      if (wanted.length === 0) return []
      const found = await call('getMany', async () => assertList(await readMany(store, name, ns, wanted, scope.now())))
      return backAll(found)
    },
    async find({ where, range, order, limit = defaultLimit, cursor }: FindOptions<T> = {}) {
      const size = Math.min(Math.max(1, Math.trunc(limit)), maxLimit)
      const query = toQuery(declared, ns, { where, range: range as Fields, order, limit: size + 1, cursor })
      const found = await call('find', async () => assertList(await store.find(name, query, scope.now())) ?? [])
      const page = found.slice(0, size)
      const last = page.at(-1)
      return { rows: await backAll(page), cursor: found.length > size && last ? writeCursor(query, last) : undefined }
    },
    async count(where = {}, { range, max = countLimit }: { range?: Range<T>; max?: number } = {}) {
      const query = toQuery(declared, ns, { where, range: range as Fields, limit: max })
      return call('count', async () => assertCount(await store.count(name, query, scope.now())))
    },
    async create(row) {
      return toMadeRow(await writeOne({ op: 'create', table: name, row: await build(row) }))
    },
    async createMany(rows) {
      if (rows.length === 0) return []
      if (rows.length > maxMany) throw new TypeError(`The record "${name}" takes at most ${maxMany} rows at once.`)
      const writes = await Promise.all(
        rows.map(async (row): Promise<StoredWrite> => ({ op: 'create', table: name, row: await build(row) })),
      )
      const answers = await call('createMany', async () => assertList(await writeOverLostRows(scope, writes)))
      return backAll((answers ?? [null]).map((answer) => Object(answer) as StoredRow))
    },
    async put(row) {
      return toMadeRow(await writeOne({ op: 'put', table: name, row: await build(row) }))
    },
    async update(id, change, { if: condition = {} } = {}) {
      const write: StoredWrite = {
        op: 'update',
        table: name,
        ns,
        id,
        change: await toChange(declared, id, change, scope),
        if: toCondition(declared, condition),
      }
      return back((await writeOne(write)) as StoredRow | null)
    },
    async increment(id, field, by, options: IncrementOptions<T> = {}) {
      return (await writeOne(await toIncrement(declared, scope, id, field, by, options))) as number | null
    },
    async take(key, { if: condition = {} } = {}) {
      const write: StoredWrite = { op: 'take', table: name, ns, key: toKey(declared, key), if: toCondition(declared, condition) }
      return back((await writeOne(write)) as StoredRow | null)
    },
    delete: async (id) => (await writeOne({ op: 'delete', table: name, ns, id })) === true,
    async deleteWhere({ where = {}, range }, { max = Infinity } = {}) {
      let removed = 0
      while (removed < max) {
        const limit = Math.min(batch, max - removed)
        const query = toQuery(declared, ns, { where, range: range as Fields, limit })
        const done = await call('deleteWhere', async () => assertCount(await store.deleteWhere(name, query, scope.now())))
        removed += done
        if (done < limit) break
      }
      return removed
    },
  }
}

/** Up to 20 writes over several records: all, with their answers in order, or none and false. */
export async function writeAtomic(scope: RecordScope, writes: readonly AtomicWrite[]): Promise<readonly unknown[] | false> {
  if (writes.length > maxAtomic) throw new TypeError(`ctx.atomic takes at most ${maxAtomic} writes.`)
  const stored = await Promise.all((writes as readonly Fields[]).map((write) => toWrite(scope, write)))
  try {
    const answers = await callRecordStore(scope, 'records.atomic', async () => assertList(await writeOverLostRows(scope, stored)))
    if (!answers) return false
    return Promise.all(
      answers.map((answer, at) => {
        const write = stored[at] as StoredWrite
        return typeof answer === 'object' && answer !== null ? fromStored(scope.declared(write.table), answer as StoredRow, scope) : answer
      }),
    )
  } catch (error) {
    if (error instanceof RecordConflict) return false
    throw error
  }
}

async function toWrite(scope: RecordScope, write: Fields): Promise<StoredWrite> {
  const table = String(write['record'])
  const declared = scope.declared(table)
  const { namespace: ns } = scope
  const condition = toCondition(declared, (write['if'] as Fields | undefined) ?? {})
  if ('create' in write || 'put' in write) {
    const row = (write['create'] ?? write['put']) as Fields & { id?: string }
    return {
      op: 'create' in write ? 'create' : 'put',
      table,
      row: await toStored(declared, ns, createRowId(declared, row, scope), withoutId(row), scope),
    }
  }
  if ('update' in write) {
    const id = String(write['update'])
    return { op: 'update', table, ns, id, change: await toChange(declared, id, write['change'] as Fields, scope), if: condition }
  }
  if ('increment' in write)
    return toIncrement(
      declared,
      scope,
      String(write['increment']),
      String(write['field']),
      Number(write['by']),
      write as IncrementOptions<Fields>,
    )
  if ('take' in write) return { op: 'take', table, ns, key: toKey(declared, write['take'] as string | Fields), if: condition }
  if ('delete' in write) return { op: 'delete', table, ns, id: String(write['delete']) }
  throw new TypeError('ctx.atomic takes writes with create, put, update, increment, take or delete.')
}

async function toIncrement(
  declared: DeclaredRecord,
  scope: RecordScope,
  id: string,
  field: string,
  by: number,
  options: IncrementOptions<Fields>,
): Promise<StoredWrite> {
  const { name } = declared.stored
  if (declared.fields.get(field)?.type !== 'integer' || !Number.isSafeInteger(by))
    throw new TypeError(`The record "${name}" has no integer field "${field}" to increment.`)
  const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER, if: condition = {}, set = {} } = options
  return {
    op: 'increment',
    table: name,
    ns: scope.namespace,
    id,
    field,
    by,
    min,
    max,
    if: toCondition(declared, condition),
    set: await toChange(declared, id, set, scope),
  }
}

async function readMany(store: RecordStore, name: string, ns: string, ids: readonly string[], now: number): Promise<StoredRow[]> {
  if (store.getMany) return store.getMany(name, ns, ids, now)
  const rows = await Promise.all(ids.map((id) => store.get(name, ns, { id }, now)))
  return rows.filter((row) => row !== null)
}

function createRowId({ spec, stored }: DeclaredRecord, { id }: { id?: string }, scope: RecordScope): string {
  if (id !== undefined) return id
  if (spec.id === 'given') throw new TypeError(`The record "${stored.name}" takes rows with an \`id\`.`)
  return scope.newId()
}

function withoutId<T>(row: T): Fields {
  const { id: _id, ...fields } = row as Fields
  return fields
}

/** Throws AuthError when the store lacks tables or indexes, with the command that makes them, and AdapterError when it cannot be asked. */
export async function assertTables(store: RecordStore, deadline: number): Promise<void> {
  const { missing } = store
  if (!missing) return
  const lacks = await callRecordStore({ deadline }, 'records.missing', () => missing.call(store)).catch((error: AuthError) => {
    // A mistake of the host, which the store words itself.
    throw error.cause?.err instanceof AuthError ? error.cause.err : error
  })
  if (lacks.length > 0)
    throw new AuthError(`The store lacks ${lacks.join(', ')} of plugins' records. Run \`npx authkernel migrate --apply\`.`, {
      cause: { remedy: 'migrate' },
    })
}

/** A call of the store: it ends in time, and its failure is an AdapterError. */
export async function callRecordStore<R>(
  { deadline }: Pick<RecordScope, 'deadline'>,
  operation: string,
  work: () => R | PromiseLike<R>,
): Promise<R> {
  try {
    const answer = work()
    return typeof (answer as PromiseLike<R> | null)?.then === 'function'
      ? await withTimeout(answer as PromiseLike<R>, deadline, () => lateCall(operation, deadline))
      : (answer as R)
  } catch (error) {
    if (error instanceof RecordConflict) throw error
    throw failedCall(operation, error)
  }
}

function assertList<T>(answer: T): T {
  if (answer === null || Array.isArray(answer)) return answer
  throw new TypeError('The store answered no list.')
}
function assertCount(answer: number): number {
  if (Number.isInteger(answer)) return answer
  throw new TypeError('The store answered no number.')
}

/** The row as its plugin knows it; null where no secret opens a field that it needs: such a row is absent for plugins. */
function toReadableRow(scope: RecordScope, declared: DeclaredRecord, stored: StoredRow): Awaitable<Record<string, unknown> | null> {
  const row = fromStored(declared, stored, scope)
  // Without a sealed value there is nothing to open.
  return row instanceof Promise ? row.then((opened) => readableOrAbsent(scope, declared, stored, opened)) : row
}

/** The same for several, in their order; absent ones are left out. */
function toReadableRows(scope: RecordScope, declared: DeclaredRecord, stored: readonly StoredRow[]): Awaitable<Record<string, unknown>[]> {
  const isThere = (row: Record<string, unknown> | null): row is Record<string, unknown> => row !== null
  const rows = stored.map((row) => toReadableRow(scope, declared, row))
  if (rows.some((row) => row instanceof Promise)) return Promise.all(rows).then((all) => all.filter(isThere))
  return (rows as (Record<string, unknown> | null)[]).filter(isThere)
}

function readableOrAbsent(
  scope: RecordScope,
  declared: DeclaredRecord,
  stored: StoredRow,
  row: Record<string, unknown>,
): Record<string, unknown> | null {
  const { names, lost } = unreadableIn(declared, stored, row)
  if (names.length > 0) scope.unreadable?.(declared.stored.name, names)
  return lost ? null : row
}

/** Writes all or none. A row that cannot be opened and has the id or a unique key of a new one is deleted. Throws RecordConflict for any other. */
async function writeOverLostRows(scope: RecordScope, writes: readonly StoredWrite[]): Promise<Awaited<ReturnType<RecordStore['write']>>> {
  try {
    return await scope.store.write(writes, scope.now())
  } catch (error) {
    if (!(error instanceof RecordConflict)) throw error
    const inTheWay = await findLostRows(scope, writes)
    if (inTheWay.length === 0) throw error
    await scope.store.write(inTheWay, scope.now())
    return scope.store.write(writes, scope.now())
  }
}

async function findLostRows(scope: RecordScope, writes: readonly StoredWrite[]): Promise<StoredWrite[]> {
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
function uniqueKeys({ stored }: DeclaredRecord, row: StoredRow): StoredKey[] {
  return stored.unique
    .map((fields) => Object.fromEntries(fields.map((field) => [field, (row[field] ?? null) as StoredValue])))
    .filter((key) => !Object.values(key).includes(null))
}
