/** The logo and the fields of your own that organizations have. */
import { AuthError, isLocalPath } from 'authkernel/kernel'
import { OrganizationDenied, OrganizationInput } from './errors.ts'
import type { OrganizationValue } from './tables.ts'

/** A field of organizations. */
export interface OrganizationField {
  /** What it holds. */
  type: 'string' | 'number' | 'boolean'
  /** Characters of a string; default 200, at most 2000. */
  max?: number
  /** Whether members with `organization:update` change it; default true. False: your own code alone, with `{ system: true }`. */
  editable?: boolean
}
/** Fields by name. */
export type OrganizationFields = Readonly<Record<string, OrganizationField>>

/** Throws AuthError for a field that cannot be. */
export function assertFields(fields: OrganizationFields): void {
  for (const [name, { type, max = 200 }] of Object.entries(fields)) {
    if (!/^[a-zA-Z]\w{0,31}$/.test(name)) throw fieldFault(name, 'must be named by up to 32 letters, digits and "_"')
    if (!['string', 'number', 'boolean'].includes(type)) throw fieldFault(name, 'must have the `type` "string", "number" or "boolean"')
    if (!(Number.isInteger(max) && max >= 1 && max <= 2000)) throw fieldFault(name, 'must have a `max` from 1 to 2000')
  }
  if (Object.keys(fields).length > 50) throw new AuthError('Plugin "organizations": `fields` has more than 50 fields.')
}

/** The fields after a change by a user, or by the host's own code where `user` is null; null takes one away. Throws OrganizationInput, and OrganizationDenied for a field that only the host changes. */
export function readFields(
  { options, user }: { options: { fields: OrganizationFields }; user: object | null },
  given: unknown,
  former: Readonly<Record<string, OrganizationValue>> | null,
): Record<string, OrganizationValue> | null {
  if (typeof given !== 'object' || given === null) throw new OrganizationInput('organizations: `fields` must be an object.')
  const values = new Map(Object.entries(former ?? {}))
  for (const [name, value] of Object.entries(given)) {
    const field = Object.hasOwn(options.fields, name) ? options.fields[name] : undefined
    if (!field) throw new OrganizationInput('organizations: a field is not among the option `fields`.')
    if (user && field.editable === false) throw new OrganizationDenied(`organizations: only your own code changes the field "${name}".`)
    if (value === null) values.delete(name)
    else values.set(name, readValue(name, field, value))
  }
  return values.size === 0 ? null : Object.fromEntries(values)
}

function readValue(name: string, { type, max = 200 }: OrganizationField, value: unknown): OrganizationValue {
  const fits = typeof value === type && (type !== 'number' || Number.isFinite(value)) && (type !== 'string' || isText(value as string, max))
  if (!fits)
    throw new OrganizationInput(
      `organizations: the field "${name}" must be a ${type}${type === 'string' ? ` of at most ${max} characters` : ''}.`,
    )
  return value as OrganizationValue
}

function isText(value: string, max: number): boolean {
  return value.length <= max && !value.includes('\0') && !/\p{Cs}/u.test(value)
}

/** Null: no logo. Throws OrganizationInput for anything but an https address or a path of the app. */
export function readImage(image: unknown): string | null {
  if (image === null || image === '') return null
  if (typeof image === 'string' && image.length <= 2000 && !/[\s\0]/.test(image)) {
    if (isLocalPath(image)) return image
    // Without a password in it, which every visitor would see.
    if (URL.canParse(image) && new URL(image).protocol === 'https:' && new URL(image).username === '') return image
  }
  throw new OrganizationInput('organizations: `image` must be an https address or a path, of at most 2000 characters.')
}

function fieldFault(name: string, what: string): AuthError {
  return new AuthError(`Plugin "organizations": the field ${JSON.stringify(name)} ${what}.`)
}
