/** Runs `auth.cleanup()` by a timer, in one process of all. */
import { assertOptions, AuthError, type Kernel, type Plugin } from 'authkernel/kernel'
import { applyRetention, checkRetention, readRetention, type Retention } from './retention.ts'

export type { Retention } from './retention.ts'

/** When the last clean-up ended. */
export interface CleanUpRow {
  at: Date
}
declare module 'authkernel/kernel' {
  interface Records {
    cleanUp: CleanUpRow
  }
}

/** Options of `cleanupPlugin`. */
export interface CleanupOptions {
  /** Seconds from one clean-up to the next, of all processes together. Default 86,400, a day; at least 60. */
  every?: number
  /**
   * How long rows of plugins' records are kept, by the name of the record. Each clean-up deletes those whose date `field` is older than `days` (1 to 36,500), in each tenant that `tenantsPlugin({ list })` names. Default: rows are kept until their owner is deleted, or the plugin lets them expire.
   */
  retention?: Retention
}

/**
 * Removes what has ended, by itself. Each process has a timer; a lease of `every` seconds lets one of them work. The timer keeps no process alive,
 * and ends with `auth.close()`. Runtimes that end a process after each request need a scheduled `auth.cleanup()` instead. Throws AuthError for
 * another `every` and a wrong rule.
 */
export function cleanupPlugin(options: CleanupOptions = {}): Plugin<void> {
  assertOptions('Plugin "cleanup"', options, { every: true, retention: true })
  const { every = 86_400 } = options
  const rules = readRetention(options.retention ?? {})
  if (!(every >= 60 && every <= longest)) throw new AuthError(`cleanupPlugin: \`every\` must be 60 to ${longest} seconds.`)
  return {
    name: 'cleanup',
    setup(kernel) {
      // Also makes the table of leases, without which each process would work by itself.
      kernel.records('cleanUp', { id: 'given', fields: { at: { type: 'date' } } }, { optional: true })
      // Not all processes at the moment of a deployment, and none of them long after.
      if (Object.keys(rules).length > 0) {
        kernel.decorate('records', (_inner, view) => {
          checkRetention(rules, view)
          return {}
        })
        kernel.on('tenantCleanedUp', async ({ ctx }) => void (await applyRetention(ctx, rules)))
      }
      const first = Math.min(every, 300) * (0.2 + 0.8 * ((kernel.runtime.random(1)[0] ?? 0) / 255))
      let timer: ReturnType<typeof setTimeout> | undefined
      const wait = (seconds: number): void => {
        timer = setTimeout(() => void cleanUpOnce(kernel, every).finally(() => timer !== undefined && wait(every / 4)), seconds * 1000)
        if (typeof timer === 'object') timer.unref?.()
      }
      wait(first)
      kernel.onClose(() => {
        clearTimeout(timer)
        timer = undefined
      })
    },
  }
}

// What a timer can hold, with room.
const longest = 20 * 86_400

/** Cleans up unless a process has within `every` seconds. The lease is kept: the next clean-up begins when it ends. */
async function cleanUpOnce(kernel: Kernel, every: number): Promise<void> {
  try {
    const lease = await kernel.job({ job: 'cleanup', tenant: null }, (ctx) =>
      ctx.lease('authkernel:clean-up-timer', Math.floor(every * 0.95)),
    )
    if (!lease) return
    try {
      await kernel.entryPoints.cleanup()
      await kernel.job({ job: 'cleanup', tenant: null }, async (ctx) => {
        if (ctx.app.services.records) await ctx.records('cleanUp').put({ id: 'last', at: ctx.now })
      })
    } catch (error) {
      // Another process, or the next look of this one, tries again.
      await lease.release()
      throw error
    }
  } catch (error) {
    kernel.config.logger.error(error instanceof Error ? error : new Error(String(error)))
  }
}
