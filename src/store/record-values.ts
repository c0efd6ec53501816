/** Values of records between a plugin and a store: checked, defaulted, JSON as text, sealed fields encrypted. */
import type { Awaitable, JWT } from '../contract/data.ts'
import type { FieldSpec, RecordStore, StoredRow, StoredValue } from '../contract/records.ts'
import { isDate } from '../runtime/runtime.ts'
import type { DeclaredRecord } from './record-spec.ts'

/** What sealing needs of a context. `null` seconds: no end. */
export interface FieldSealer {
  seal(purpose: string, payload: JWT): Awaitable<string>
  open(purpose: string, token: string): Awaitable<JWT | null>
}
/** What the records of a context work with. */
export interface RecordScope extends FieldSealer {
  readonly store: RecordStore
  readonly namespace: string
  /** Milliseconds that a call may take. */
  readonly deadline: number
  now(): number
  newId(): string
  /** Throws for a name that is not declared. */
  declared(name: string): DeclaredRecord
  /** Told of a row whose sealed fields no secret opens. */
  unreadable?(record: string, fields: readonly string[]): void
}
type Plain = Record<string, unknown>

// What MySQL holds: the same for all.
const firstDate = Date.UTC(1000, 0)
const lastDate = Date.UTC(10_000, 0)

/** A whole row: what is left out has its default, or null where the field is optional. Throws TypeError. */
export async function toStored(declared: DeclaredRecord, ns: string, id: string, row: Plain, sealer: FieldSealer): Promise<StoredRow> {
  assertKnown(declared, row)
  const stored: Record<string, StoredValue> = { ns, id: toStoredText(declared, 'id', id, 64) }
  for (const [name, field] of declared.fields) {
    const given = row[name] === undefined ? (defaultOf(field) ?? (field.optional ? null : undefined)) : row[name]
    // Only a sealed value has to be waited for: an import writes millions of others.
    stored[name] = field.sealed ? await sealedValue(declared, name, field, given, id, sealer) : openValue(declared, name, field, given)
  }
  return stored as StoredRow
}

/** Some fields of a row. */
export async function toChange(
  declared: DeclaredRecord,
  id: string,
  change: Plain,
  sealer: FieldSealer,
): Promise<Record<string, StoredValue>> {
  assertKnown(declared, change)
  const entries = Object.entries(change).filter(([name, value]) => name !== 'id' && value !== undefined)
  const stored: Record<string, StoredValue> = {}
  for (const [name, value] of entries) {
    const field = declared.fields.get(name) as FieldSpec
    stored[name] = field.sealed ? await sealedValue(declared, name, field, value, id, sealer) : openValue(declared, name, field, value)
  }
  return stored
}

/** Fields to compare with; sealed ones and JSON have no comparable form. */
export function toCondition(declared: DeclaredRecord, where: Plain): Record<string, StoredValue> {
  assertKnown(declared, where)
  const stored: Record<string, StoredValue> = {}
  for (const [name, value] of Object.entries(where)) {
    if (value === undefined) continue
    const field = declared.fields.get(name)
    if (!field) stored[name] = toStoredText(declared, name, value, 64)
    else if (field.sealed || field.type === 'json')
      throw new TypeError(`The record "${declared.stored.name}" cannot be compared by its field "${name}".`)
    else stored[name] = plainValue(declared, name, field, value)
  }
  return stored
}

/** A row as its plugin knows it. A sealed field that cannot be opened is null: its secret is gone, or it was moved from another row. */
export function fromStored(declared: DeclaredRecord, row: StoredRow, sealer: FieldSealer): Awaitable<Plain & { id: string }> {
  if (typeof row.id !== 'string') throw new TypeError(`The store answered no row of the record "${declared.stored.name}".`)
  const result: Plain & { id: string } = { id: row.id }
  const sealed: [name: string, token: string][] = []
  for (const [name, field] of declared.fields) {
    const value = row[name] ?? null
    if (value === null) result[name] = defaultOf(field) ?? null
    else if (field.sealed) sealed.push([name, String(value)])
    else result[name] = field.type === 'json' ? (JSON.parse(String(value)) as unknown) : plainValue(declared, name, field, value, Infinity)
  }
  return sealed.length === 0 ? result : openFields(declared, result, sealed, sealer)
}

