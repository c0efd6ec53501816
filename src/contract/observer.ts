/** What sees calls of the kernel from outside: spans, traces, measurements. Types only. */
import type { AnyContext, Context } from './context.ts'

/**
 * Each member gets work, runs it exactly once and returns its result. An error of the member itself breaks the request, so it must not throw one.
 */
export interface Observer {
  /** Around a request to a route, from the search for the route to the response. `ctx.route` is known when the work is done. */
  request?(ctx: Context, work: () => Promise<Response>): Promise<Response>
  /** Around all handlers of a hook, or all listeners of an event. Only where there is a handler. The answer may be a promise. */
  hook?<T>(call: HookCall, work: () => T): T
  /** Around one handler of a hook. The answer may be a promise. */
  handler?<T>(call: HandlerCall, work: () => T): T
  /** Around a call to another server: what `ctx.runtime.fetch` is in the place of the host's. */
  fetch?(input: RequestInfo | URL, init: RequestInit | undefined, send: typeof fetch): Promise<Response>
  /** Told each error and each warning, before the logger gets it. */
  log?(entry: { error: Error } | { code: string }): void
}
/** A hook that runs, or an event that fires. */
export interface HookCall {
  readonly kind: 'hook' | 'event'
  readonly name: string
  /** Absent if a hook runs before a request has a context. */
  readonly ctx?: AnyContext | undefined
}
/** A handler of a hook. */
export interface HandlerCall extends HookCall {
  readonly kind: 'hook'
  /** Who registered it; `host` for the host itself. */
  readonly plugin: string
}
