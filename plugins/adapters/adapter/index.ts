/** Puts an adapter into the kernel: ours, a published one of Auth.js, or a plain object. */
import {
  type Adapter,
  type AdapterTables,
  type Awaitable,
  createStore,
  failedCall,
  type HealedFault,
  lateCall,
  type Limit,
  type Once,
  type Plugin,
  type RecordStore,
  type Store,
  withTimeout,
} from 'authkernel/kernel'

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

// Per process, not per copy of this module: the command line brings its own copy.
const origin: unique symbol = Symbol.for('authkernel.adapter') as never

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
  const { once = adapter.once, limit = adapter.limit, records = adapter.records } = options
  return {
    name: 'adapter',
    setup(kernel) {
      // Right on one machine, wrong on two: whoever starts a second one should have read it.
      if (isPerProcess(adapter, once)) kernel.config.logger.warn('adapter-not-atomic')
      const deadline = kernel.config.deadlines.store
      const store = createStore(adapter, { deadline })
      kernel.provide('store', Object.defineProperty(store, origin, { value: adapter }))
      const guard = <F>(name: string, work: () => Awaitable<F>, fits: (answer: F) => boolean): Awaitable<F> =>
        guarded(name, deadline, work, fits)
      if (once) {
        kernel.provide('once', {
          shared: once.shared === true,
          take: (key, seconds) => guard('once.take', () => once.take(key, seconds), isBoolean),
          taken: (key) => guard('once.taken', () => once.taken(key), isBoolean),
        })
      }
      if (limit) {
        kernel.provide('limit', {
          take: (key, rule) => guard('limit.take', () => limit.take(key, rule), isVerdict),
          refund: (key) =>
            guard(
              'limit.refund',
              () => limit.refund(key),
              () => true,
            ),
        })
      }
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

// Nonsense would be read as "not used before", or as a refusal without an end.
function isBoolean(answer: unknown): boolean {
  return typeof answer === 'boolean'
}
function isVerdict(answer: { allowed: boolean; retryAfter: number }): boolean {
  return typeof answer?.allowed === 'boolean' && Number.isFinite(answer.retryAfter)
}

/** What the store does for its operations: failures name the operation, calls end in time, and an answer that is none is a failure. */
function guarded<T>(name: string, deadline: number, work: () => Awaitable<T>, fits: (answer: T) => boolean): Awaitable<T> {
  const fail = (error: unknown): never => {
    throw failedCall(name, error)
  }
  const checked = (answer: T): T => (fits(answer) ? answer : fail(new Error(`${name}() answered neither yes nor no.`)))
  try {
    const answer = work()
    if (!(answer instanceof Promise)) return checked(answer as T)
    return withTimeout(answer, deadline, () => lateCall(name, deadline)).then(checked, fail)
  } catch (error) {
    return fail(error)
  }
}
