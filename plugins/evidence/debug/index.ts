/** What a request does, line by line, for users who look for a mistake. */
import { assertOptions, type NoOptions, type Plugin } from 'authkernel/kernel'
import { createObserver } from './observer.ts'
import { traceServices } from './services.ts'
import { createTrace } from './trace.ts'

/**
 * Writes a readable trace of each request to `logger.debug`: route, provider, names of cookies, hooks with the answer of each handler, calls to the
 * store and to other servers with their time, and why something failed. No values of cookies, fields, tokens or parameters. `createAuth({ debug: true })`
 * uses it.
 */
export function debugPlugin(options: NoOptions = {}): Plugin<void> {
  assertOptions('Plugin "debug"', options, {})
  return {
    name: 'debug',
    setup(kernel) {
      const trace = createTrace(kernel.config.logger)
      kernel.observe(createObserver(trace))
      traceServices(kernel, trace)
    },
  }
}
