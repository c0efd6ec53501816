/** The hooks and events of each request, with the plugins that answered. No values: what is written here is meant to be shown. */
import type { AnyContext, Plugin } from 'authkernel/kernel'

/** A hook that was asked, or an event that was told. */
export interface Step {
  kind: 'hook' | 'event'
  name: string
  /** Plugins whose handlers were called; empty for an event. */
  plugins: string[]
  /** Milliseconds. */
  took: number
}
/** One request to a route of authkernel. */
export interface Watched {
  id: number
  at: string
  method: string
  /** Without the query, which may hold codes and tokens. */
  path: string
  /** Undefined while it runs. */
  status: number | undefined
  steps: Step[]
}

const kept = 30

/** Fills `log`, the newest first. */
export function watchPlugin(log: Watched[]): Plugin {
  const byContext = new WeakMap<AnyContext, Watched>()
  let last = 0
  return {
    name: 'playground-watch',
    setup(kernel) {
      kernel.observe({
        async request(ctx, work) {
          const { method, url } = ctx.request
          const path = new URL(url).pathname
          const entry: Watched = { id: ++last, at: new Date().toISOString(), method, path, status: undefined, steps: [] }
          byContext.set(ctx, entry)
          log.unshift(entry)
          log.length = Math.min(log.length, kept)
          try {
            const response = await work()
            entry.status = response.status
            return response
          } finally {
            entry.status ??= 500
          }
        },
        hook({ kind, name, ctx }, work) {
          const entry = ctx && byContext.get(ctx)
          if (!entry) return work()
          const step: Step = { kind, name, plugins: [], took: 0 }
          entry.steps.push(step)
          const began = performance.now()
          const measured = (): void => void (step.took = Math.round((performance.now() - began) * 10) / 10)
          const answer = work()
          if (answer instanceof Promise) void answer.then(measured, measured)
          else measured()
          return answer
        },
        handler({ name, plugin, ctx }, work) {
          const step = ctx && byContext.get(ctx)?.steps.findLast((each) => each.name === name)
          if (step && !step.plugins.includes(plugin)) step.plugins.push(plugin)
          return work()
        },
      })
    },
  }
}
