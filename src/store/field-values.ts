/** Values of columns that a host declares: defaults on the way in, their types on the way out. */
import type { AdditionalFields } from '../contract/adapter.ts'

/** A new user with the defaults of what is not given. */
export function withDefaults(fields: AdditionalFields, user: object): object {
  const defaults = Object.entries(fields).filter(([name, field]) => field.default !== undefined && (user as Row)[name] === undefined)
  return { ...user, ...Object.fromEntries(defaults.map(([name, field]) => [name, field.default])) }
}

/** A row with booleans and numbers as what they are: databases have 0, 1 and digits for them. */
export function typed(fields: AdditionalFields, row: Row): Row {
  const read = { ...row }
  for (const [name, { type }] of Object.entries(fields)) {
    const value = row[name]
    if (value === undefined || value === null) continue
    if (type === 'boolean') read[name] = value === true || Number(value) === 1
    if (type === 'number') read[name] = Number(value)
  }
  return read
}

type Row = Record<string, unknown>
