/** Records of a context, and all rows of a query. How they are read and written is loaded by the first call. */
import type { AtomicWrite, FindOptions, RecordTable, Row } from '../contract/records.ts'
import { lazily, lazyObject, type Lazy } from '../runtime/lazy.ts'
import type { RecordScope } from './record-table.ts'

export type { RecordScope } from './record-table.ts'

/** The heavy part. */
export const recordTables: Lazy<typeof import('./record-table.ts')> = /* @__PURE__ */ lazily(() => import('./record-table.ts'))

const operations = [
  'get',
  'getMany',
  'find',
  'count',
  'create',
  'createMany',
  'put',
  'update',
  'increment',
  'take',
  'delete',
  'deleteWhere',
] as const satisfies (keyof RecordTable<Record<string, unknown>>)[]

/** The operations of one record. Throws for a name that is not declared. */
export function createRecordTable<T extends Record<string, unknown>>(name: string, scope: RecordScope): RecordTable<T> {
  const loaded = recordTables()
  if (!(loaded instanceof Promise)) return loaded.createRecordTable<T>(name, scope)
  scope.declared(name)
  return lazyObject(operations, recordTables, (code) => code.createRecordTable<T>(name, scope))
}

/** Up to 20 writes over several records: all, with their answers in order, or none and false. */
export async function writeAtomic(scope: RecordScope, writes: readonly AtomicWrite[]): Promise<readonly unknown[] | false> {
  return (await recordTables()).writeAtomic(scope, writes)
}

/** Where to look, and how: a query of `find` without its cursor. `limit`: rows a page, default 1000. */
export type RowQuery<T> = Omit<FindOptions<T>, 'cursor'>

const pageSize = 1000

/**
 * Yields all rows of a query in the order of its index, and reads the next page when it is needed. A row that was read may be changed or deleted
 * meanwhile. Throws like `find`.
 */
export async function* readRows<T>(table: Pick<RecordTable<T>, 'find'>, query: RowQuery<T> = {}): AsyncGenerator<Row<T>, void, undefined> {
  let cursor: string | undefined
  do {
    const page = await table.find({ limit: pageSize, ...query, cursor })
    yield* page.rows
    cursor = page.cursor
  } while (cursor !== undefined)
}

/** All rows of a query in one list. Throws like `find`. */
export async function listRows<T>(table: Pick<RecordTable<T>, 'find'>, query: RowQuery<T> = {}): Promise<Row<T>[]> {
  const rows: Row<T>[] = []
  for await (const row of readRows(table, query)) rows.push(row)
  return rows
}
