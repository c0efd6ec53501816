/** Filters of searches and of PATCH paths: the grammar of RFC 7644 section 3.4.2.2, read by scim2-parse-filter within limits. */
import type { Filter } from 'scim2-parse-filter'
import { ScimError } from './errors.ts'
import { type AttributePath, findAttribute, findByName } from './path.ts'
import { type ScimResource, toTextKey } from './resource.ts'
import type { ResourceType, ScimAttribute } from './schemas.ts'

/** A condition on one attribute. */
export interface Comparison {
  readonly op: 'eq' | 'ne' | 'co' | 'sw' | 'ew' | 'gt' | 'ge' | 'lt' | 'le' | 'pr'
  readonly path: AttributePath
  readonly value: string | number | boolean | null
}
/** A filter whose names are those of the schema. */
export type ScimFilter =
  | Comparison
  | { readonly op: 'and' | 'or'; readonly filters: readonly ScimFilter[] }
  | { readonly op: 'not'; readonly filter: ScimFilter }
  /** Holds for one value of a list: `emails[type eq "work"]`. */
  | { readonly op: 'some'; readonly path: AttributePath; readonly filter: ScimFilter }

const maxLength = 2000
const maxDepth = 12
const maxConditions = 50

/** Reads a filter over resources of a type. Throws ScimError 400 `invalidFilter`, also for what is too long or too deep. */
export async function parseFilter(type: ResourceType, text: string): Promise<ScimFilter> {
  return resolveFilter(type, await readGrammar(text), undefined, { depth: 0, conditions: 0 })
}

/** Reads the filter in the brackets of a path, over the values of one attribute. */
export async function parseValueFilter(type: ResourceType, text: string, attribute: ScimAttribute): Promise<ScimFilter> {
  return resolveFilter(type, await readGrammar(text), attribute, { depth: 0, conditions: 0 })
}

/** Whether a resource, or a value of a list, fulfils a filter. */
export function matchesFilter(filter: ScimFilter, resource: ScimResource): boolean {
  switch (filter.op) {
    case 'and':
      return filter.filters.every((one) => matchesFilter(one, resource))
    case 'or':
      return filter.filters.some((one) => matchesFilter(one, resource))
    case 'not':
      return !matchesFilter(filter.filter, resource)
    case 'some':
      return readValues(resource, filter.path).some((value) => matchesFilter(filter.filter, Object(value) as ScimResource))
    default:
      return compares(filter, resource)
  }
}

/** A comparison by `eq` with a text that each match fulfils, and whose attribute is one of `names`: the index to search by. */
export function findKeyCondition(filter: ScimFilter, names: readonly string[]): { name: string; value: string } | undefined {
  if (filter.op === 'and') {
    for (const one of filter.filters) {
      const found = findKeyCondition(one, names)
      if (found) return found
    }
  }
  if (filter.op === 'some' && filter.path.schema === undefined) {
    const inside = findKeyCondition(filter.filter, ['value'])
    const name = `${filter.path.attribute.name}.value`
    return inside && names.includes(name) ? { name, value: inside.value } : undefined
  }
  if (filter.op !== 'eq') return undefined
  const { path, value } = filter
  const name = path.sub ? `${path.attribute.name}.${path.sub.name}` : path.attribute.name
  return path.schema === undefined && typeof value === 'string' && names.includes(name) ? { name, value } : undefined
}

/** The later bound of a time that each match has, such as `meta.lastModified gt`: what an index in the order of that time can begin at. */
export function findLowerBound(filter: ScimFilter, names: readonly string[]): { name: string; since: Date } | undefined {
  if (filter.op === 'and') {
    for (const one of filter.filters) {
      const found = findLowerBound(one, names)
      if (found) return found
    }
  }
  if (filter.op !== 'gt' && filter.op !== 'ge') return undefined
  const { path, value } = filter
  const name = path.sub ? `${path.attribute.name}.${path.sub.name}` : path.attribute.name
  const since = new Date(String(value))
  return path.schema === undefined && names.includes(name) && !Number.isNaN(since.getTime()) ? { name, since } : undefined
}

/** Names of the attributes that a filter looks at. */
export function listFilterNames(filter: ScimFilter): string[] {
  if ('filters' in filter) return filter.filters.flatMap(listFilterNames)
  if (filter.op === 'not') return listFilterNames(filter.filter)
  const { schema, attribute, sub } = filter.path
  const name = `${schema === undefined ? '' : `${schema}:`}${attribute.name}${sub ? `.${sub.name}` : ''}`
  return filter.op === 'some' ? listFilterNames(filter.filter).map((inner) => `${name}.${inner}`) : [name]
}

