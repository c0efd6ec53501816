/** From what a plugin asks to what a store is asked: each query goes by a declared index, or says which one is missing. */
import type { StoredKey, StoredQuery, StoredRow, StoredTable, StoredValue } from '../contract/records.ts'
import { HttpError } from '../errors/base.ts'
import { bytes, fromBase64, toBase64Url } from '../keys/crypto.ts'
import { isDate } from '../runtime/runtime.ts'
import type { DeclaredRecord } from './record-spec.ts'
import { toCondition } from './record-values.ts'

interface RecordQuery {
  where?: Record<string, unknown> | undefined
  range?: Record<string, unknown> | undefined
  order?: 'asc' | 'desc' | undefined
  limit: number
  cursor?: string | undefined
}

/** Throws TypeError without a fitting index, with the declaration to add, and HttpError 400 for a cursor that is none. */
export function toQuery(
  declared: DeclaredRecord,
  ns: string,
  { where = {}, range = {}, order = 'asc', limit, cursor }: RecordQuery,
): StoredQuery {
  const equal = toCondition(declared, where)
  const ranged = Object.entries(range).filter(([, bounds]) => bounds !== undefined)
  if (ranged.length > 1) throw new TypeError(`The record "${declared.stored.name}" takes a range over one field.`)
  const [field, bounds = {}] = ranged[0] ?? []
  const index = indexFor(declared.stored, Object.keys(equal), field)
  const by = field ?? index[Object.keys(equal).length]
  const limits = Object.fromEntries(
    Object.entries(bounds as Record<string, unknown>).map(([bound, value]) => [
      bound,
      toCondition(declared, { [by as string]: value })[by as string] as StoredValue,
    ]),
  )
  return {
    ns,
    where: equal,
    by,
    index,
    range: limits,
    order,
    limit,
    after: cursor === undefined ? undefined : readCursor(declared, by, cursor),
  }
}

/** The key as fields: an id, or all fields of a unique key. Throws TypeError for other sets of fields. */
export function toKey(declared: DeclaredRecord, key: string | Record<string, unknown>): StoredKey {
  if (typeof key === 'string') return { id: key }
  const given = Object.keys(key)
  const fits = declared.stored.unique.some((fields) => fields.length === given.length && fields.every((field) => given.includes(field)))
  if (fits) return toCondition(declared, key)
  throw new TypeError(
    `The record "${declared.stored.name}" has no unique key of ${given.join(', ')}: give an id, or declare \`unique: [[${given.map((field) => `'${field}'`).join(', ')}]]\`.`,
  )
}

/** Where the next page goes on. */
export function writeCursor({ by }: StoredQuery, row: StoredRow): string {
  const value = by === undefined ? null : (row[by] ?? null)
  const plain = isDate(value) ? { at: value.getTime() } : value
  return toBase64Url(bytes(JSON.stringify([plain, row.id])))
}

function readCursor(declared: DeclaredRecord, by: string | undefined, cursor: string): { value: StoredValue; id: string } {
  try {
    const [plain, id] = JSON.parse(new TextDecoder().decode(fromBase64(cursor))) as [unknown, unknown]
    const value = typeof plain === 'object' && plain !== null ? new Date((plain as { at: number }).at) : plain
    if (typeof id !== 'string') throw new TypeError('no id')
    return { value: by === undefined ? null : (toCondition(declared, { [by]: value })[by] as StoredValue), id }
  } catch {
    throw new HttpError(400, 'Bad request.')
  }
}

function indexFor({ name, index, unique }: StoredTable, equal: readonly string[], ranged: string | undefined): readonly string[] {
  const fits = (key: readonly string[]): boolean => {
    const lead = key.slice(0, equal.length)
    return equal.every((field) => lead.includes(field)) && (ranged === undefined || key[equal.length] === ranged)
  }
  if (equal.length === 0 && ranged === undefined) return []
  const found = [...index, ...unique].find(fits)
  if (found) return found
  const missing = [...equal, ...(ranged === undefined ? [] : [ranged])].map((field) => `'${field}'`).join(', ')
  throw new TypeError(`The record "${name}" has no index for this query. Add \`index: [[${missing}]]\` to its declaration.`)
}
