/** Turns a fact into a record: who acted, from where, and no secret. */
import { type AnyContext, networksOf } from 'authkernel/kernel'
import type { Fact } from './message.ts'
import { type AuditActor, type AuditRecord, cleanText, createUuid7 } from './record.ts'

/** How much of a network address is kept: all, the /24 or /48 of it, or a keyed hash that only compares. */
export type AuditAddresses = 'full' | 'truncated' | 'keyed'

/** When something happened, and its place within the millisecond. */
export interface Moment {
  time: number
  count: number
}

export async function toRecord(ctx: AnyContext, fact: Fact, { time, count }: Moment, addresses: AuditAddresses): Promise<AuditRecord> {
  const { facts } = ctx
  const { name, outcome, actor = { type: facts.job === undefined ? 'anonymous' : 'system' }, target, typed } = fact
  const known = fact.provider === undefined ? undefined : ctx.peekProvider(fact.provider)
  // The id of a connection that is in no list says nothing to a reader of the log.
  const providerName = known && !ctx.app.providers.has(known.id) ? known.name : undefined
  const extra = { ...target, providerName, tried: typed === undefined ? undefined : (await ctx.digest('audit', typed)).slice(0, 32) }
  const kept = Object.entries(extra).flatMap(([key, value]) =>
    value === undefined || key === '__proto__' ? [] : [[cleanText(key, 64), typeof value === 'string' ? cleanText(value) : value] as const],
  )
  const optional = {
    reason: fact.reason,
    // A path may name anything; of failures only what is known is kept.
    provider: fact.outcome === 'success' || known ? fact.provider : undefined,
    method: fact.method,
    sessionId: fact.sessionId,
    address: await auditAddress(ctx, facts.address, addresses),
    userAgent: facts.userAgent,
    traceId: /^[\da-f]{2}-([\da-f]{32})-/.exec(ctx.request?.headers.get('traceparent') ?? '')?.[1],
    job: facts.job,
  }
  return {
    id: createUuid7(time, count, ctx.runtime.random(10)),
    time,
    name: cleanText(name, 64),
    outcome,
    actor: await actorOf(ctx, actor),
    ...(fact.subject && {
      subject: { type: cleanText(fact.subject.type, 64), ...(fact.subject.id !== undefined && { id: cleanText(fact.subject.id) }) },
    }),
    ...(fact.amr && fact.amr.length > 0 && { amr: fact.amr.slice(0, 16).map((value) => cleanText(value, 32)) }),
    ...Object.fromEntries(Object.entries(optional).flatMap(([key, value]) => (value === undefined ? [] : [[key, cleanText(value)]]))),
    requestId: cleanText(facts.requestId, 128),
    tenant: facts.namespace,
    ...(kept.length > 0 && { target: Object.fromEntries(kept) }),
  }
}

/** The program of the request, where one acts; else with the id of the administrator who acts as the user. */
async function actorOf(ctx: AnyContext, actor: AuditActor): Promise<AuditActor> {
  // What a directory does to a user is done by the directory, not by the user of the event.
  const program = ctx.facts.actor
  if (program) return { type: program.type, id: cleanText(program.id) }
  const named = { ...actor, ...(actor.id !== undefined && { id: cleanText(actor.id) }) }
  const acting = ctx.request && ctx.has('hook', 'acting') ? await ctx.ask('acting', {}) : undefined
  if (!acting || (actor.type !== 'anonymous' && actor.id !== acting.userId)) return named
  return { type: 'user', id: cleanText(acting.userId), impersonator: cleanText(acting.adminId) }
}

async function auditAddress(ctx: AnyContext, address: string | undefined, how: AuditAddresses): Promise<string | undefined> {
  if (address === undefined || address === '' || how === 'full') return address || undefined
  if (how === 'keyed') return (await ctx.digest('audit-address', address)).slice(0, 32)
  const widest = networksOf(address).at(-1)!.key
  const octets = widest.split('.')
  return octets.length === 4 ? `${octets.slice(0, 3).join('.')}.0/24` : widest
}
