/** What a store says of itself before anything is asked of it. */
import type { Adapter, AdapterMethod, AdapterTables, Store } from '../contract/adapter.ts'
import { shownFields } from './additional-fields.ts'

/** The operation for one row that stands in for one over several. */
export const single: Partial<Record<AdapterMethod, AdapterMethod>> = { getUsers: 'getUser', deleteSessions: 'deleteSession' }

export function storeFacts(
  adapter: Adapter & AdapterTables,
  namespace: string,
): Pick<Store, 'supports' | 'keepsCreatedAt' | 'nullableEmail' | 'replica' | 'shownFields' | 'missingTables'> {
  return {
    supports: (method) => typeof (adapter[method] ?? adapter[single[method] ?? method]) === 'function',
    keepsCreatedAt: adapter.keepsCreatedAt === true,
    // A tenant's user is told by the prefix of its address, unless the adapter keeps tenants apart itself.
    nullableEmail: adapter.nullableEmail === true && namespace === '',
    replica: adapter.replica === true,
    shownFields: shownFields(adapter.additionalFields ?? {}),
    missingTables: adapter.missingTables?.bind(adapter),
  }
}
