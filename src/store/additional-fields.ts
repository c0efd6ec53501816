/** Columns of users that a host declares: defaults on the way in, their types on the way out. */
import type { AdditionalField, AdditionalFields } from '../contract/adapter.ts'
import { AuthError } from '../errors/index.ts'

// Claims and columns that have a meaning already.
const taken =
  /* @__PURE__ */ 'id name email emailVerified image picture sub iat exp nbf aud iss jti sid sst expires userId sessionToken'.split(' ')
const types: readonly AdditionalField['type'][] = ['string', 'text', 'number', 'boolean']

/** Throws AuthError for a name that is taken, an unknown type, and a default of another type. */
export function checkFields(fields: AdditionalFields): void {
  for (const [name, field] of Object.entries(fields)) {
    const wrong = faultOf(name, field)
    if (wrong) throw new AuthError(`additionalFields: "${name}" ${wrong}.`)
  }
}

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

/** Fields that a session shows. */
export function shownFields(fields: AdditionalFields): string[] {
  return Object.keys(fields).filter((name) => fields[name]?.session === true)
}

type Row = Record<string, unknown>

function faultOf(name: string, field: AdditionalField): string | undefined {
  if (taken.includes(name) || !/^[A-Za-z]\w{0,62}$/.test(name)) return 'cannot be the name of a field: choose another one'
  if (!types.includes(field.type)) return `has the type ${JSON.stringify(field.type)}: use ${types.join(', ')}`
  if (field.default === undefined) return undefined
  if (field.type === 'text') return 'is of type "text", which has no default: use "string"'
  return typeof field.default === field.type ? undefined : `has a default that is no ${field.type}`
}
