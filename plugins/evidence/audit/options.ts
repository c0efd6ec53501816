/** Options of `auditPlugin`. */
import { assertOptions, AuthError } from 'authkernel/kernel'
import type { AuditAddresses } from './build.ts'
import type { AuditAnchor, AuditRecord } from './record.ts'
import type { AuditSink } from './sink.ts'

/** Options of `auditPlugin`. */
export interface AuditOptions {
  /** One place, several, or a function that takes batches. Each place waits for itself alone. */
  sink: AuditSink | AuditFunction | readonly (AuditSink | AuditFunction)[]
  /** How much of network addresses is kept; default `full`. */
  addresses?: AuditAddresses
  /** Writes changes of passwords, factors, addresses and keys, impersonation and acts of administrators before the answer. Default false. */
  durable?: boolean
  /** Links the records, so that `authkernel audit verify` finds what was changed or taken out. Default false. */
  chain?: boolean
  /**
   * Gets the present end of each chain once a minute while records are written, and at `auth.close()`, of the first sink. Keep it out of reach of those who can write to the
   * log: `authkernel audit verify --anchor` compares. Needs `chain`. What it throws is logged.
   */
  anchor?: (anchor: AuditAnchor) => unknown
  /** Records and bytes that wait at most; more are dropped and counted. Default 10,000 and 8 MiB. */
  maxRecords?: number
  /** The same in bytes, counted as characters of the JSON. Default 8 MiB. */
  maxBytes?: number
  /** Milliseconds that a record waits at most for others; default 1000. */
  pause?: number
  /** Writes what waits when the process gets SIGTERM or SIGINT, and then lets the signal do what it would have done. Default false. */
  signals?: boolean
}
/** Receives records in the order in which they were written. A sink that is only a function; a thrown error or a rejection counts as a failed delivery. */
export type AuditFunction = (records: readonly AuditRecord[]) => unknown

/** The sinks of the option `sink`. Throws AuthError without one, and for options of the wrong shape. */
export function resolveSinks(options: AuditOptions): readonly AuditSink[] {
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
  const all = [options?.sink].flat().filter((sink) => sink !== undefined) as (AuditSink | AuditFunction)[]
  if (all.length === 0)
    throw new AuthError('auditPlugin: `sink` is missing. Give recordsSink(), jsonLines({ path }), openTelemetryLogs() or a function.')
  return all.map((sink): AuditSink =>
    typeof sink === 'function' ? { name: 'function', write: async (records) => void (await sink(records)) } : sink,
  )
}
