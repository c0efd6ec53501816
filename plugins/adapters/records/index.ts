/** Tables of plugins for hosts whose adapter is a published one, and sessions in a store of records. */
import { AuthError, type Plugin, type RecordStore } from 'authkernel/kernel'

export { recordSessions, type RecordSessionsOptions } from './sessions.ts'

/**
 * Provides the service `records` from `sqlRecords(db)`, `unstorageRecords(storage)` or `memoryRecords()`. Our adapters bring it by themselves:
 * this plugin then takes its place.
 */
export function recordsPlugin(store: RecordStore): Plugin {
  if (typeof store?.define !== 'function' || typeof store.write !== 'function')
    throw new AuthError('Plugin "records": give a store of records, as in recordsPlugin(sqlRecords(db)).')
  return {
    name: 'records',
    setup(kernel) {
      kernel.provide('records', store)
      if (store.close) kernel.onClose(() => store.close?.())
    },
  }
}
