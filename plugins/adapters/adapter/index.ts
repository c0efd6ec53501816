/** Puts an adapter into the kernel: ours, a published one of Auth.js, or a plain object. */
import {
  type Adapter,
  type AdapterTables,
  assertOptions,
  type HealedFault,
  lazily,
  type Limit,
  type Once,
  type Plugin,
  type RecordStore,
  type SessionStore,
  type Store,
} from 'authkernel/kernel'
import { lazyStore } from 'authkernel/kernel/stores'
import { assertSessions, type SessionOptions } from './session-options.ts'
import { addSessions } from './sessions.ts'
import { limitWithDeadline, onceWithDeadline } from './services.ts'

export { moveAllSessions, type MoveReport } from './move.ts'

/** Services that go with a data layer; our adapters over SQL and unstorage bring them themselves. */
export interface AdapterPluginOptions extends SessionOptions {
  /** Replay protection that all processes see. */
  once?: Once | undefined
  /** Attempts that all processes count. */
  limit?: Limit | undefined
  /** Tables of plugins. */
  records?: RecordStore | undefined
}

/** What an adapter says of itself. */
export interface AdapterTraits extends Pick<AdapterPluginOptions, 'once' | 'limit' | 'records'>, AdapterTables {
  /** False: two processes may both take what is to be taken once. */
  readonly atomic?: boolean | undefined
  /** True: no second process can open the store. */
  readonly exclusive?: boolean | undefined
  /** Calls the listener for faults that it overcame by itself; the answer ends that. They are logged as warnings. */
  onHealed?(listener: (fault: HealedFault) => void): () => void
  /** Calls the listener with the names of fields of an account that no secret decrypts, once for each name. They are logged as warnings. */
  onUnreadable?(listener: (fields: readonly string[]) => void): () => void
}

// Loaded by the first call.
const storeCode = /* @__PURE__ */ lazily(() => import('./store.ts'))

// Per process, not per copy of this module: the command line brings its own copy.
const origin: unique symbol = /* @__PURE__ */ Symbol.for('authkernel.adapter') as never

const unreadableTokens =
  'No secret of `encryptTokens` decrypts these fields, so they count as absent. Add the secret that was dropped again behind the newest one. The next sign-in with the account stores fresh tokens.'

/** What a store of this plugin was made of. */
interface Origin {
  adapter: Adapter & AdapterTraits
  options: AdapterPluginOptions
}

/** The adapter behind a store that this plugin made, with what it can do beyond the contract: for `authkernel doctor` and `migrate`. */
export function adapterOf(store: Store | undefined): (Adapter & AdapterTraits) | undefined {
  return (store as { [origin]?: Origin } | undefined)?.[origin]?.adapter
}

/** The adapter and the session store of a host that moves its sessions; undefined: none are moved. For `authkernel move-store`. */
export function movingSessionsOf(store: Store | undefined): { adapter: Adapter & AdapterTraits; sessions: SessionStore } | undefined {
  const { adapter, options: { sessions, moveSessions } = {} } = (store as { [origin]?: Origin } | undefined)?.[origin] ?? {}
  return adapter && sessions && moveSessions ? { adapter, sessions } : undefined
}

/** The session store of a host that has one, for `authkernel migrate`. */
export function sessionStoreOf(store: Store | undefined): SessionStore | undefined {
  return (store as { [origin]?: Origin } | undefined)?.[origin]?.options.sessions
}

/** Whether two processes can both take what is to be taken once. */
export function isPerProcess(adapter: AdapterTraits, once: Once | undefined): boolean {
  return adapter.atomic === false && adapter.exclusive !== true && !once?.shared
}

/** Provides the service `store`, and `once`, `limit` and `records` when given here or by the adapter. */
export function adapterPlugin(adapter: Adapter & AdapterTraits, options: AdapterPluginOptions = {}): Plugin {
  assertOptions('Plugin "adapter"', options, {
    once: true,
    limit: true,
    records: true,
    sessions: true,
    sessionFallback: true,
    moveSessions: true,
  })
  assertSessions(adapter, options)
  const { once = adapter.once, limit = adapter.limit, records = adapter.records } = options
  return {
    name: 'adapter',
    setup(kernel) {
      // Right on one machine, wrong on two: the developer who starts a second one should have read it.
      if (isPerProcess(adapter, once)) kernel.config.logger.warn('adapter-not-atomic')
      const { logger, deadlines } = kernel.config
      const deadline = deadlines.store
      const whole = addSessions(adapter, options, kernel.runtime, (error) => logger.warn('sessions-from-adapter', { error }))
      const store = withFaults(
        lazyStore(whole, async (own) => (await storeCode()).createStore(own, { deadline })),
        [once, limit],
      )
      kernel.provide('store', Object.defineProperty(store, origin, { value: { adapter, options } satisfies Origin }))
      if (once) kernel.provide('once', onceWithDeadline(once, deadline))
      if (limit) kernel.provide('limit', limitWithDeadline(limit, deadline))
      // `recordsPlugin` may take the place of what the adapter brings by itself.
      // What wraps every member of an adapter may have made something else of it.
      if (typeof records?.define === 'function') kernel.provide('records', records, options.records ? {} : { fallback: true })
      const stopListening = adapter.onHealed?.((fault) => logger.warn('store-fault-healed', fault))
      if (stopListening) kernel.onClose(stopListening)
      const stopReports = adapter.onUnreadable?.((fields) => logger.warn('unreadable-token', { fields, remedy: unreadableTokens }))
      if (stopReports) kernel.onClose(stopReports)
      if (whole.close) kernel.onClose(() => whole.close?.())
    },
  }
}

// Services over a server of their own say at start what it lacks.
function withFaults(store: Store, services: readonly (Once | Limit | undefined)[]): Store {
  const checked = services.filter(
    (service): service is (Once | Limit) & Required<Pick<SessionStore, 'findFaults'>> => !!service && 'findFaults' in service,
  )
  if (checked.length === 0) return store
  const { missingTables } = store
  return Object.assign(store, {
    async missingTables(operations) {
      const lists = await Promise.all([missingTables?.(operations) ?? [], ...checked.map((service) => service.findFaults())])
      return lists.flat()
    },
  } satisfies Pick<Store, 'missingTables'>)
}
