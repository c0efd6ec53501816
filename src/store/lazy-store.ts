/** What is known of a store without its code, and a store that loads its code by the first call: registering and compiling need no more. */
import type { Adapter, AdapterMethod, AdapterTables, AdditionalField, AdditionalFields, Store, TenantAdapter } from '../contract/adapter.ts'
import { AuthError } from '../errors/index.ts'
import { lazily, lazyObject } from '../runtime/lazy.ts'

/**
 * A store that `load` creates at the first call, with `createStore` of the adapter. From then on its operations are those of the created one.
 * Throws AuthError for additional fields that cannot be.
 */
export function lazyStore(adapter: Adapter & AdapterTables, load: (adapter: Adapter & AdapterTables) => Promise<Store>): Store {
  if (adapter.additionalFields) checkFields(adapter.additionalFields)
  const ownOf = (namespace: string): Store | undefined => {
    if (namespace === '') return undefined
    const own = (adapter as Partial<TenantAdapter>).namespaced?.(namespace)
    return own && lazyStore(own, load)
  }
  const storeIn = (namespace: string, loadStore: () => Promise<Store>): Store => {
    const real = lazily(loadStore)
    const namespaced = (other: string): Store => ownOf(other) ?? storeIn(other, async () => (await real()).namespaced(other))
    return lazyObject(storeMethods, real, (store) => store, { ...storeFacts(adapter, namespace), namespaced })
  }
  return storeIn('', () => load(adapter))
}

/** Names of all operations. */
export const storeMethods: readonly AdapterMethod[] = [
  'createUser',
  'getUser',
  'getUserByEmail',
  'getUserByAccount',
  'updateUser',
  'deleteUser',
  'linkAccount',
  'unlinkAccount',
  'getAccount',
  'createSession',
  'getSessionAndUser',
  'updateSession',
  'deleteSession',
  'createVerificationToken',
  'useVerificationToken',
  'createAuthenticator',
  'getAuthenticator',
  'listAuthenticatorsByUserId',
  'updateAuthenticatorCounter',
  'createUserWithAccount',
  'createUsers',
  'updateAccount',
  'listAccountsByUserId',
  'listAccountOwners',
  'listSessionsByUserId',
  'getUsers',
  'listUsers',
  'searchUsers',
  'deleteSessions',
  'deleteSessionsByUserId',
  'deleteVerificationTokens',
  'deleteAuthenticator',
  'deleteExpired',
  'close',
]

// The operation for one row that stands in for one over several.
const singleRow: Partial<Record<AdapterMethod, AdapterMethod>> = {
  getUsers: 'getUser',
  deleteSessions: 'deleteSession',
  listAccountOwners: 'getAccount',
}

/** What a store says of itself before anything is asked of it. */
export function storeFacts(
  adapter: Adapter & AdapterTables,
  namespace: string,
): Pick<
  Store,
  | 'supports'
  | 'keepsCreatedAt'
  | 'nullableEmail'
  | 'replica'
  | 'encryptsTokens'
  | 'fieldNames'
  | 'shownFields'
  | 'editableFields'
  | 'missingTables'
> {
  return {
    supports: (method) => typeof (adapter[method] ?? adapter[singleRow[method] ?? method]) === 'function',
    keepsCreatedAt: adapter.keepsCreatedAt === true,
    // A tenant's user is told by the prefix of its address, unless the adapter keeps tenants apart itself.
    nullableEmail: adapter.nullableEmail === true && namespace === '',
    replica: adapter.replica === true,
    encryptsTokens: adapter.encryptsTokens === true,
    fieldNames: Object.keys(adapter.additionalFields ?? {}),
    shownFields: shownFields(adapter.additionalFields ?? {}),
    editableFields: Object.fromEntries(Object.entries(adapter.additionalFields ?? {}).filter(([, { editable }]) => editable === true)),
    missingTables: adapter.missingTables?.bind(adapter),
  }
}

// Claims and columns that have a meaning already.
const takenNames =
  /* @__PURE__ */ 'id name email emailVerified image picture sub iat exp nbf aud iss jti sid sst expires userId sessionToken'.split(' ')
const fieldTypes: readonly AdditionalField['type'][] = ['string', 'text', 'number', 'boolean']

/** Throws AuthError for a name that is taken, an unknown type, and a default of another type. */
export function checkFields(fields: AdditionalFields): void {
  for (const [name, field] of Object.entries(fields)) {
    const wrong = findFieldFault(name, field)
    if (wrong) throw new AuthError(`additionalFields: "${name}" ${wrong}.`)
  }
}

/** Fields that a session shows. */
function shownFields(fields: AdditionalFields): string[] {
  return Object.keys(fields).filter((name) => fields[name]?.session === true)
}

function findFieldFault(name: string, field: AdditionalField): string | undefined {
  if (takenNames.includes(name) || !/^[A-Za-z]\w{0,62}$/.test(name)) return 'cannot be the name of a field: choose another one'
  if (!fieldTypes.includes(field.type)) return `has the type ${JSON.stringify(field.type)}: use ${fieldTypes.join(', ')}`
  if (field.default === undefined) return undefined
  if (field.type === 'text') return 'is of type "text", which has no default: use "string"'
  return typeof field.default === field.type ? undefined : `has a default that is no ${field.type}`
}
