/** Rows of records as values of a store, their keys, and texts that sort as their values do. */
import { sha256, type StoredKey, type StoredQuery, type StoredRow, type StoredTable, type StoredValue, toHex } from 'authkernel/kernel'
import { keySegment } from './keys.ts'
import { compareBytes } from './sorted-sets.ts'
import type { Key, SetRange } from './types.ts'

/** Where the rows of one record lie. */
export interface RecordPlace {
  readonly table: StoredTable
  /** Every list of fields that a query may go by: the fronts of indexes and unique keys. */
  readonly lists: readonly (readonly string[])[]
  /** All rows. */
  readonly folder: string
  /** The lists that were built. */
  readonly schema: string
  row(ns: string, id: string): Promise<Key>
  unique(fields: readonly string[], row: StoredRow): Promise<Key>
  /** The set of a list. Where sets are not sorted by the store there is one for each value of the first field: `bucket`. */
  set(ns: string, list: readonly string[], bucket: StoredValue | undefined): Promise<string>
}

export function recordPlace(table: StoredTable, root: string): RecordPlace {
  const base = `${root}rec:`
  const lists = new Map<string, readonly string[]>()
  for (const fields of [...table.unique, ...table.index]) {
    for (let size = 1; size <= fields.length; size++) lists.set(fields.slice(0, size).join('-'), fields.slice(0, size))
  }
  const folder = `${base}row:${table.name}:`
  return {
    table,
    lists: [[], ...lists.values()],
    folder,
    schema: `${base}schema:${table.name}`,
    row: async (ns, id) => ({ path: `${folder}${ns || '_'}:${await keySegment(id)}` }),
    unique: async (fields, row) => ({
      path: `${base}key:${table.name}:${row.ns || '_'}:${fields.join('-')}:${await hashValues(fields.map((field) => sortableText(row[field] ?? null)))}`,
    }),
    set: async (ns, list, bucket) => {
      const name = `${base}set:${table.name}:${ns || '_'}:${list.join('-') || '_'}`
      return bucket === undefined ? name : `${name}:${await hashValues([sortableText(bucket)])}`
    },
  }
}

/** Rows that a user owns, of all tenants. */
export async function ownedSet(root: string, userId: string): Promise<string> {
  return `${root}rec:owned:${await keySegment(userId)}`
}

/** A stored value as a row; fields that came later have their defaults. */
export function toRow(table: StoredTable, value: unknown): StoredRow | null {
  if (typeof value !== 'object' || value === null) return null
  const values = value as Record<string, string | number | boolean | null>
  const row: Record<string, StoredValue> = { ns: String(values['ns']), id: String(values['id']) }
  for (const { name, type, default: preset } of table.fields) {
    const field = values[name]
    row[name] = field === undefined ? (preset ?? null) : type === 'date' && field !== null ? new Date(field as number) : field
  }
  return row as StoredRow
}

/** What is stored of a row: dates are milliseconds. */
export function toValue(row: StoredRow): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value instanceof Date ? value.getTime() : value]))
}

/** A text that sorts as the value does, null first. No value has a NUL, so that it can stand between two. */
function sortableText(value: StoredValue): string {
  if (value === null) return '0'
  if (typeof value === 'boolean') return value ? '11' : '10'
  if (typeof value === 'string') return `1${value}`
  const number = Number(value)
  return number < 0 ? `10${String(number + 2 ** 53).padStart(16, '0')}` : `11${String(number).padStart(16, '0')}`
}

/** What stands for a row in the set of a list. */
export function listMember(row: StoredRow, fields: readonly string[]): string {
  return [...fields.map((field) => sortableText(row[field] ?? null)), row.id].join('\0')
}

/** The id at the end of a member. */
export function idOfMember(member: string): string {
  return member.slice(member.lastIndexOf('\0') + 1)
}

/** The part of a set that a query asks for. `fields`: those of equality that are in the members. */
export function rangeOf({ where, by, range, after, order, limit }: StoredQuery, fields: readonly string[]): SetRange {
  const front = fields.map((field) => `${sortableText(where[field] ?? null)}\0`).join('')
  const { gt, gte, lt, lte } = range
  const hasBound = gt !== undefined || gte !== undefined || lt !== undefined || lte !== undefined
  // Behind every member with that value, and before the next value.
  const toBound = (value: StoredValue): string => `${front}${sortableText(value)}\u0001`
  const mins = [
    front === '' && !hasBound ? '-' : `[${front}${hasBound ? '1' : ''}`,
    ...(gte === undefined ? [] : [`[${front}${sortableText(gte)}`]),
    ...(gt === undefined ? [] : [`[${toBound(gt)}`]),
  ]
  const maxs = [
    front === '' ? '+' : `(${front.slice(0, -1)}\u0001`,
    ...(lt === undefined ? [] : [`(${front}${sortableText(lt)}`]),
    ...(lte === undefined ? [] : [`(${toBound(lte)}`]),
  ]
  const place = after && `(${front}${by === undefined ? '' : `${sortableText(after.value)}\0`}${after.id}`
  return {
    min: (order === 'asc' && place) || mins.at(-1)!,
    max: (order === 'desc' && place) || maxs.at(-1)!,
    reverse: order === 'desc',
    limit,
  }
}

/** Whether a row has these values. */
export function hasValues(row: StoredRow, values: StoredKey): boolean {
  return Object.entries(values).every(([field, value]) => sortableText(row[field] ?? null) === sortableText(value))
}

/** Whether a row is one that a query asks for: as it is now, not as it was when it was found. */
export function matchesQuery(row: StoredRow, { where, by, range: { gt, gte, lt, lte } }: StoredQuery): boolean {
  if (!hasValues(row, where)) return false
  if (by === undefined || [gt, gte, lt, lte].every((bound) => bound === undefined)) return true
  const value = row[by] ?? null
  // As in SQL: null is in no range.
  if (value === null) return false
  const beside = (bound: StoredValue): number => compareBytes(sortableText(value), sortableText(bound))
  return (
    (gt === undefined || beside(gt) > 0) &&
    (gte === undefined || beside(gte) >= 0) &&
    (lt === undefined || beside(lt) < 0) &&
    (lte === undefined || beside(lte) <= 0)
  )
}

async function hashValues(values: readonly string[]): Promise<string> {
  return toHex(await sha256(JSON.stringify(values)))
}
