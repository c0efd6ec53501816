/** Puts an adapter into the kernel: ours, a published one of Auth.js, or a plain object (DESIGN section 2). */
import { type Adapter, createStore, type Limit, type Once, type Plugin } from 'authkernel/kernel'

/** Services that go with a data layer; our adapters over SQL and unstorage bring them themselves. */
export interface AdapterPluginOptions {
  /** One-time use that all processes see (D35). */
  once?: Once | undefined
  /** Attempts that all processes count (D54). */
  limit?: Limit | undefined
}

/** Provides the service `store`, and `once` and `limit` when given here or by the adapter. */
export function adapterPlugin(adapter: Adapter & AdapterPluginOptions, options: AdapterPluginOptions = {}): Plugin {
  const { once = adapter.once, limit = adapter.limit } = options
  return {
    name: 'adapter',
    setup(kernel) {
      kernel.provide('store', createStore(adapter, { deadline: kernel.config.deadlines.store }))
      if (once) kernel.provide('once', once)
      if (limit) kernel.provide('limit', limit)
      if (adapter.close) kernel.onClose(() => adapter.close?.())
    },
  }
}