async function openFields<T extends Plain & { id: string }>(
  declared: DeclaredRecord,
  row: T,
  sealed: readonly [name: string, token: string][],
  sealer: FieldSealer,
): Promise<T> {
  for (const [name, token] of sealed) (row as Plain)[name] = await openField(declared, name, row.id, token, sealer)
  return row
}

/**
 * Sealed fields of a row that have a value and cannot be opened. `lost`: without one of them the row is of no use, and counts as absent.
 */
export function unreadableIn({ fields }: DeclaredRecord, stored: StoredRow, row: Plain): { names: readonly string[]; lost: boolean } {
  const names = [...fields.keys()].filter((name) => fields.get(name)?.sealed && (stored[name] ?? null) !== null && row[name] === null)
  return { names, lost: names.some((name) => fields.get(name)?.unreadable === 'absent') }
}

/** A value of a field that is not sealed. */
function openValue(declared: DeclaredRecord, name: string, field: FieldSpec, value: unknown): StoredValue {
  if (value === null || value === undefined || field.type !== 'json') return plainValue(declared, name, field, value)
  const written = JSON.stringify(value)
  if (written === undefined) throw new TypeError(`The field "${name}" of the record "${declared.stored.name}" is not plain data.`)
  return toStoredText(declared, name, written, Infinity)
}

async function sealedValue(
  declared: DeclaredRecord,
  name: string,
  field: FieldSpec,
  value: unknown,
  id: string,
  sealer: FieldSealer,
): Promise<StoredValue> {
  if (value === null || value === undefined) return plainValue(declared, name, field, value)
  return sealer.seal(purposeOf(declared, name), { id, value: field.type === 'json' ? value : plainValue(declared, name, field, value) })
}

async function openField(declared: DeclaredRecord, name: string, id: string, token: string, sealer: FieldSealer): Promise<unknown> {
  const opened = await sealer.open(purposeOf(declared, name), token)
  return opened?.['id'] === id ? opened['value'] : null
}

function purposeOf({ stored }: DeclaredRecord, name: string): string {
  return `record ${stored.name} ${name}`
}

function plainValue(
  declared: DeclaredRecord,
  name: string,
  { type, max: declaredMax = 255, optional }: FieldSpec,
  value: unknown,
  max: number = declaredMax,
): StoredValue {
  const { name: record } = declared.stored
  const wrong = (): TypeError =>
    new TypeError(`The field "${name}" of the record "${record}" takes a ${type}, not ${value === null ? 'null' : typeof value}.`)
  if (value === null && optional) return null
  if (type === 'string' || type === 'text' || type === 'json')
    return typeof value === 'string' ? toStoredText(declared, name, value, type === 'string' ? max : Infinity) : throwError(wrong())
  if (type === 'integer') return typeof value === 'number' && Number.isSafeInteger(value) ? value + 0 : throwError(wrong())
  if (type === 'boolean') return typeof value === 'boolean' ? value : throwError(wrong())
  const time = isDate(value) ? value.getTime() : Number.NaN
  if (Number.isNaN(time)) throw wrong()
  if (time < firstDate || time >= lastDate)
    throw new TypeError(`The field "${name}" of the record "${record}" takes dates of the years 1000 to 9999.`)
  return new Date(time)
}

function toStoredText({ stored }: DeclaredRecord, name: string, value: unknown, max: number): string {
  const wrong = (what: string): TypeError => new TypeError(`The field "${name}" of the record "${stored.name}" ${what}.`)
  if (typeof value !== 'string') throw wrong('takes a text')
  // NUL and halves of characters are what some databases cannot hold: the same for all.
  if (/[\0\ud800-\udfff]/u.test(value)) throw wrong('has a character that cannot be stored')
  // A character has one or two units: most texts need no count.
  if (value.length > max && [...value].length > max) throw wrong(`takes at most ${max} characters`)
  return value
}

function defaultOf({ default: value, type }: FieldSpec): unknown {
  return value !== undefined && value !== null && type === 'date' ? new Date(value as number) : value
}

function assertKnown({ fields, stored }: DeclaredRecord, row: Plain): void {
  const unknown = Object.keys(row).find((name) => name !== 'id' && !fields.has(name))
  if (unknown !== undefined) throw new TypeError(`The record "${stored.name}" has no field "${unknown}".`)
}

function throwError(error: Error): never {
  throw error
}
