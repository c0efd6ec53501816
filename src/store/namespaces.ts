/**
 * Tenants in one data layer: values of a namespace carry `~<namespace>~` in front where keys must be unique, so that published adapters work
 * without a migration. Values of the default namespace are stored as they are.
 */

/** What could be taken for a prefix. `~~` in front of it says: the default namespace. */
export const namespacePrefix: RegExp = /^~([a-z0-9-]{0,32})~/

/** Whether a text can name a namespace. */
export function isNamespace(value: unknown): value is string {
  return typeof value === 'string' && /^[a-z0-9-]{0,32}$/.test(value)
}

/** A value as it is stored. */
export function encodeKey(namespace: string, value: string): string {
  if (namespace !== '') return `~${namespace}~${value}`
  // Otherwise an attacker could type an address that is another tenant's.
  return value.startsWith('~') && namespacePrefix.test(value) ? `~~${value}` : value
}