async function readGrammar(text: string): Promise<Filter> {
  if (text.length > maxLength) throw wrongFilter(`is longer than ${maxLength} characters.`)
  // The library tries line breaks in texts in two ways each, which takes time that doubles with each of them.
  if (/[\p{Cc}\p{Cs}]/u.test(text)) throw wrongFilter('has control characters.')
  const { parse } = await import('scim2-parse-filter')
  try {
    return parse(text)
  } catch {
    throw wrongFilter('cannot be read: see RFC 7644 section 3.4.2.2.')
  }
}

interface Counts {
  depth: number
  conditions: number
}

function resolveFilter(type: ResourceType, filter: Filter, within: ScimAttribute | undefined, counts: Counts): ScimFilter {
  const below = (other: Filter, attribute = within): ScimFilter => {
    counts.depth++
    if (counts.depth > maxDepth) throw wrongFilter(`is nested deeper than ${maxDepth} levels.`)
    const resolved = resolveFilter(type, other, attribute, counts)
    counts.depth--
    return resolved
  }
  if ('filters' in filter) return { op: filter.op, filters: filter.filters.map((one) => below(one)) }
  if (filter.op === 'not') return { op: 'not', filter: below(filter.filter) }
  const path = within ? findWithin(within, filter.attrPath) : findAttribute(type, filter.attrPath)
  if (!path) throw wrongFilter(`names "${filter.attrPath.slice(0, 100)}", which is no attribute of ${within?.name ?? type.name}.`)
  if (path.attribute.returned === 'never') throw new ScimError(403, `"${path.attribute.name}" cannot be searched.`, 'sensitive')
  // The row of a user does not have them: a search would find none, which is wrong.
  if (path.attribute.name === 'groups' && type.name === 'User') throw wrongFilter('names "groups": search /Groups by "members" instead.')
  if (filter.op === '[]') {
    if (within || path.sub) throw wrongFilter('has brackets after what has no values.')
    return { op: 'some', path, filter: below(filter.valFilter, path.attribute) }
  }
  counts.conditions++
  if (counts.conditions > maxConditions) throw wrongFilter(`has more than ${maxConditions} conditions.`)
  return createComparison(path, filter.op, filter.op === 'pr' ? null : filter.compValue)
}

function createComparison(given: AttributePath, op: Comparison['op'], value: Comparison['value']): Comparison {
  // `emails eq "…"` means the value of each email.
  const sub = given.sub ?? (op === 'pr' ? undefined : findByName(given.attribute.subAttributes, 'value'))
  const path = { ...given, sub }
  const { type } = sub ?? given.attribute
  if (type === 'boolean' && typeof value === 'string' && /^(true|false)$/i.test(value))
    return { op, path, value: value.toLowerCase() === 'true' }
  const ordered = op === 'gt' || op === 'ge' || op === 'lt' || op === 'le'
  if (ordered && (type === 'boolean' || type === 'complex')) throw wrongFilter(`compares "${given.attribute.name}", which has no order.`)
  return { op, path, value }
}

function findWithin(attribute: ScimAttribute, name: string): AttributePath | undefined {
  const found = findByName(attribute.subAttributes, name)
  return found && { schema: undefined, attribute: found, sub: undefined }
}

function readValues(resource: ScimResource, { schema, attribute, sub }: AttributePath): unknown[] {
  const holder = schema === undefined ? resource : (resource[schema] as ScimResource | undefined)
  const value = holder?.[attribute.name]
  const values = Array.isArray(value) ? value : value === undefined ? [] : [value]
  return sub ? values.map((one) => (one as ScimResource)[sub.name]).filter((one) => one !== undefined) : values
}

function compares({ op, path, value }: Comparison, resource: ScimResource): boolean {
  const values = readValues(resource, path)
  if (op === 'pr') return values.length > 0
  // An attribute without a value equals null (RFC 7643 section 2.5).
  if (value === null) return op === 'eq' ? values.length === 0 : op === 'ne' && values.length > 0
  const { caseExact, type } = path.sub ?? path.attribute
  const toComparable = (one: unknown): unknown =>
    type === 'dateTime' ? Date.parse(String(one)) : typeof one === 'string' && !caseExact ? toTextKey(one) : one
  const wanted = toComparable(value)
  if (op === 'ne') return values.every((one) => toComparable(one) !== wanted)
  return values.some((one) => comparesOne(op, toComparable(one), wanted))
}

function comparesOne(op: Comparison['op'], held: unknown, wanted: unknown): boolean {
  if (op === 'eq') return held === wanted
  if (op === 'co') return String(held).includes(String(wanted))
  if (op === 'sw') return String(held).startsWith(String(wanted))
  if (op === 'ew') return String(held).endsWith(String(wanted))
  if (typeof held !== typeof wanted) return false
  const [one, other] = [held as string, wanted as string]
  if (op === 'gt') return one > other
  if (op === 'ge') return one >= other
  return op === 'lt' ? one < other : one <= other
}

function wrongFilter(what: string): ScimError {
  return new ScimError(400, `The filter ${what}`, 'invalidFilter')
}
