/** `authkernel/kernel/stores`: for adapters, and for all rows of a record. */
export { isDate } from '../../runtime/runtime.ts'
export { contentVersion, idOfKey, recordTarget, type RecordTargetSpec } from '../../store/import-target.ts'
export { lazyStore, storeMethods } from '../../store/lazy-store.ts'
export { declareRecord, type DeclaredRecord } from '../../store/record-spec.ts'
export { listRows, readRows, type RowQuery } from '../../store/records.ts'
export { searchAmong } from '../../store/search-users.ts'
export {
  isOfGeneration,
  isReservation,
  longestCookie,
  newGeneration,
  newReservation,
  type SessionGeneration,
  toListedForm,
  toListedName,
  toSessionName,
} from '../../store/session-names.ts'
export { failedCall, lateCall } from '../../store/store-error.ts'
