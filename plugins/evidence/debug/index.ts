/** What a request does, line by line, for users who look for a mistake. */
import { type AdapterMethod, assertOptions, lazily, lazyObject, type NoOptions, type Plugin, type Store } from 'authkernel/kernel'

/**
 * Writes a readable trace of each request to `logger.debug`. A trace has the route, the provider, names of cookies, and hooks with the result of each handler. It also has calls to the store and to other servers with their time, and why something failed. No values of cookies, fields, tokens or parameters. `createAuth({ debug: true })`
 * uses it.
 */
export function debugPlugin(options: NoOptions = {}): Plugin<void> {
  assertOptions('Plugin "debug"', options, {})
  return {
    name: 'debug',
    setup(kernel) {
      // Every app has this plugin in its bundle, and few switch it on: the first request loads the code.
      const load = lazily(async () => (await import('./tracing.ts')).createTracing(kernel.config.logger))
      kernel.preload(async () => load())
      kernel.observe(lazyObject(['request', 'handler', 'hook', 'fetch', 'log'], load, ({ observer }) => observer))
      kernel.decorate('store', (inner) => {
        const calls = storeCallsOf(inner)
        return lazyObject(calls, load, ({ traceStore }) => traceStore(inner, calls))
      })
      kernel.decorate('records', (inner) =>
        lazyObject(['get', 'find', 'count', 'deleteWhere', 'deleteExpired', 'write'], load, ({ traceRecords }) => traceRecords(inner)),
      )
      kernel.decorate('mail', (inner) => lazyObject(['send'], load, ({ traceMail }) => traceMail(inner)))
      kernel.decorate('limit', (inner) => lazyObject(['take'], load, ({ traceLimit }) => traceLimit(inner)))
      kernel.decorate('once', (inner) => lazyObject(['take'], load, ({ traceOnce }) => traceOnce(inner)))
      kernel.decorate('session', (inner) => lazyObject(['read'], load, ({ traceSession }) => traceSession(inner)))
    },
  }
}

// They ask nothing of the data layer.
const silentMethods = new Set<string>(['supports', 'namespaced', 'close'])

function storeCallsOf(store: Store): AdapterMethod[] {
  return (Object.keys(store) as AdapterMethod[]).filter((name) => typeof store[name] === 'function' && !silentMethods.has(name))
}
