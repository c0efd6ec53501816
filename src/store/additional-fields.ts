/** Columns of users that a host declares. */
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

/** Fields that a session shows. */
export function shownFields(fields: AdditionalFields): string[] {
  return Object.keys(fields).filter((name) => fields[name]?.session === true)
}

function faultOf(name: string, field: AdditionalField): string | undefined {
  if (taken.includes(name) || !/^[A-Za-z]\w{0,62}$/.test(name)) return 'cannot be the name of a field: choose another one'
  if (!types.includes(field.type)) return `has the type ${JSON.stringify(field.type)}: use ${types.join(', ')}`
  if (field.default === undefined) return undefined
  if (field.type === 'text') return 'is of type "text", which has no default: use "string"'
  return typeof field.default === field.type ? undefined : `has a default that is no ${field.type}`
}
