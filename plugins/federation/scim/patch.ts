/**
 * PATCH (RFC 7644 section 3.5.2). Our own, because scim-patch 0.8.3 writes to `Object.prototype` through a path of `__proto__.x`: here each name of a path is looked
 * up in the schema, and only names of the schema are written.
 */
import { ScimError, wrongValue } from './errors.ts'
import { type Comparison, matchesFilter, parseValueFilter, type ScimFilter } from './filter.ts'
import { type AttributePath, findExtension, requireAttribute } from './path.ts'
import { assertMessage, maxValues, ownEntries, readObject, readValue, type ScimResource } from './resource.ts'
import type { ResourceType } from './schemas.ts'

/** One operation whose path is resolved. */
export interface PatchOperation {
  readonly op: 'add' | 'replace' | 'remove'
  readonly path: AttributePath
  /** The values of a list that are meant: `emails[type eq "work"]`. */
  readonly filter: ScimFilter | undefined
  /** As sent; not checked yet. */
  readonly value: unknown
}

// Some directories send an operation for each member of a group. Each operation on a user may go over its largest list.
const maxOperations = { User: 1000, Group: 10_000 } as const
const maxPath = 2000

/** Reads the body of a PATCH. Attributes in a `value` without a path become one operation each. Throws ScimError 400. */
export async function readPatch(
  type: ResourceType,
  sent: unknown,
  onUnknown: (name: string) => void = () => {},
): Promise<PatchOperation[]> {
  const body = new Map(ownEntries(readObject(sent, 'body')).map(([name, value]) => [name.toLowerCase(), value]))
  assertMessage(body.get('schemas'), 'PatchOp')
  const given = body.get('operations')
  if (!Array.isArray(given) || given.length === 0)
    throw new ScimError(400, '"Operations" must be a list with at least one operation.', 'invalidSyntax')
  const most = maxOperations[type.name]
  if (given.length > most) throw new ScimError(413, `More than ${most} operations.`, 'tooMany')
  const operations: PatchOperation[] = []
  for (const one of given) {
    const fields = new Map(ownEntries(readObject(one, 'operation')).map(([name, value]) => [name.toLowerCase(), value]))
    const op = readOp(fields.get('op'))
    const path = fields.get('path')
    const value = fields.get('value')
    if (op === 'add' && value === undefined) throw new ScimError(400, '"add" needs a "value".', 'invalidValue')
    const extension = typeof path === 'string' ? findExtension(type, path) : undefined
    if (extension !== undefined) operations.push(...readExtension(type, { op, extension, value }))
    else if (typeof path === 'string' && path !== '') operations.push(assertWritable(await readOperation(type, op, path, value)))
    else operations.push(...(await readWithoutPath(type, op, value, onUnknown)))
  }
  return operations
}

/** The resource after the operations; the given one stays as it is. Throws ScimError 400. */
export function applyPatch(type: ResourceType, resource: ScimResource, operations: readonly PatchOperation[]): ScimResource {
  const changed = structuredClone(resource)
  for (const operation of operations) applyOperation(changed, operation)
  for (const { name, required } of type.core.attributes)
    if (required && changed[name] === undefined) throw new ScimError(400, `The attribute "${name}" cannot be removed.`, 'mutability')
  return changed
}

// Entra ID writes "Add", "Replace" and "Remove".
function readOp(value: unknown): PatchOperation['op'] {
  const op = typeof value === 'string' ? value.toLowerCase() : ''
  if (op === 'add' || op === 'replace' || op === 'remove') return op
  throw new ScimError(400, '"op" must be add, replace or remove.', 'invalidSyntax')
}

// A path names what is meant. Without one, clients repeat the whole resource, its id among it.
function assertWritable(operation: PatchOperation): PatchOperation {
  const { name, mutability } = operation.path.attribute
  if (mutability === 'readOnly') throw new ScimError(400, `"${name}" cannot be changed.`, 'mutability')
  return operation
}

