/** Operations by the id of a user: an id says nothing of its tenant, so each of them looks first whose the user is. */
import type { Store } from '../contract/adapter.ts'
import { AdapterError } from '../errors/index.ts'
import { decodeRow } from './namespaced-rows.ts'

/** Reads a row as it is in the data layer, whatever its namespace. */
type AsStored = (method: 'getUser' | 'listAccountsByUserId', userId: string) => unknown
type StoredUser = { id: unknown; email?: unknown } | null

/** Changes `store`, which is the one of `namespace`: users of other namespaces are not there. */
export function ownUsersOnly(store: Store, namespace: string, asStored: AsStored): void {
  const { getUser, getUsers, updateUser, deleteUser, listSessionsByUserId, deleteSessionsByUserId } = store
  const isForeign = async (userId: string): Promise<boolean> => {
    if (!store.supports('getUser')) return false
    const user = (await asStored('getUser', userId)) as StoredUser
    // What a deleted user left belongs to whoever asks for it.
    return user !== null && !(await isOwn(store, namespace, user, asStored))
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

async function isOwn(
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
