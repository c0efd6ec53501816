/**
 * Tenants in one data layer: values of a namespace carry `~<namespace>~` in front where keys must be unique, so that published adapters work
 * without a migration. Values of the default namespace are stored as they are.
 */
import type { AdapterMethod } from '../contract/adapter.ts'
import { isDate } from './dates.ts'

type Row = Record<string, unknown>

// What could be taken for a prefix. `~~` in front of it says: the default namespace.
const prefix = /^~([a-z0-9-]{0,32})~/
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

/** Whether a text can name a namespace. */
export function isNamespace(value: unknown): value is string {
  return typeof value === 'string' && /^[a-z0-9-]{0,32}$/.test(value)
}

/** A value as it is stored. */
export function encodeKey(namespace: string, value: string): string {
  if (namespace !== '') return `~${namespace}~${value}`
  // Somebody could type an address that is another tenant's otherwise.
  return value.startsWith('~') && prefix.test(value) ? `~~${value}` : value
}

/** A stored value as its namespace knows it; undefined: it belongs to another one. */
export function decodeKey(namespace: string, value: string): string | undefined {
  const [lead, name] = value.startsWith('~') ? (prefix.exec(value) ?? []) : []
  if ((name ?? '') !== namespace) return undefined
  return lead === undefined ? value : value.slice(lead.length)
}

/** Arguments of an operation as the data layer keeps them. */
export function encodeArgs(namespace: string, method: AdapterMethod, args: readonly unknown[]): readonly unknown[] {
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
    // A hashed session token shows no namespace; it was found by one that did.
    if (own === undefined && field !== 'sessionToken') return null
    if (own !== undefined) result = { ...result, [field]: own }
  }
  return result
}

function encodeRow(namespace: string, row: Row): Row {
  const values = keyedFields.flatMap((field) =>
    typeof row[field] === 'string' ? [[field, encodeKey(namespace, row[field])] as const] : [],
  )
  return values.length === 0 ? row : { ...row, ...Object.fromEntries(values) }
}