async function readOperation(type: ResourceType, op: PatchOperation['op'], text: string, value: unknown): Promise<PatchOperation> {
  if (text.length > maxPath) throw wrongPath('is too long.')
  const bracket = text.indexOf('[')
  if (bracket === -1) return { op, path: requireAttribute(type, text), filter: undefined, value }
  const end = text.lastIndexOf(']')
  const after = text.slice(end + 1)
  if (end < bracket || (after !== '' && !after.startsWith('.'))) throw wrongPath('has brackets that do not fit.')
  const path = requireAttribute(type, text.slice(0, bracket) + after)
  if (!path.attribute.multiValued) throw wrongPath(`has a filter on "${path.attribute.name}", which is no list.`)
  return { op, path, filter: await parseValueFilter(type, text.slice(bracket + 1, end), path.attribute), value }
}

async function readWithoutPath(
  type: ResourceType,
  op: PatchOperation['op'],
  value: unknown,
  onUnknown: (name: string) => void,
): Promise<PatchOperation[]> {
  if (op === 'remove') throw new ScimError(400, '"remove" needs a path.', 'noTarget')
  const operations: PatchOperation[] = []
  for (const [name, one] of ownEntries(readObject(value, 'value of an operation without a path'))) {
    const extension = findExtension(type, name)
    if (extension !== undefined) operations.push(...readExtension(type, { op, extension, value: one }))
    else if (name.toLowerCase() !== 'schemas') {
      // Okta repeats the id, and Entra ID names such as "name.givenName" here.
      const read = await readOperation(type, op, name, one).catch((error: unknown) => error)
      if (!(read instanceof Error)) operations.push(read as PatchOperation)
      else if (read instanceof ScimError && read.scimType === 'invalidPath') onUnknown(name)
      else throw read
    }
  }
  return operations
}

/** An extension as a whole: one operation for each attribute that is named, or for all of them where they are removed. */
function readExtension(
  type: ResourceType,
  { op, extension, value }: { op: PatchOperation['op']; extension: string; value: unknown },
): PatchOperation[] {
  const all = type.extensions.find(({ id }) => id === extension)?.attributes ?? []
  const values = op === 'remove' ? all.map(({ name }): [string, unknown] => [name, undefined]) : ownEntries(readObject(value, extension))
  return values.map(([name, one]) => ({ op, path: requireAttribute(type, `${extension}:${name}`), filter: undefined, value: one }))
}

function applyOperation(resource: ScimResource, { op, path, filter, value }: PatchOperation): void {
  const { attribute, schema, sub } = path
  if (attribute.mutability === 'readOnly') return
  const holder = schema === undefined ? resource : ((resource[schema] ??= {}) as ScimResource)
  if (filter) holder[attribute.name] = changeValues((holder[attribute.name] as ScimResource[]) ?? [], { op, path, filter, value })
  else if (sub && !attribute.multiValued)
    holder[attribute.name] = changeSub((holder[attribute.name] as ScimResource) ?? {}, { op, path, filter, value })
  else if (sub)
    holder[attribute.name] = ((holder[attribute.name] as ScimResource[]) ?? []).map((one) => changeSub(one, { op, path, filter, value }))
  else if (op === 'remove')
    holder[attribute.name] = value === undefined ? undefined : without(holder[attribute.name], readValue(attribute, value))
  else if (op === 'add' && attribute.multiValued) holder[attribute.name] = mergeValues(holder[attribute.name], readValue(attribute, value))
  else if (op === 'add' && attribute.type === 'complex')
    holder[attribute.name] = Object.assign({}, holder[attribute.name], readValue(attribute, value))
  else holder[attribute.name] = readValue(attribute, value)
  assertLength(attribute.name, holder[attribute.name])
  if (isEmpty(holder[attribute.name])) delete holder[attribute.name]
  if (schema !== undefined && isEmpty(holder)) delete resource[schema]
}

