/** Puts an adapter into the kernel: ours, a published one of Auth.js, or a plain object (DESIGN section 2). */
import { type Adapter, createStore, type Limit, type Once, type Plugin } from 'authkernel/kernel'

/** Services that go with a data layer; our adapters over SQL and unstorage bring them themselves. */
export interface AdapterPluginOptions {
  /** One-time use that all processes see (D35). */
  once?: Once | undefined
  /** Attempts that all processes count (D54). */
  limit?: Limit | undefined
}

/** What an adapter says of itself. */
interface Declared extends AdapterPluginOptions {
  /** False: two processes may both take what is to be taken once. */
  readonly atomic?: boolean | undefined
  /** True: no second process can open the store. */
  readonly exclusive?: boolean | undefined
}

/** Provides the service `store`, and `once` and `limit` when given here or by the adapter. */
export function adapterPlugin(adapter: Adapter & Declared, options: AdapterPluginOptions = {}): Plugin {
  const { once = adapter.once, limit = adapter.limit } = options
  return {
    name: 'adapter',
    setup(kernel) {
      // Right on one machine, wrong on two: whoever starts a second one should have read it.
      if (adapter.atomic === false && adapter.exclusive !== true && !once?.shared) kernel.config.logger.warn('adapter-not-atomic')
      kernel.provide('store', createStore(adapter, { deadline: kernel.config.deadlines.store }))
      if (once) kernel.provide('once', once)
      if (limit) kernel.provide('limit', limit)
      if (adapter.close) kernel.onClose(() => adapter.close?.())
    },
  }
}
