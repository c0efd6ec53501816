/** Reads messages of events: users, accounts, plain values. */
import type { Login } from 'authkernel/kernel'
import type { AuditActor, AuditRecord, AuditSubject } from './record.ts'

/** What an event says. `typed` was typed by a client and is hashed with a key before it is stored. */
export type Fact = FactDetails & Ending
/** What did not succeed says why. */
export type Ending = { outcome: 'success'; reason?: string | undefined } | { outcome: 'failure' | 'denied'; reason: string }
export interface FactDetails extends Pick<AuditRecord, 'name'> {
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
export const userActor = (id: unknown): AuditActor => (id === undefined || id === null ? anonymous : { type: 'user', id: String(id) })
export const success = 'success' as const

/** Outcome and reason of a fact that a plugin or a host app names. Code without types may leave the reason out. */
export function endingOf(outcome: unknown, reason: unknown): Ending {
  if (outcome === 'failure' || outcome === 'denied') return { outcome, reason: optionalText(reason) || 'unspecified' }
  return { outcome: success, reason: optionalText(reason) }
}
/** The code of an error. */
export function errorCode(error: unknown): string {
  const { type, name } = Object(error) as { type?: unknown; name?: unknown }
  return optionalText(type) || optionalText(name) || 'unspecified'
}

export function ofLogin({ user: person, account, proof }: Login): Pick<Fact, 'actor' | 'subject' | 'provider' | 'method' | 'amr'> {
  return { ...personsOf(person), ...ofAccount(account), amr: proof?.amr }
}
export function ofAccount(account: unknown): Pick<Fact, 'provider' | 'method'> {
  const { provider, type } = Object(account) as { provider?: string; type?: string }
  return { provider, method: type }
}
export function personsOf(person: unknown): Required<Pick<Fact, 'actor'>> & Pick<Fact, 'subject'> {
  const id = (person as { id?: unknown } | null | undefined)?.id
  return id === undefined || id === null ? { actor: anonymous } : { actor: userActor(id), subject: { type: 'user', id: String(id) } }
}

const plain = ['kind', 'action', 'count', 'by', 'reason', 'level', 'left', 'role', 'organizationId', 'scope', 'id']
export function plainFacts(message: Message): Pick<Fact, 'provider' | 'subject' | 'target' | 'sessionId'> {
  const target = Object.fromEntries(
    plain.flatMap((key) => (['string', 'number', 'boolean'].includes(typeof message[key]) ? [[key, message[key] as string]] : [])),
  )
  const { userId, provider, sessionId } = message
  return {
    target,
    provider: optionalText(provider),
    sessionId: optionalText(sessionId),
    ...(userId !== undefined && userId !== null && { subject: { type: 'user', id: String(userId as string) } }),
  }
}

export function plainOf(details: unknown): Record<string, string | number | boolean> {
  const entries = Object.entries(Object(details) as object).slice(0, 16)
  return Object.fromEntries(entries.filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value)))
}

export function optionalText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
export function readNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}
