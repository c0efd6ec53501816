/** Rows, arguments and users of one tenant, in a data layer that has those of all tenants. */
import type { AdapterMethod, Store } from '../contract/adapter.ts'
import { isDate } from '../runtime/runtime.ts'
import { AdapterError } from '../errors/index.ts'
import { encodeKey, namespacePrefix } from './namespaces.ts'

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
    return [encodeRow(namespace, withAddress(user, method === 'updateUser')), ...rest.map((row) => encodeRow(namespace, row))]
  }
  if (method === 'createUsers') {
    const entries = args[0] as { user: Row; accounts: readonly Row[] }[]
    return [
      entries.map(({ user, accounts }) => ({
        user: encodeRow(namespace, namespace === '' ? user : withAddress(user, false)),
        accounts: accounts.map((account) => encodeRow(namespace, account)),
      })),
    ]
  }
  if (method === 'getAccount') return [args[0], encodeKey(namespace, String(args[1]))]
  if (method === 'getUsers') return args
  if (method === 'listAccountOwners') return [(args[0] as Row[]).map((key) => encodeRow(namespace, key))]
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
    if (own === undefined && (field !== 'sessionToken' || namespacePrefix.test(value))) return null
    if (own !== undefined) result = { ...result, [field]: field === 'email' && isNoAddress(own) ? null : own }
  }
  return result
}

/** `changes`: a change that does not name the address leaves it. */
function withAddress(user: Row, changes: boolean): Row {
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
  const [lead, name] = value.startsWith('~') ? (namespacePrefix.exec(value) ?? []) : []
  if ((name ?? '') !== namespace) return undefined
  return lead === undefined ? value : value.slice(lead.length)
}

/** Reads a row as it is in the data layer, whatever its namespace. */
type AsStored = (method: 'getUser' | 'listAccountsByUserId', userId: string) => unknown
type StoredUser = { id: unknown; email?: unknown } | null

/**
 * Changes `store`, which is the one of `namespace`: users of other namespaces are not there. An id says nothing of its tenant, so each operation by the
 * id of a user looks first whose the user is.
 */
export function ownUsersOnly(store: Store, namespace: string, asStored: AsStored): void {
  const { getUser, getUsers, updateUser, deleteUser, listSessionsByUserId, deleteSessionsByUserId } = store
  const isForeign = async (userId: string): Promise<boolean> => {
    if (!store.supports('getUser')) return false
    const user = (await asStored('getUser', userId)) as StoredUser
    // What a deleted user left may be read in each namespace.
    return user !== null && !(await isRowOfTenant(store, namespace, user, asStored))
  }
  Object.assign(store, {
    async getUser(userId) {
      const user = await getUser(userId)
      // With an address the prefix has told it.
      return user && (typeof user.email === 'string' || !(await isForeign(userId))) ? user : null
    },
    async getUsers(ids) {
      const found = await getUsers(ids)
      const own = await Promise.all(found.map(async (user) => typeof user.email === 'string' || !(await isForeign(user.id))))
      return found.filter((_, at) => own[at])
    },
    async updateUser(user) {
      if (await isForeign(user.id))
        throw new AdapterError('updateUser() was asked for a user of another tenant.', { cause: { method: 'updateUser' } })
      return updateUser(user)
    },
    // Null: there was no such user.
    deleteUser: async (userId) => ((await isForeign(userId)) ? null : deleteUser(userId)),
    listSessionsByUserId: async (userId) => ((await isForeign(userId)) ? [] : listSessionsByUserId(userId)),
    async deleteSessionsByUserId(userId, except) {
      if (!(await isForeign(userId))) await deleteSessionsByUserId(userId, except)
    },
  } satisfies Partial<Store>)
}

async function isRowOfTenant(
  store: Store,
  namespace: string,
  { id, email }: { id: unknown; email?: unknown },
  asStored: AsStored,
): Promise<boolean> {
  if (typeof email === 'string') return decodeRow(namespace, { email }) !== null
  // From before users of tenants had something in the place of an address, or of the default namespace.
  if (!store.supports('listAccountsByUserId')) return namespace === ''
  const all = (await asStored('listAccountsByUserId', String(id))) as { provider?: unknown }[]
  if (all.length === 0) return namespace === ''
  return all.some(({ provider }) => decodeRow(namespace, { provider }) !== null)
}
