/** Reads what a client sent as a resource: names in their usual case, values of the right type, and nothing that no schema has. */
import { ScimError, wrongValue } from './errors.ts'
import { findByName } from './path.ts'
import { commonAttributes, type ResourceType, type ScimAttribute } from './schemas.ts'

/** Attributes by name; those of extensions below the URN of the extension. Made from names of schemas alone, so that no key reaches a prototype. */
export type ScimResource = { [name: string]: unknown }

/** What two texts that compare as equal have in common: upper and lower case, and composed characters or not, are no difference. */
export function toTextKey(text: string): string {
  return text.normalize('NFC').toLowerCase()
}

/** Whether two values are the same; the order of names in an object is none, because stores sort them. */
export function isSameValue(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other
  const [names, others] = [Object.keys(one), Object.keys(other)]
  return (
    Array.isArray(one) === Array.isArray(other) &&
    names.length === others.length &&
    names.every((name) => Object.hasOwn(other, name) && isSameValue((one as ScimResource)[name], (other as ScimResource)[name]))
  )
}

const maxText = 10_000
/** The most values that a list has. */
export const maxValues = 1000

/**
 * A resource of a POST or PUT. What clients may not write is left out. `onUnknown` gets names that no schema has; they are ignored, as RFC 7643 section 2.2 allows.
 * Throws ScimError 400 with the name of the attribute.
 */
export function readResource(type: ResourceType, sent: unknown, onUnknown: (name: string) => void = () => {}): ScimResource {
  const body = readObject(sent, 'body')
  assertSchemas(type, body)
  const resource: ScimResource = {}
  for (const [name, value] of ownEntries(body)) {
    const extension = type.extensions.find(({ id }) => id.toLowerCase() === name.toLowerCase())
    const attribute = findByName([...commonAttributes, ...type.core.attributes], name)
    if (extension) {
      const read = readObjectOf(extension.attributes, value ?? {}, extension.id, onUnknown)
      if (Object.keys(read).length > 0) resource[extension.id] = read
    } else if (attribute) setValue(resource, attribute, value)
    else onUnknown(name)
  }
  for (const { name, required } of type.core.attributes) if (required && resource[name] === undefined) throw wrongValue(name, 'is missing.')
  return resource
}

/** One value of an attribute as it is kept; undefined for null, an empty text of a list, and what only the server writes. Throws ScimError 400. */
export function readValue(attribute: ScimAttribute, value: unknown): unknown {
  if (value === null || value === undefined || attribute.mutability === 'readOnly' || attribute.mutability === 'writeOnly') return undefined
  if (!attribute.multiValued) return readSingle(attribute, value)
  const values = Array.isArray(value) ? value : [value]
  if (values.length > maxValues) throw wrongValue(attribute.name, `has more than ${maxValues} values.`)
  const read = values.map((one) => readSingle(attribute, one)).filter((one) => one !== undefined)
  if (read.filter((one) => (one as ScimResource)['primary'] === true).length > 1)
    throw wrongValue(attribute.name, 'has more than one primary value.')
  return read.length > 0 ? read : undefined
}

/** An object that a client sent. Throws ScimError 400 for anything else. */
export function readObject(value: unknown, name: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ScimError(400, `The ${name} must be a JSON object.`, 'invalidSyntax')
  return value as Record<string, unknown>
}

/** The entries of an object that a client sent. Throws ScimError 400 when a name stands there twice, in two cases. */
export function ownEntries(value: Record<string, unknown>): [string, unknown][] {
  const entries = Object.entries(value)
  const seen = new Set<string>()
  for (const [name] of entries) {
    const lower = name.toLowerCase()
    if (seen.has(lower)) throw new ScimError(400, `The attribute "${name.slice(0, 100)}" was sent twice.`, 'invalidSyntax')
    seen.add(lower)
  }
  return entries
}

const messages = 'urn:ietf:params:scim:api:messages:2.0:'

/** `schemas` of a PATCH, a search or a bulk request. Throws ScimError 400 where they name another message; many clients leave them out. */
export function assertMessage(schemas: unknown, name: 'PatchOp' | 'SearchRequest' | 'BulkRequest'): void {
  if (schemas === undefined) return
  const wanted = `${messages}${name}`
  if (!Array.isArray(schemas) || !schemas.some((one) => String(one).toLowerCase() === wanted.toLowerCase()))
    throw new ScimError(400, `"schemas" must contain ${wanted}.`, 'invalidValue')
}

function assertSchemas({ core }: ResourceType, body: Record<string, unknown>): void {
  const given = Object.entries(body).find(([name]) => name.toLowerCase() === 'schemas')?.[1]
  if (given === undefined) return
  const known = Array.isArray(given) && given.some((one) => typeof one === 'string' && one.toLowerCase() === core.id.toLowerCase())
  if (!known) throw new ScimError(400, `"schemas" must contain ${core.id}.`, 'invalidValue')
}

function readSingle(attribute: ScimAttribute, value: unknown): unknown {
  const { name, type } = attribute
  if (type === 'complex') return readComplex(attribute, value)
  if (type === 'boolean') return readBoolean(name, value)
  if (type === 'integer' || type === 'decimal') return readNumber(attribute, value)
  // Directories export numbers, an employee number for example, as numbers.
  const written = typeof value === 'number' ? String(value) : value
  if (typeof written !== 'string') throw wrongValue(name, 'must be a text.')
  if (written.length > maxText) throw wrongValue(name, `is longer than ${maxText} characters.`)
  if (/[\0\p{Cs}]/u.test(written)) throw wrongValue(name, 'has characters that cannot be stored.')
  if (type === 'dateTime' && Number.isNaN(Date.parse(written))) throw wrongValue(name, 'must be a date and time.')
  return written
}

// Entra ID sends a manager and addresses as plain texts.
function readComplex(attribute: ScimAttribute, value: unknown): ScimResource | undefined {
  const isText = typeof value === 'string' && findByName(attribute.subAttributes, 'value') !== undefined
  if (isText && value === '') return undefined
  const read = isText
    ? { value: readSingle({ ...attribute, type: 'reference' }, value) }
    : readObjectOf(attribute.subAttributes ?? [], value, attribute.name)
  // Empty texts mean no value: so Entra ID takes a manager away.
  return Object.values(read).some((one) => one !== '') ? read : undefined
}

function readObjectOf(
  attributes: readonly ScimAttribute[],
  value: unknown,
  name: string,
  onUnknown: (name: string) => void = () => {},
): ScimResource {
  const read: ScimResource = {}
  for (const [key, one] of ownEntries(readObject(value, name))) {
    const attribute = findByName(attributes, key)
    if (attribute) setValue(read, attribute, one)
    else onUnknown(`${name}.${key}`)
  }
  return read
}

function setValue(target: ScimResource, attribute: ScimAttribute, value: unknown): void {
  const read = readValue(attribute, value)
  if (read !== undefined) target[attribute.name] = read
}

// Entra ID sends "True" and "False".
function readBoolean(name: string, value: unknown): boolean {
  const lower = typeof value === 'string' ? value.toLowerCase() : value
  if (lower === true || lower === 'true') return true
  if (lower === false || lower === 'false') return false
  throw wrongValue(name, 'must be true or false.')
}

function readNumber({ name, type }: ScimAttribute, value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value) || (type === 'integer' && !Number.isSafeInteger(value)))
    throw wrongValue(name, type === 'integer' ? 'must be a whole number.' : 'must be a number.')
  return value
}
