/** Puts an adapter into the kernel: ours, a published one of Auth.js, or a plain object. */
import {
  assertOptions,
  type Adapter,
  type AdapterTables,
  type HealedFault,
  lazily,
  lazyStore,
  type Limit,
  type Once,
  type Plugin,
  type RecordStore,
  type Store,
} from 'authkernel/kernel'
import { guarded } from './guarded.ts'

/** Services that go with a data layer; our adapters over SQL and unstorage bring them themselves. */
export interface AdapterPluginOptions {
  /** One-time use that all processes see (D35). */
  once?: Once | undefined
  /** Attempts that all processes count (D54). */
  limit?: Limit | undefined
  /** Tables of plugins. */
  records?: RecordStore | undefined
}

/** What an adapter says of itself. */
export interface Declared extends AdapterPluginOptions, AdapterTables {
  /** False: two processes may both take what is to be taken once. */
  readonly atomic?: boolean | undefined
  /** True: no second process can open the store. */
  readonly exclusive?: boolean | undefined
  /** Tells of faults that it overcame by itself; the answer ends that. They are logged as warnings (D31). */
  onHealed?(listener: (fault: HealedFault) => void): () => void
}

// Loaded by the first call.
const border = /* @__PURE__ */ lazily(() => import('./border.ts'))

// Per process, not per copy of this module: the command line brings its own copy.
const origin: unique symbol = /* @__PURE__ */ Symbol.for('authkernel.adapter') as never

/** The adapter behind a store that this plugin made, with what it can do beyond the contract: for `authkernel doctor` and `migrate`. */
export function adapterOf(store: Store | undefined): (Adapter & Declared) | undefined {
  return (store as { [origin]?: Adapter & Declared } | undefined)?.[origin]
}

/** Whether two processes can both take what is to be taken once. */
export function isPerProcess(adapter: Declared, once: Once | undefined): boolean {
  return adapter.atomic === false && adapter.exclusive !== true && !once?.shared
}

/** Provides the service `store`, and `once`, `limit` and `records` when given here or by the adapter. */
export function adapterPlugin(adapter: Adapter & Declared, options: AdapterPluginOptions = {}): Plugin {
  assertOptions('Plugin "adapter"', options, { once: true, limit: true, records: true })
  const { once = adapter.once, limit = adapter.limit, records = adapter.records } = options
  return {
    name: 'adapter',
    setup(kernel) {
      // Right on one machine, wrong on two: whoever starts a second one should have read it.
      if (isPerProcess(adapter, once)) kernel.config.logger.warn('adapter-not-atomic')
      const deadline = kernel.config.deadlines.store
      const store = lazyStore(adapter, async (own) => (await border()).createStore(own, { deadline }))
      kernel.provide('store', Object.defineProperty(store, origin, { value: adapter }))
      if (once) kernel.provide('once', guardedOnce(once, deadline))
      if (limit) kernel.provide('limit', guardedLimit(limit, deadline))
      // `recordsPlugin` may take the place of what the adapter brings by itself.
      // What wraps every member of an adapter may have made something else of it.
      if (typeof records?.define === 'function') kernel.provide('records', records, options.records ? {} : { fallback: true })
      const { logger } = kernel.config
      const deaf = adapter.onHealed?.((fault) => logger.warn('store-fault-healed', fault))
      if (deaf) kernel.onClose(deaf)
      if (adapter.close) kernel.onClose(() => adapter.close?.())
    },
  }
}

function guardedOnce(once: Once, deadline: number): Once {
  return {
    shared: once.shared === true,
    take: (key, seconds) => guarded('once.take', deadline, () => once.take(key, seconds), 'boolean'),
    taken: (key) => guarded('once.taken', deadline, () => once.taken(key), 'boolean'),
  }
}

function guardedLimit(limit: Limit, deadline: number): Limit {
  return {
    take: (key, rule) => guarded('limit.take', deadline, () => limit.take(key, rule), 'verdict'),
    refund: (key) => guarded('limit.refund', deadline, () => limit.refund(key), 'anything'),
  }
}
