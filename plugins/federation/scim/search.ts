/** Searches: filter, sorting and paging by index or by cursor (RFC 7644 section 3.4.2, RFC 9865). */
import { type FindOptions, HttpError, type RecordTable, type Row } from 'authkernel/kernel'
import { ScimError } from './errors.ts'
import { findKeyCondition, findLowerBound, matchesFilter, parseFilter, type ScimFilter } from './filter.ts'
import { type AttributePath, findAttribute } from './path.ts'
import { type Projection, readProjection } from './representation.ts'
import { assertMessage, type ScimResource } from './resource.ts'
import type { ResourceType } from './schemas.ts'

/** What a client searches for. */
export interface Query {
  readonly filter: ScimFilter | undefined
  readonly sortBy: AttributePath | undefined
  readonly descending: boolean
  /** From 1. Ignored with a cursor. */
  readonly startIndex: number
  readonly count: number
  /** '' asks for the first page. Undefined: paging by index. */
  readonly cursor: string | undefined
  readonly projection: Projection
}
/** A page of rows. */
export interface Page<T> {
  readonly rows: readonly Row<T>[]
  /** Undefined where it is not known: a filter with a cursor. */
  readonly total: number | undefined
  readonly startIndex: number | undefined
  readonly nextCursor: string | undefined
}
/** How one kind of resource is found. */
export interface Source<T extends { directoryId: string }> {
  readonly table: RecordTable<T>
  readonly directoryId: string
  /** How many rows the directory has. */
  readonly total: number
  /** Attributes with an index, and the condition of one on its rows. */
  readonly keys: Readonly<Record<string, (value: string) => Partial<T> | string>>
  /** Attributes whose values are in a separate index, and the function that finds all rows that may match. */
  readonly finders: Readonly<Record<string, (value: string) => Promise<Row<T>[]>>>
  /** Times with an index, and the fields of their rows. */
  readonly times: Readonly<Record<string, keyof T & string>>
  toResource(row: Row<T>): ScimResource
}

/** The most rows that one page has. */
export const maxCount = 200
// What no index serves is looked at row by row, up to here.
const maxScan = 10_000
const step = 500
// What a column with an index holds at most: nothing equals a longer text.
const maxKey = 255

/** Reads the parameters of a GET, or of the body of `/.search`. Throws ScimError 400. */
export async function readQuery(type: ResourceType, given: Readonly<Record<string, unknown>>): Promise<Query> {
  assertMessage(given['schemas'], 'SearchRequest')
  const filter = given['filter']
  const sortBy = given['sortBy']
  if (filter !== undefined && typeof filter !== 'string') throw new ScimError(400, '"filter" must be a text.', 'invalidFilter')
  if (sortBy !== undefined && (typeof sortBy !== 'string' || !findAttribute(type, sortBy)))
    throw new ScimError(400, '"sortBy" must be the name of an attribute.', 'invalidPath')
  const order = sortBy === undefined ? undefined : findAttribute(type, sortBy)
  // The order of values tells them, step by step.
  if (order?.attribute.returned === 'never') throw new ScimError(403, `"${order.attribute.name}" cannot be sorted by.`, 'sensitive')
  const cursor = given['cursor']
  return {
    filter: filter === undefined || filter === '' ? undefined : await parseFilter(type, filter),
    sortBy: order,
    descending: String(given['sortOrder']).toLowerCase() === 'descending',
    startIndex: Math.max(1, readNumber('startIndex', given['startIndex'], 1)),
    count: Math.min(maxCount, Math.max(0, readNumber('count', given['count'], 100))),
    cursor: typeof cursor === 'string' ? cursor : undefined,
    projection: readProjection(type, given['attributes'], given['excludedAttributes']),
  }
}

/** The page of a query. Throws ScimError 400 `tooMany` for a search that no index serves in a large directory, `invalidCursor`. */
export async function findPage<T extends { directoryId: string }>(source: Source<T>, query: Query): Promise<Page<T>> {
  const key = query.filter && findKeyCondition(query.filter, Object.keys(source.keys))
  if (key) return sliceRows(await findByKey(source, source.keys[key.name]?.(key.value) ?? {}, query.filter), source, query)
  const other = query.filter && findKeyCondition(query.filter, Object.keys(source.finders))
  if (other) return sliceRows(keepMatches(source, (await source.finders[other.name]?.(other.value)) ?? [], query.filter), source, query)
  if (query.cursor !== undefined) {
    if (query.sortBy) throw new ScimError(400, 'Sorting and a cursor do not go together.', 'invalidValue')
    return findByCursor(source, query, query.cursor)
  }
  if (query.filter || query.sortBy) return sliceRows(await scanRows(source, query.filter), source, query)
  return findByIndex(source, query)
}

async function findByKey<T extends { directoryId: string }>(
  source: Source<T>,
  condition: Partial<T> | string,
  filter: ScimFilter | undefined,
): Promise<Row<T>[]> {
  const { table, directoryId } = source
  const isId = typeof condition === 'string'
  if (!isId && Object.values(condition).some((value) => typeof value === 'string' && value.length > maxKey)) return []
  const one = isId ? await readById(table, condition) : undefined
  const { rows } = isId ? { rows: one ? [one] : [] } : await table.find({ where: { directoryId, ...condition } as Partial<T>, limit: step })
  return keepMatches(source, rows, filter)
}

function keepMatches<T extends { directoryId: string }>(
  { directoryId, toResource }: Source<T>,
  rows: readonly Row<T>[],
  filter: ScimFilter | undefined,
): Row<T>[] {
  return rows.filter((row) => row.directoryId === directoryId && (!filter || matchesFilter(filter, toResource(row))))
}

