/** From what an identity provider says of a user to the user and the role. */
import { toAddress } from 'authkernel/kernel'
import type { ConnectionRow, RoleMapping } from './tables.ts'

/** What identity providers call these, where the mapping names nothing. */
const usualNames = {
  oidc: { email: ['email'], name: ['name'], groups: ['groups'] },
  saml: {
    email: [
      'email',
      'mail',
      'emailAddress',
      'urn:oid:0.9.2342.19200300.100.1.3',
      'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress',
    ],
    name: ['name', 'displayName', 'urn:oid:2.16.840.1.113730.3.1.241', 'http://schemas.microsoft.com/identity/claims/displayname'],
    groups: ['groups', 'memberOf', 'http://schemas.microsoft.com/ws/2008/06/identity/claims/groups'],
  },
} as const

type Reading = Pick<ConnectionRow, 'mapping' | 'type'>

/** What the provider said: claims of an ID token, or attributes of an assertion. */
export type Attributes = Readonly<Record<string, unknown>>
/** What a connection makes of the attributes of a user. */
export interface MappedUser {
  /** Null: the attribute is missing, and the sign-in is rejected. */
  id: string | null
  email: string | null
  name: string | null
  groups: readonly string[]
  /** The role of a new member. */
  role: string
}

/** `sub`: `sub` of OpenID Connect or the NameID of SAML, where the mapping names no attribute. */
export function mapUser(row: Reading & Pick<ConnectionRow, 'roles'>, attributes: Attributes): MappedUser {
  const groups = valuesOf(row, 'groups', attributes)
  return {
    id: textOf(attributes[row.mapping.id ?? 'sub']),
    email: readEmail(row, attributes),
    name: textOf(valuesOf(row, 'name', attributes)),
    groups,
    role: roleOf(row.roles, groups),
  }
}

/** Null: there is no address. A SAML NameID that is an address counts where no attribute has one. */
export function readEmail(row: Reading, attributes: Attributes): string | null {
  const found = textOf(valuesOf(row, 'email', attributes))
  if (found !== null || row.type !== 'saml' || row.mapping.email !== undefined) return found
  const name = textOf(attributes['sub'])
  return name !== null && toAddress(name) !== undefined ? name : null
}

/** Values of the attribute that the mapping names, else of the first usual name that has one. */
function valuesOf({ mapping, type }: Reading, what: 'email' | 'name' | 'groups', attributes: Attributes): string[] {
  const names = mapping[what] === undefined ? usualNames[type][what] : [mapping[what]]
  return (
    names.map((name) => textsOf(Object.hasOwn(attributes, name) ? attributes[name] : undefined)).find((values) => values.length > 0) ?? []
  )
}

/** The first group in the order of the mapping decides. */
export function roleOf({ groups = {}, default: fallback = 'member' }: RoleMapping, held: readonly string[]): string {
  return Object.entries(groups).find(([group]) => held.includes(group))?.[1] ?? fallback
}

/** The first value of several: SAML sends lists. */
function textOf(value: unknown): string | null {
  const [first] = textsOf(value)
  return first === undefined || first === '' ? null : first
}

function textsOf(value: unknown): string[] {
  return [value].flat().flatMap((one) => (typeof one === 'string' ? [one] : typeof one === 'number' ? [String(one)] : []))
}