// As one request may not send more, several may not add up to more.
function assertLength(name: string, value: unknown): void {
  if (Array.isArray(value) && value.length > maxValues) throw wrongValue(name, `has more than ${maxValues} values.`)
}

/** Values of a list that a filter names. */
function changeValues(values: readonly ScimResource[], operation: PatchOperation & { filter: ScimFilter }): ScimResource[] {
  const { op, path, filter, value } = operation
  const matching = values.filter((one) => matchesFilter(filter, one))
  if (op === 'remove' && !path.sub) return values.filter((one) => !matching.includes(one))
  if (matching.length === 0) {
    if (op === 'remove') return [...values]
    // Entra ID replaces `emails[type eq "work"].value` of a user without such an email, and means a new one.
    const fresh = createFromFilter(filter)
    if (!fresh) throw new ScimError(400, 'No value fits the filter of the path.', 'noTarget')
    const added = path.sub ? changeSub(fresh, operation) : { ...fresh, ...readOne(operation) }
    return keepOnePrimary([...values, added], [added])
  }
  const read = path.sub ? undefined : readOne({ path, value })
  const changed = new Map(
    matching.map((one) => [one, read ? (op === 'add' ? { ...one, ...read } : { ...read }) : changeSub(one, operation)]),
  )
  return keepOnePrimary(
    values.map((one) => changed.get(one) ?? one),
    [...changed.values()],
  )
}

function changeSub(value: ScimResource, { op, path, value: given }: PatchOperation): ScimResource {
  const { sub } = path
  if (!sub || sub.mutability === 'readOnly') return value
  const read = op === 'remove' ? undefined : readValue(sub, given)
  const { [sub.name]: _former, ...rest } = value
  return read === undefined ? rest : { ...rest, [sub.name]: read }
}

function readOne({ path, value }: Pick<PatchOperation, 'path' | 'value'>): ScimResource {
  const read = readValue(path.attribute, value)
  const one = Array.isArray(read) ? read[0] : read
  return (one ?? {}) as ScimResource
}

/** `type eq "work"` describes a value of type work; a filter by other means describes none. */
function createFromFilter(filter: ScimFilter): ScimResource | undefined {
  const all = filter.op === 'and' ? filter.filters : [filter]
  const equal = all.filter((one): one is Comparison => one.op === 'eq' && one.value !== null)
  if (equal.length !== all.length) return undefined
  return Object.fromEntries(equal.map(({ path, value }) => [path.attribute.name, value]))
}

function mergeValues(held: unknown, added: unknown): ScimResource[] {
  const values = [...((held as ScimResource[]) ?? [])]
  const written: ScimResource[] = []
  for (const one of (added as ScimResource[]) ?? []) {
    const at = values.findIndex((other) => isSame(other, one))
    const merged = { ...values[at], ...one }
    written.push(merged)
    values.splice(at === -1 ? values.length : at, at === -1 ? 0 : 1, merged)
  }
  return keepOnePrimary(values, written)
}

// A value that becomes the primary one takes it from the others: RFC 7644 section 3.5.2.
function keepOnePrimary(values: readonly ScimResource[], written: readonly ScimResource[]): ScimResource[] {
  const primary = written.findLast((one) => one['primary'] === true)
  return primary ? values.map((one) => (one !== primary && one['primary'] === true ? { ...one, primary: false } : one)) : [...values]
}

function without(held: unknown, removed: unknown): unknown {
  const gone = Array.isArray(removed) ? (removed as ScimResource[]) : []
  return Array.isArray(held) ? (held as ScimResource[]).filter((one) => !gone.some((other) => isSame(one, other))) : undefined
}

function isSame(one: ScimResource, other: ScimResource): boolean {
  if (one['value'] === undefined || other['value'] === undefined) return JSON.stringify(one) === JSON.stringify(other)
  return one['value'] === other['value'] && (other['type'] === undefined || one['type'] === other['type'])
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0
  return value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
}

function wrongPath(what: string): ScimError {
  return new ScimError(400, `The path ${what}`, 'invalidPath')
}