async function readById<T>(table: RecordTable<T>, id: string): Promise<Row<T> | null> {
  return /^[\w-]{1,64}$/.test(id) ? table.get(id) : null
}

async function findByCursor<T extends { directoryId: string }>(source: Source<T>, query: Query, given: string): Promise<Page<T>> {
  const { filter } = query
  const limit = query.count
  // The number alone: RFC 9865 section 2.1.
  if (limit === 0) return { rows: [], total: filter ? undefined : source.total, startIndex: undefined, nextCursor: undefined }
  let cursor = given === '' ? undefined : given
  let looked = 0
  for (;;) {
    const page = await findRows(source, { limit, cursor, filter })
    looked += page.rows.length
    const rows = filter ? page.rows.filter((row) => matchesFilter(filter, source.toResource(row))) : page.rows
    const total = filter ? undefined : source.total
    const isLast = page.cursor === undefined
    if (rows.length > 0 || isLast || looked >= maxScan) return { rows, total, startIndex: undefined, nextCursor: page.cursor }
    cursor = page.cursor
  }
}

async function findByIndex<T extends { directoryId: string }>(source: Source<T>, { startIndex, count }: Query): Promise<Page<T>> {
  const facts = { total: source.total, startIndex, nextCursor: undefined }
  if (count === 0 || startIndex > source.total) return { rows: [], ...facts }
  let skip = startIndex - 1
  let cursor: string | undefined
  while (skip > 0) {
    const page = await findRows(source, { limit: Math.min(skip, step), cursor })
    skip -= page.rows.length
    cursor = page.cursor
    if (cursor === undefined) return { rows: [], ...facts }
  }
  return { rows: (await findRows(source, { limit: count, cursor })).rows, ...facts }
}

async function scanRows<T extends { directoryId: string }>(source: Source<T>, filter: ScimFilter | undefined): Promise<Row<T>[]> {
  const tooMany = new ScimError(
    400,
    `The directory has more than ${maxScan} resources: search by "userName", "externalId", "id" or "meta.lastModified gt", or page with a cursor.`,
    'tooMany',
  )
  const isBounded = filter !== undefined && findLowerBound(filter, Object.keys(source.times)) !== undefined
  if (source.total > maxScan && !isBounded) throw tooMany
  const found: Row<T>[] = []
  let cursor: string | undefined
  let looked = 0
  do {
    const page = await findRows(source, { limit: step, cursor, filter })
    looked += page.rows.length
    if (looked > maxScan && isBounded) throw tooMany
    found.push(...page.rows.filter((row) => !filter || matchesFilter(filter, source.toResource(row))))
    cursor = page.cursor
  } while (cursor !== undefined)
  return found
}

function sliceRows<T extends { directoryId: string }>(
  rows: readonly Row<T>[],
  { toResource }: Source<T>,
  { sortBy, descending, startIndex, count, cursor }: Query,
): Page<T> {
  const sorted = sortBy
    ? rows.toSorted((one, other) => compareBy(sortBy, toResource(one), toResource(other)) * (descending ? -1 : 1))
    : rows
  const first = cursor === undefined ? startIndex - 1 : 0
  return {
    rows: sorted.slice(first, first + count),
    total: rows.length,
    startIndex: cursor === undefined ? startIndex : undefined,
    nextCursor: undefined,
  }
}

function compareBy({ schema, attribute, sub }: AttributePath, one: ScimResource, other: ScimResource): number {
  const keyOf = (resource: ScimResource): string => {
    const holder = schema === undefined ? resource : (Object(resource[schema]) as ScimResource)
    const value = holder[attribute.name]
    const values: unknown[] = Array.isArray(value) ? value : [value]
    const first = values.find((each) => Object(each)['primary'] === true) ?? values[0]
    const text = String((attribute.type === 'complex' ? Object(first)[sub?.name ?? 'value'] : first) ?? '')
    return (sub ?? attribute).caseExact ? text : text.toLowerCase()
  }
  const [a, b] = [keyOf(one), keyOf(other)]
  // What has no value comes last in ascending order: RFC 7644 section 3.4.2.3.
  if (a === '' || b === '') return a === b ? 0 : a === '' ? 1 : -1
  return a < b ? -1 : a > b ? 1 : 0
}

// Rows in the order of their creation; from a time on, where the filter has one with an index, in the order of that time.
async function findRows<T extends { directoryId: string }>(
  { table, directoryId, times }: Source<T>,
  { limit, cursor, filter }: { limit: number; cursor: string | undefined; filter?: ScimFilter | undefined },
): Promise<{ rows: Row<T>[]; cursor: string | undefined }> {
  const bound = filter && findLowerBound(filter, Object.keys(times))
  // The names of fields and their types are those of the source: the compiler cannot follow them.
  const range = bound && ({ [times[bound.name] ?? '']: { gte: bound.since } } as FindOptions<T>['range'] & object)
  try {
    return await table.find({ where: { directoryId } as Partial<T>, ...(range && { range }), limit, cursor })
  } catch (error) {
    if (error instanceof HttpError && cursor !== undefined) throw new ScimError(400, 'The cursor is none of this search.', 'invalidCursor')
    throw error
  }
}

function readNumber(name: string, value: unknown, otherwise: number): number {
  if (value === undefined || value === '') return otherwise
  const number = Number(value)
  if (!Number.isSafeInteger(number))
    throw new ScimError(400, `"${name}" must be a whole number.`, name === 'count' ? 'invalidCount' : 'invalidValue')
  return number
}
