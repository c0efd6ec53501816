/** The indexes of the tables of records, and these tables as the own tool of a host gets them. */
import type { StoredField } from 'authkernel/kernel'
import { columnOf, type RecordTable, shortName } from './record-table.ts'
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

/** A key or an index of a table. */
export interface RecordIndex {
  name: string
  fields: readonly string[]
  columns: readonly string[]
  unique: boolean
}

/**
 * `ns` leads, except before the field of the owner: the deletion of a user knows no tenant, and the index serves both in this order. The id ends
 * an index that is sorted by; on MySQL every index ends so by itself, and would be too long with it.
 */
export function indexesOf(table: RecordTable): RecordIndex[] {
  const { unique, index, owner, expires } = table.stored
  const leadByOwner = (fields: readonly string[]): string[] =>
    fields[0] === owner ? [fields[0]!, 'ns', ...fields.slice(1)] : ['ns', ...fields]
  const name = (fields: readonly string[], end: string): string =>
    shortName(`${table.name}_${fields.map((field) => columnOf(table, field).name).join('_')}_${end}`)
  return [
    ...unique.map((fields) => ({ name: name(fields, 'key'), fields: leadByOwner(fields), unique: true })),
    ...index.map((fields) => ({
      name: name(fields, 'idx'),
      fields: [...leadByOwner(fields), ...(table.dialect === 'mysql' ? [] : ['id'])],
      unique: false,
    })),
    ...(expires === undefined ? [] : [{ name: name([expires], 'end'), fields: [expires], unique: false }]),
  ].map((each) => ({ ...each, columns: each.fields.map((field) => columnOf(table, field).name) }))
}
