/** An audit log: what happened, who did it, from where. Written in batches, off the request. */
import { type AnyContext, type AnyEvent, type First, type Kernel, type Plugin } from 'authkernel/kernel'
import { createLog, type Log } from './log.ts'
import { type AuditApi, type AuditLog, createApi, provideLog } from './methods.ts'
import { type AuditOptions, resolveSinks } from './options.ts'
import { writeOnSignals } from './signals.ts'

export type { AuditApi, AuditLog, AuditNote, AuditTarget } from './methods.ts'
export type { AuditAddresses } from './build.ts'
export type { AuditFunction, AuditOptions } from './options.ts'
export type { AuditActor, AuditAnchor, AuditHead, AuditRecord, AuditSubject } from './record.ts'
export type { AuditPage, AuditQuery, AuditSink } from './sink.ts'
export { jsonLines, type JsonLinesOptions } from './sink-lines.ts'
export { recordsSink } from './sink-records.ts'
export { openTelemetryLogs } from './sink-telemetry.ts'
export type { AuditVerification } from './verify.ts'

declare module 'authkernel/kernel' {
  interface Hooks {
    /** Who acts as whom in a request. A plugin answers it without waiting for anything. */
    acting: First<object, { userId: string; adminId: string }, AnyContext>
  }
  interface Services {
    /** The log that can be read, where a sink is one: for consoles. The caller checks who asks. */
    auditLog: AuditLog
  }
}

/** Keeps a record of every event and every rejection. */
export function auditPlugin(options: AuditOptions): Plugin<AuditApi> {
  const sinks = resolveSinks(options)
  return {
    name: 'audit',
    requires: sinks.some(({ requires }) => requires?.includes('records')) ? ['records'] : [],
    setup(kernel) {
      kernel.declareHook('acting', 'first')
      for (const sink of sinks) sink.setup?.(kernel)
      const log = createLog(kernel, sinks, options)
      kernel.on('*', (event: AnyEvent) => log.hear(event))
      kernel.observe({ log: (entry) => 'code' in entry && entry.code === 'store-fault-healed' && void noteHealedFault(kernel, log) })
      const undo = options.signals ? writeOnSignals(kernel, log) : undefined
      const close = async (): Promise<void> => {
        undo?.()
        await log.close()
      }
      kernel.onClose(close, { first: true })
      provideLog(kernel, sinks, log)
      return createApi({ kernel, sinks, log })
    },
  }
}

/** A fault of the store that was overcome. Only the log learns of it, outside of any request. */
async function noteHealedFault(kernel: Kernel, log: Log): Promise<void> {
  try {
    const ctx = await kernel.contextOf({ job: 'store', tenant: null })
    await log.note(ctx, { name: 'store.healed', outcome: 'success', actor: { type: 'system' } })
  } catch (error) {
    kernel.config.logger.error(error instanceof Error ? error : new Error(String(error)))
  }
}
