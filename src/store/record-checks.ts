/** What is wrong with the declaration of a record: loaded with the other checks, before the first request. */
import type { FieldSpec, RecordSpec } from '../contract/records.ts'
import { AuthError } from '../errors/base.ts'
import { assertNames, type OptionNames } from '../options/option-names.ts'
import { defaultMax, ownerFieldOf } from './record-spec.ts'

const maxColumns = 4
// InnoDB: 3072 bytes with four bytes a character, less what `ns` takes.
const maxCharacters = 700

const recordMembers: OptionNames<RecordSpec> = {
  fields: true,
  unique: true,
  index: true,
  owner: true,
  expires: true,
  id: true,
  added: true,
}
const fieldMembers: OptionNames<FieldSpec> = {
  type: true,
  max: true,
  optional: true,
  default: true,
  sealed: true,
  secret: true,
  unreadable: true,
}

/** Throws AuthError with the name of the plugin, the record and what is wrong. */
export function checkRecord(name: string, spec: RecordSpec, owner: string): void {
  const wrong = (what: string): AuthError => new AuthError(`Plugin "${owner}": the record "${name}" ${what}.`)
  if (!/^[a-z][A-Za-z0-9]{0,47}$/.test(name)) throw wrong('needs a name of up to 48 letters and digits that starts with a small letter')
  const who = `Plugin "${owner}": the record "${name}"`
  assertNames(who, spec, recordMembers)
  assertNames(who, spec.fields, spec.fields ?? {}, 'fields')
  for (const [field, one] of Object.entries(spec.fields)) assertNames(who, one, fieldMembers, `fields.${field}`)
  if (spec.id !== undefined && spec.id !== 'given') throw wrong(`has \`id: ${JSON.stringify(spec.id)}\`: write 'given', or leave it out`)
  if (spec.owner !== undefined && spec.owner !== 'user') {
    assertNames(who, spec.owner, { field: true, of: true }, 'owner')
    if (spec.owner.of !== 'user') throw wrong(`has \`owner.of: ${JSON.stringify(spec.owner.of)}\`: only 'user' owns rows`)
  }
  const fields = new Map(Object.entries(spec.fields))
  for (const [field, { type, sealed, unreadable, optional, default: preset, max = defaultMax }] of fields) {
    if (!/^[a-z][A-Za-z0-9]{0,47}$/.test(field) || field === 'id' || field === 'ns')
      throw wrong(`has a field ${JSON.stringify(field)}: use letters and digits, a small one first, and neither "id" nor "ns"`)
    if (!['string', 'text', 'json', 'integer', 'boolean', 'date'].includes(type))
      throw wrong(`has a field "${field}" of the unknown type ${JSON.stringify(type)}`)
    if (unreadable !== undefined && !(sealed && unreadable === 'absent'))
      throw wrong(`says \`unreadable\` of the field "${field}": write 'absent', for a sealed field`)
    if (sealed && type !== 'text' && type !== 'json')
      throw wrong(`seals the field "${field}", which must be of type "text" or "json" for that`)
    if (type === 'string' && !(Number.isInteger(max) && max > 0 && max <= maxCharacters))
      throw wrong(`has a field "${field}" whose \`max\` is not between 1 and ${maxCharacters}`)
    if (optional && preset === undefined) continue
    if (preset !== undefined && (type === 'json' || sealed)) throw wrong(`has a default for the field "${field}", which cannot have one`)
  }
  const ownerField = ownerFieldOf(spec)
  for (const key of [...(spec.unique ?? []), ...(spec.index ?? []), ...(ownerField === undefined ? [] : [[ownerField]])])
    assertKey(key, fields, wrong)
  if (ownerField !== undefined && fields.get(ownerField)?.type !== 'string')
    throw wrong(`is owned by the field "${ownerField}", which must be a "string"`)
  if (spec.expires !== undefined && fields.get(spec.expires)?.type !== 'date')
    throw wrong(`expires by the field "${spec.expires}", which must be a "date"`)
  if (spec.added !== undefined && ownerField === undefined) throw wrong('has `added`, and no `owner` whose rows these are')
  if (typeof spec.added === 'string' && fields.get(spec.added)?.type !== 'date')
    throw wrong(`was added at the field "${spec.added}", which must be a "date"`)
}

function assertKey(key: readonly string[], fields: ReadonlyMap<string, FieldSpec>, wrong: (what: string) => AuthError): void {
  const said = `[${key.map((field) => `'${field}'`).join(', ')}]`
  if (key.length === 0 || key.length > maxColumns) throw wrong(`has the key ${said}: a key has one to ${maxColumns} fields`)
  let size = 0
  for (const field of key) {
    const { type, max = defaultMax, optional } = fields.get(field) ?? {}
    if (type === undefined) throw wrong(`has the key ${said}, but no field "${field}"`)
    if (type === 'text' || type === 'json')
      throw wrong(`has the key ${said}, whose field "${field}" is of type "${type}" and cannot be indexed: use "string"`)
    if (optional && type === 'boolean') throw wrong(`has the key ${said}, whose field "${field}" may be null: give it a default`)
    size += type === 'string' ? max : 20
  }
  if (size > maxCharacters)
    throw wrong(`has the key ${said} of ${size} characters together; ${maxCharacters} are possible: give its fields a smaller \`max\``)
}
