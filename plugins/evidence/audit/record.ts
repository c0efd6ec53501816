/** One fact of an audit log. */

/** Who did it. */
export interface AuditActor {
  /** Another word names a program, which a plugin set with `ctx.actAs`. */
  type: 'user' | 'admin' | 'machine' | 'provider' | 'system' | 'anonymous' | (string & {})
  id?: string
  /** The administrator who acts as the user. */
  impersonator?: string
}
/** The user or thing that it was done to. */
export interface AuditSubject {
  type: string
  id?: string
}

/** One fact. It holds no token, code, password, cookie or query. */
export interface AuditRecord {
  /** UUIDv7: sorts by time. */
  id: string
  /** Milliseconds since the epoch. */
  time: number
  /** What happened: `signIn.succeeded`, `password.changed`; other events keep the name of the event. */
  name: string
  outcome: 'success' | 'failure' | 'denied'
  /** Code of an error, or why. Always there when the outcome is `failure` or `denied`. */
  reason?: string
  actor: AuditActor
  subject?: AuditSubject
  provider?: string
  /** Type of the provider. */
  method?: string
  amr?: readonly string[]
  /** Names the session, opens nothing. */
  sessionId?: string
  address?: string
  userAgent?: string
  requestId: string
  /** Of the W3C trace context of the request. */
  traceId?: string
  /** Namespace of the tenant; '' is the default. */
  tenant: string
  /** Name of the job, where there was no request. */
  job?: string
  /** When the sink drops it, in milliseconds since the epoch; only where the sink says. */
  until?: number
  /** What else belongs to it. */
  target?: Readonly<Record<string, string | number | boolean>>
  /** With `chain`: process and start, place in it, MAC of the one before and of this one. */
  chainId?: string
  seq?: number
  prev?: string
  mac?: string
}

/** Where a chain ends: kept apart, it shows that records at the end were cut off. */
export interface AuditHead {
  chainId: string
  seq: number
  mac: string
  tenant: string
  time: number
  /** The process has closed the log. */
  final: boolean
}

/** What is known elsewhere of a chain: so many records, of which the last had this MAC. */
export interface AuditAnchor {
  chainId: string
  tenant: string
  /** Place and MAC of the last record. */
  seq: number
  mac: string
  /** Records of the chain up to here. */
  count: number
  /** Milliseconds since the epoch. */
  time: number
}

/** A UUID whose order is that of time, and of `count` within a millisecond (RFC 9562 sections 5.7 and 6.2). */
export function createUuid7(time: number, count: number, random: Uint8Array): string {
  const bytes = Uint8Array.from([...Array<number>(6).fill(0), ...random.slice(0, 10)])
  new DataView(bytes.buffer).setUint16(0, Math.floor(time / 2 ** 32))
  new DataView(bytes.buffer).setUint32(2, time % 2 ** 32)
  new DataView(bytes.buffer).setUint16(6, 0x7000 | (count & 0xfff))
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** Text as a log may hold it: no control characters, which end lines and move cursors, and at most `max` characters. */
export function cleanText(value: unknown, max: number = 255): string {
  return String(value).slice(0, max).replace(unfit, '\ufffd')
}
const unfit = /[\p{Cc}\p{Cs}\u2028\u2029]/gu

/** Items by a key, in their order. */
export function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups
}
