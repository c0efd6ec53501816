/** Habits: what products write otherwise than RFC 7644 says. Each is read as it is meant; a directory of the dialect `standard` is rejected. */
import { ScimError } from './errors.ts'
import { findByName } from './path.ts'
import type { ResourceType, ScimAttribute } from './schemas.ts'

/** One deviation. */
export type Habit = keyof typeof descriptions

const descriptions = {
  operationCase: '"op" is written in upper case.',
  textBoolean: 'A boolean is written as a text.',
  dottedSchema: 'A path separates schema and attribute by a dot.',
  dottedName: 'A name with a dot stands in a value.',
  membersRemovedByValue: 'A removal names its values, and has no filter.',
  textReference: 'A complex attribute is written as a text.',
  nullReference: '"$ref" is null.',
  repeatedId: 'An operation without a path repeats the id.',
  noUserAgent: 'The request has no User-Agent.',
} as const

/** What a habit is, in one sentence. */
export function describeHabit(habit: Habit): string {
  return descriptions[habit]
}

/** Throws ScimError 400 for a habit of a client that says it has none. */
export function rejectHabit(habit: Habit): never {
  const type =
    habit === 'dottedSchema' || habit === 'dottedName' ? 'invalidPath' : habit === 'operationCase' ? 'invalidSyntax' : 'invalidValue'
  throw new ScimError(400, `${descriptions[habit]} RFC 7644 has another form.`, type)
}

/** The habits in the body of a POST, PUT or PATCH. A body of the wrong shape has none: its reader rejects it. */
export function findHabits(type: ResourceType, body: Readonly<Record<string, unknown>>): Habit[] {
  const found = new Set<Habit>()
  const operations = Object.entries(body).find(([name]) => name.toLowerCase() === 'operations')?.[1]
  if (Array.isArray(operations)) for (const one of operations) if (isObject(one)) findInOperation(type, one, found)
  if (!Array.isArray(operations)) findInValues(type, body, found)
  return [...found]
}

function findInOperation(type: ResourceType, operation: Record<string, unknown>, found: Set<Habit>): void {
  const fields = new Map(Object.entries(operation).map(([name, value]) => [name.toLowerCase(), value]))
  const [op, path, value] = [fields.get('op'), fields.get('path'), fields.get('value')]
  if (typeof op === 'string' && op !== op.toLowerCase()) found.add('operationCase')
  const isRemoval = typeof op === 'string' && op.toLowerCase() === 'remove'
  if (typeof path !== 'string' || path === '') {
    if (!isObject(value)) return
    if (Object.hasOwn(value, 'id')) found.add('repeatedId')
    if (Object.keys(value).some((name) => !name.toLowerCase().startsWith('urn:') && name.includes('.'))) found.add('dottedName')
    findInValues(type, value, found)
    return
  }
  if (isDotted(type, path)) found.add('dottedSchema')
  if (isRemoval && value !== undefined && value !== null && !path.includes('[')) found.add('membersRemovedByValue')
  const plain = withoutFilter(path)
  const attribute = findByName(attributesOf(type), plain) ?? findByName(allAttributes(type), plain.split(/[.:]/).at(-1) ?? '')
  if (attribute) findInValue(attribute, value, found)
}

function findInValues(type: ResourceType, values: Readonly<Record<string, unknown>>, found: Set<Habit>): void {
  for (const [name, value] of Object.entries(values)) {
    const extension = type.extensions.find(({ id }) => id.toLowerCase() === name.toLowerCase())
    if (extension && isObject(value)) findInObject(extension.attributes, value, found)
    const attribute = findByName(type.core.attributes, name)
    if (attribute) findInValue(attribute, value, found)
  }
}

function findInObject(attributes: readonly ScimAttribute[], value: Record<string, unknown>, found: Set<Habit>): void {
  for (const [name, one] of Object.entries(value)) {
    if (name === '$ref' && one === null) found.add('nullReference')
    const attribute = findByName(attributes, name)
    if (attribute) findInValue(attribute, one, found)
  }
}

function findInValue(attribute: ScimAttribute, value: unknown, found: Set<Habit>): void {
  for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) {
    if (attribute.type === 'boolean' && typeof one === 'string') found.add('textBoolean')
    if (attribute.type === 'complex' && typeof one === 'string') found.add('textReference')
    if (attribute.type === 'complex' && isObject(one)) findInObject(attribute.subAttributes ?? [], one, found)
  }
}

/** `emails[type eq "work"].value` is `emails.value`. */
function withoutFilter(path: string): string {
  const [from, to] = [path.indexOf('['), path.lastIndexOf(']')]
  return from === -1 || to < from ? path : path.slice(0, from) + path.slice(to + 1)
}

function isDotted({ core, extensions }: ResourceType, path: string): boolean {
  return [core, ...extensions].some(({ id }) => path.toLowerCase().startsWith(`${id.toLowerCase()}.`))
}

function attributesOf({ core, extensions }: ResourceType): ScimAttribute[] {
  return [...core.attributes, ...extensions.flatMap(({ attributes }) => attributes)]
}

function allAttributes(type: ResourceType): ScimAttribute[] {
  const attributes = attributesOf(type)
  return [...attributes, ...attributes.flatMap(({ subAttributes }) => subAttributes ?? [])]
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
