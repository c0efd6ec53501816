/** Tables of records as a host's own tool is told of them. */
import type { StoredField } from 'authkernel/kernel'
import { columnOf, type RecordTable } from './record-table.ts'
import type { RecordIndex } from './record-plan.ts'
import type { DialectName } from './types.ts'

/** One table; `fields` of keys are names of fields, in order. */
export interface RecordModel {
  dialect: DialectName
  record: string
  table: string
  columns: readonly (Pick<StoredField, 'type' | 'max' | 'optional' | 'default'> & { field: string; name: string })[]
  unique: readonly { name: string; fields: readonly string[] }[]
  indexes: readonly { name: string; fields: readonly string[] }[]
}

/** The primary key is `(ns, id)`. */
export function modelOf(table: RecordTable, keys: readonly RecordIndex[]): RecordModel {
  const { stored, dialect, name } = table
  const text = { type: 'string', max: 64, optional: false, default: undefined } as const
  const fields = [{ ...text, name: 'ns' }, { ...text, name: 'id' }, ...stored.fields]
  return {
    dialect,
    record: stored.name,
    table: name,
    columns: fields.map((field) => ({
      field: field.name,
      name: columnOf(table, field.name).name,
      type: field.type,
      max: field.max,
      optional: field.optional || (field.type === 'text' && field.default !== undefined),
      default: field.type === 'text' ? undefined : field.default,
    })),
    unique: keys.filter(({ unique }) => unique).map(({ name: key, fields: list }) => ({ name: key, fields: list })),
    indexes: keys.filter(({ unique }) => !unique).map(({ name: key, fields: list }) => ({ name: key, fields: list })),
  }
}
