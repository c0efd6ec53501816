/** An audit log: what happened, who did it, from where. Written in batches, off the request. */
import { AuthError, type AnyEvent, type Plugin } from 'authkernel/kernel'
import { type AuditApi, createApi } from './api.ts'
import { type AuditFunction, type AuditOptions, createLog } from './log.ts'
import { onSignals } from './signals.ts'
import type { AuditSink } from './sink.ts'

export type { AuditApi, AuditNote, AuditTarget } from './api.ts'
export type { AuditAddresses } from './build.ts'
export type { AuditFunction, AuditOptions } from './log.ts'
export type { AuditActor, AuditHead, AuditRecord, AuditSubject } from './record.ts'
export type { AuditPage, AuditQuery, AuditSink } from './sink.ts'
export { jsonLines, type JsonLinesOptions } from './sink-lines.ts'
export { recordsSink } from './sink-records.ts'
export { openTelemetryLogs } from './sink-telemetry.ts'
export type { AuditVerification } from './verify.ts'

/** Keeps a record of every event and every refusal. */
export function auditPlugin(options: AuditOptions): Plugin<AuditApi> {
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
      for (const sink of sinks) sink.setup?.(kernel)
      const log = createLog(kernel, sinks, options)
      kernel.on('*', (told: AnyEvent) => log.hear(told))
      const undo = options.signals ? onSignals(log.flush) : undefined
      const close = async (): Promise<void> => {
        undo?.()
        await log.close()
      }
      kernel.onClose(close, { first: true })
      return createApi({ kernel, sinks, log })
    },
  }
}
