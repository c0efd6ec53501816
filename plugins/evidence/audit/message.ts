/** Reads messages of events: persons, accounts, plain values. */
import type { Login } from 'authkernel/kernel'
import type { AuditActor, AuditRecord, AuditSubject } from './record.ts'

/** What an event says. `typed` was typed by a stranger and is keyed before it is kept. */
export interface Fact extends Pick<AuditRecord, 'name' | 'outcome'> {
  reason?: string | undefined
  actor?: AuditActor
  subject?: AuditSubject
  provider?: string | undefined
  method?: string | undefined
  amr?: readonly string[] | undefined
  sessionId?: string | undefined
  target?: Record<string, string | number | boolean | undefined>
  typed?: string | undefined
}
/** Of an event. */
export type Message = Record<string, unknown>

export const anonymous: AuditActor = { type: 'anonymous' }
export const user = (id: unknown): AuditActor => (id === undefined || id === null ? anonymous : { type: 'user', id: String(id) })
export const success = 'success' as const

export function ofLogin({ user: person, account, proof }: Login): Pick<Fact, 'actor' | 'subject' | 'provider' | 'method' | 'amr'> {
  return { ...about(person), ...ofAccount(account), amr: proof?.amr }
}
export function ofAccount(account: unknown): Pick<Fact, 'provider' | 'method'> {
  const { provider, type } = Object(account) as { provider?: string; type?: string }
  return { provider, method: type }
}
export function about(person: unknown): Required<Pick<Fact, 'actor'>> & Pick<Fact, 'subject'> {
  const id = (person as { id?: unknown } | null | undefined)?.id
  return id === undefined || id === null ? { actor: anonymous } : { actor: user(id), subject: { type: 'user', id: String(id) } }
}

const plain = ['kind', 'action', 'count', 'by', 'reason', 'level', 'left', 'role', 'organizationId', 'scope', 'id']
export function scalars(message: Message): Pick<Fact, 'provider' | 'subject' | 'target' | 'sessionId'> {
  const target = Object.fromEntries(
    plain.flatMap((key) => (['string', 'number', 'boolean'].includes(typeof message[key]) ? [[key, message[key] as string]] : [])),
  )
  const { userId, provider, sessionId } = message
  return {
    target,
    provider: text(provider),
    sessionId: text(sessionId),
    ...(userId !== undefined && userId !== null && { subject: { type: 'user', id: String(userId as string) } }),
  }
}

export function plainOf(details: unknown): Record<string, string | number | boolean> {
  const entries = Object.entries(Object(details) as object).slice(0, 16)
  return Object.fromEntries(entries.filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value)))
}

export function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
export function number(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}
