/** Sealed fields under the newest secret: what was sealed with a former one is lost when that is dropped. */
import type { ResealReport } from '../contract/maintenance.ts'
import type { StoredKey, StoredRow, StoredValue } from '../contract/records.ts'
import type { Declared } from './record-spec.ts'
import { type RecordScope, calling } from './record-table.ts'
import { fromStored, toChange } from './record-values.ts'

const page = 500

/** Rewrites the sealed fields of one record, row by row: a row that somebody changes meanwhile is sealed anew by them. */
export async function reseal(
  scope: RecordScope,
  declared: Declared,
  told: (report: ResealReport) => void = () => {},
): Promise<ResealReport> {
  const report: ResealReport = { resealed: 0, unreadable: 0 }
  const { name } = declared.stored
  const fields = [...declared.fields].filter(([, { sealed }]) => sealed).map(([field]) => field)
  if (fields.length === 0) return report
  const query = { ns: scope.namespace, where: {}, by: undefined, index: [], range: {}, order: 'asc', limit: page } as const
  for (let last: StoredRow | undefined, more = true; more;) {
    const after = last && { value: null, id: last.id }
    const rows: StoredRow[] = await calling(scope, `records("${name}").find`, () =>
      scope.store.find(name, { ...query, after }, scope.now()),
    )
    for (const row of rows) {
      const outcome = await resealRow(scope, declared, fields, row)
      if (outcome) report[outcome]++
    }
    if (rows.length > 0) told({ ...report })
    last = rows.at(-1)
    more = rows.length === page
  }
  return report
}

async function resealRow(
  scope: RecordScope,
  declared: Declared,
  fields: readonly string[],
  row: StoredRow,
): Promise<keyof ResealReport | undefined> {
  const held = fields.filter((field) => row[field] !== null)
  if (held.length === 0) return undefined
  const opened = await fromStored(declared, row, scope)
  const readable = held.filter((field) => opened[field] !== null)
  const change = await toChange(declared, row.id, Object.fromEntries(readable.map((field) => [field, opened[field]])), scope)
  const before: StoredKey = Object.fromEntries(readable.map((field) => [field, row[field] as StoredValue]))
  const { name } = declared.stored
  if (readable.length > 0) {
    const write = { op: 'update', table: name, ns: row.ns, id: row.id, change, if: before } as const
    await calling(scope, `records("${name}").update`, () => scope.store.write([write], scope.now()))
  }
  return readable.length === held.length ? 'resealed' : 'unreadable'
}
