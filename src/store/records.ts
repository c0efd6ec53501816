/** Records of a context. How they are read and written is loaded by the first call. */
import type { AtomicWrite, RecordTable } from '../contract/records.ts'
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
