/** A store whose border to the data layer is loaded by the first call: registering needs none of it. */
import type { Adapter, AdapterTables, Store, TenantAdapter } from '../contract/adapter.ts'
import { lateObject, lazily } from '../runtime/lazily.ts'
import { checkFields } from './additional-fields.ts'
import { storeFacts } from './store-facts.ts'
import { methods } from './store-methods.ts'

/**
 * A store that `make` makes at the first call: `createStore` of the adapter, loaded by then. From then on its operations are those of the made one.
 * Throws AuthError for additional fields that cannot be.
 */
export function lateStore(adapter: Adapter & AdapterTables, make: (adapter: Adapter & AdapterTables) => Promise<Store>): Store {
  if (adapter.additionalFields) checkFields(adapter.additionalFields)
  const ownOf = (namespace: string): Store | undefined => {
    if (namespace === '') return undefined
    const own = (adapter as Partial<TenantAdapter>).namespaced?.(namespace)
    return own && lateStore(own, make)
  }
  return late(adapter, '', ownOf, () => make(adapter))
}

function late(
  adapter: Adapter & AdapterTables,
  namespace: string,
  ownOf: (namespace: string) => Store | undefined,
  make: () => Promise<Store>,
): Store {
  const made = lazily(make)
  const namespaced = (other: string): Store => ownOf(other) ?? late(adapter, other, ownOf, async () => (await made()).namespaced(other))
  return Object.assign(
    lateObject(methods, made, (real) => real),
    {
      ...storeFacts(adapter, namespace),
      namespaced,
    },
  )
}
