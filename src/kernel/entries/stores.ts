/** `authkernel/kernel/stores`: for adapters, and for all rows of a record. */
export { isDate } from '../../runtime/runtime.ts'
export { lazyStore } from '../../store/lazy-store.ts'
export { listRows, readRows, type RowQuery } from '../../store/record-pages.ts'
export { searchAmong } from '../../store/search-users.ts'
export { failedCall, lateCall } from '../../store/store-error.ts'
