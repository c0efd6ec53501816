/** `authkernel/kernel/stores`: for adapters. */
export { isDate } from '../../runtime/runtime.ts'
export { lazyStore } from '../../store/lazy-store.ts'
export { failedCall, lateCall } from '../../store/store-error.ts'
