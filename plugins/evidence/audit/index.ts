/** An audit log: what happened, who did it, from where. Written in batches, off the request. */
import { assertOptions, type AnyContext, type AnyEvent, AuthError, type First, type Kernel, type Plugin } from 'authkernel/kernel'
import { type AuditApi, createApi } from './api.ts'
import { type AuditFunction, type AuditOptions, createLog, type Log } from './log.ts'
import { onSignals } from './signals.ts'
import type { AuditSink } from './sink.ts'

export type { AuditApi, AuditNote, AuditTarget } from './api.ts'
export type { AuditAddresses } from './build.ts'
export type { AuditFunction, AuditOptions } from './log.ts'
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
}

/** Keeps a record of every event and every refusal. */
export function auditPlugin(options: AuditOptions): Plugin<AuditApi> {
  assertOptions('Plugin "audit"', options ?? {}, {
    sink: true,
    addresses: true,
    durable: true,
    chain: true,
    anchor: true,
    maxRecords: true,
    maxBytes: true,
    pause: true,
    signals: true,
  })
  const given = [options?.sink].flat().filter((sink) => sink !== undefined) as (AuditSink | AuditFunction)[]
  if (given.length === 0)
    throw new AuthError('auditPlugin: `sink` is missing. Give recordsSink(), jsonLines({ path }), openTelemetryLogs() or a function.')
  const sinks = given.map((sink): AuditSink =>
    typeof sink === 'function' ? { name: 'function', write: async (records) => void (await sink(records)) } : sink,
  )
  return {
    name: 'audit',
    requires: sinks.some(({ requires }) => requires?.includes('records')) ? ['records'] : [],
    setup(kernel) {
      kernel.declareHook('acting', 'first')
      for (const sink of sinks) sink.setup?.(kernel)
      const log = createLog(kernel, sinks, options)
      kernel.on('*', (told: AnyEvent) => log.hear(told))
      kernel.observe({ log: (entry) => 'code' in entry && entry.code === 'store-fault-healed' && void noteHealedFault(kernel, log) })
      const undo = options.signals ? onSignals(() => flushOnSignal(kernel, log)) : undefined
      const close = async (): Promise<void> => {
        undo?.()
        await log.close()
      }
      kernel.onClose(close, { first: true })
      return createApi({ kernel, sinks, log })
    },
  }
}

/** A signal ends the process: what waits is written, with how much it was. */
async function flushOnSignal(kernel: Kernel, log: Log): Promise<void> {
  const { waiting: count } = log.state()
  const ctx = await kernel.contextOf({ job: 'audit', tenant: null })
  await log.note(ctx, { name: 'audit.flushed', outcome: 'success', actor: { type: 'system' }, target: { count } })
  await log.flush()
}

/** A fault of the store that was overcome. It is told to the log alone, outside of any request. */
async function noteHealedFault(kernel: Kernel, log: Log): Promise<void> {
  try {
    const ctx = await kernel.contextOf({ job: 'store', tenant: null })
    await log.note(ctx, { name: 'store.healed', outcome: 'success', actor: { type: 'system' } })
  } catch (error) {
    kernel.config.logger.error(error instanceof Error ? error : new Error(String(error)))
  }
}
