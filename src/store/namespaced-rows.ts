/** Rows and arguments as the data layer keeps those of a namespace. */
import type { AdapterMethod } from '../contract/adapter.ts'
import { isDate } from './dates.ts'
import { encodeKey, prefix } from './namespaces.ts'

type Row = Record<string, unknown>

/** Fields of rows whose values must be unique. */
export const keyedFields = ['email', 'provider', 'sessionToken', 'identifier', 'credentialID'] as const
/** Operations whose first argument is such a value by itself. */
const byValue: ReadonlySet<AdapterMethod> = new Set([
  'getUserByEmail',
  'getSessionAndUser',
  'deleteSession',
  'getAuthenticator',
  'updateAuthenticatorCounter',
  'deleteVerificationTokens',
  'deleteAuthenticator',
])

// In the place of an address that a tenant's user has not: by its prefix the user is known to be the tenant's. Addresses have an "@".
const noAddress = '~no-address~'

/** Whether it can be the address of a user at all. */
export function isNoAddress(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith(noAddress)
}

/** Arguments of an operation as the data layer keeps them. */
export function encodeArgs(namespace: string, method: AdapterMethod, args: readonly unknown[]): readonly unknown[] {
  if (namespace !== '' && (method === 'createUser' || method === 'createUserWithAccount' || method === 'updateUser')) {
    const [user, ...rest] = args as [Row]
    return [encodeRow(namespace, named(user, method === 'updateUser')), ...rest.map((row) => encodeRow(namespace, row))]
  }
  if (method === 'getAccount') return [args[0], encodeKey(namespace, String(args[1]))]
  if (method === 'getUsers') return args
  if (method === 'deleteSessions') return [(args[0] as string[]).map((token) => encodeKey(namespace, token))]
  if (byValue.has(method)) return [encodeKey(namespace, String(args[0])), ...args.slice(1)]
  return args.map((arg) => (typeof arg === 'object' && arg !== null && !isDate(arg) ? encodeRow(namespace, arg as Row) : arg))
}

/** A row as its namespace knows it; null: it belongs to another one. */
export function decodeRow(namespace: string, row: Row): Row | null {
  let result = row
  for (const field of keyedFields) {
    const value = row[field]
    if (typeof value !== 'string' || (namespace === '' && !value.startsWith('~'))) continue
    const own = decodeKey(namespace, value)
    // The session token of a wrapped adapter may be a hash that shows no namespace.
    if (own === undefined && (field !== 'sessionToken' || prefix.test(value))) return null
    if (own !== undefined) result = { ...result, [field]: field === 'email' && isNoAddress(own) ? null : own }
  }
  return result
}

/** `changes`: a change that does not name the address leaves it. */
function named(user: Row, changes: boolean): Row {
  const { email, id } = user
  if ((changes && email === undefined) || (typeof email === 'string' && email !== '' && !isNoAddress(email))) return user
  return { ...user, email: noAddress + (typeof id === 'string' ? id : crypto.randomUUID()) }
}

function encodeRow(namespace: string, row: Row): Row {
  const values = keyedFields.flatMap((field) =>
    typeof row[field] === 'string' ? [[field, encodeKey(namespace, row[field])] as const] : [],
  )
  return values.length === 0 ? row : { ...row, ...Object.fromEntries(values) }
}

/** A stored value as its namespace knows it; undefined: it belongs to another one. */
function decodeKey(namespace: string, value: string): string | undefined {
  const [lead, name] = value.startsWith('~') ? (prefix.exec(value) ?? []) : []
  if ((name ?? '') !== namespace) return undefined
  return lead === undefined ? value : value.slice(lead.length)
}
