/** A declaration of a plugin as a store sees it. */
import type { FieldSpec, RecordSpec, StoredField, StoredTable } from '../contract/records.ts'
import { AuthError, type ErrorRow } from '../errors/base.ts'

/** A declaration with everything worked out that operations need. */
export interface DeclaredRecord {
  readonly spec: RecordSpec
  readonly fields: ReadonlyMap<string, FieldSpec>
  readonly stored: StoredTable
}

/** Characters of a "string" that names no `max`. */
export const defaultMax = 255

/** What a store needs of a declaration. A wrong one is rejected before the first request, by `checkRecord`. */
export function declareRecord(name: string, spec: RecordSpec): DeclaredRecord {
  const fields = new Map(Object.entries(spec.fields ?? {}))
  const ownerField = ownerFieldOf(spec)
  const unique = spec.unique ?? []
  const index = [...(spec.index ?? [])]
  const serves = (key: readonly string[]): boolean => key[0] === ownerField
  if (ownerField !== undefined && ![...index, ...unique].some(serves)) index.push([ownerField])
  const stored: StoredTable = {
    name,
    fields: [...fields].map(([field, one]) => storedField(field, one)),
    unique,
    index,
    owner: ownerField,
    expires: spec.expires,
  }
  return { spec, fields, stored }
}

/** The field with the id of the user to whom a row belongs. */
export function ownerFieldOf({ owner }: RecordSpec): string | undefined {
  return owner === 'user' ? 'userId' : owner?.field
}

function storedField(name: string, { type, max = defaultMax, optional = undefined, default: preset, sealed }: FieldSpec): StoredField {
  const plain = type === 'json' || sealed ? 'text' : type
  const value = preset !== undefined && preset !== null && type === 'date' ? new Date(preset as number) : preset
  return { name, type: plain, max, optional: optional === true, default: value }
}

/** Thrown when an id, or the values of a unique key, belong to another row. */
export class RecordConflict extends AuthError {
  static override type = 'RecordConflict'
  static override row: ErrorRow = { page: 'error', status: 409 }
  readonly record: string
  /** The fields of the key; `id` alone for the id. */
  readonly fields: readonly string[]

  constructor(record: string, fields: readonly string[]) {
    super(`A row of the record "${record}" with the same ${fields.join(' and ')} exists.`, { cause: { record, fields } })
    this.record = record
    this.fields = fields
  }
}
