/** Who a request with the credential of an agent is, and what the request costs. */
import { type AnyContext, type Context, hostRequestOf, HttpError, type Session } from 'authkernel/kernel'
import { toSessionUser } from 'authkernel/kernel/strategies'
import { findByCredential, readCredential } from './credential.ts'
import { hasRight } from './manage.ts'
import type { ResolvedOptions } from './options.ts'
import type { AgentRecord } from './tables.ts'

/** Why an agent is rejected. `spent`: its requests or its days are used up. */
export type AgentRefusal = 'unknown' | 'stopped' | 'spent' | 'access'
/** An agent that may come in now. */
export interface LiveAgent {
  row: AgentRecord
  user: NonNullable<Session['user']>
  /** Those of its scopes that the owner has now. */
  scopes: string[]
}

// A host reads the session of one request several times: it costs one request of the budget.
const spending = new WeakMap<object, Map<string, Promise<boolean>>>()

/** Undefined: the request has no credential of an agent. Null: it has one, and the agent is rejected. Throws HttpError 429 where the budget is used up. */
export async function authenticateAgent(ctx: Context, options: ResolvedOptions): Promise<Session | null | undefined> {
  const text = readCredential(ctx.request.headers)
  if (text === undefined) return undefined
  const live = await findLiveAgent(ctx, options, text)
  if (live === 'spent') throw budgetSpent()
  if (typeof live === 'string') return null
  const { row, user, scopes } = live
  return {
    user,
    expires: new Date(Math.min(row.until.getTime(), ctx.now.getTime() + 3_600_000)).toISOString(),
    agent: { id: row.id, name: row.name, ownerId: row.userId, scopes: scopes.filter((scope) => !options.approve.includes(scope)) },
  }
}

/** The live agent of a credential; the request is paid for. Else why it is rejected. */
export async function findLiveAgent(ctx: Context, options: ResolvedOptions, text: string): Promise<LiveAgent | AgentRefusal> {
  const row = await findByCredential(ctx, text)
  const refusal = row ? await whyRefused(ctx, row) : 'unknown'
  if (!row || refusal) return noteRefusal(ctx, refusal ?? 'unknown', row)
  const user = await readUser(ctx, row.userId)
  if (!user) return noteRefusal(ctx, 'access', row)
  if (!(await payForRequest(ctx, row))) {
    // Stopped or used up by another request of this moment.
    const now = await ctx.records('agent').get(row.id)
    return noteRefusal(ctx, now && now.stopped === '' ? 'spent' : 'stopped', row)
  }
  const held = await Promise.all(
    row.scopes.map((scope) => options.scopes.includes(scope) && hasRight(ctx, options, row.userId, row.id, scope)),
  )
  return { row, user, scopes: row.scopes.filter((_, index) => held[index]) }
}

/** Undefined: the agent may come in. Spends nothing. */
export async function whyRefused(ctx: AnyContext, { stopped, left, until, userId }: AgentRecord): Promise<AgentRefusal | undefined> {
  if (stopped !== '') return 'stopped'
  if (left <= 0 || until <= ctx.now) return 'spent'
  return (await ctx.access.allows(userId, 'apiKey')) ? undefined : 'access'
}

/** 429: the owner gives a new budget. */
export function budgetSpent(): HttpError {
  return new HttpError(429, 'The budget of this agent is used up. Its owner can renew it.')
}

/** One request of the budget for a request of the host, however often it is read. False: there is none left, or the agent was stopped. */
export function payForRequest(ctx: Context, row: AgentRecord): Promise<boolean> {
  const host = hostRequestOf(ctx.request)
  const known = spending.get(host) ?? new Map<string, Promise<boolean>>()
  spending.set(host, known)
  const paid = known.get(row.id) ?? spendRequest(ctx, row)
  known.set(row.id, paid)
  return paid
}

/** One request of the budget, in one atomic write: of many processes, no more than the budget get one. */
async function spendRequest(ctx: AnyContext, { id }: AgentRecord): Promise<boolean> {
  return (await ctx.records('agent').increment(id, 'left', -1, { min: 0, if: { stopped: '' }, set: { used: ctx.now } })) !== null
}

async function noteRefusal(ctx: Context, reason: AgentRefusal, row: AgentRecord | null): Promise<AgentRefusal> {
  await ctx.emit('noted', { name: 'agent.refused', outcome: 'denied', reason, details: { id: row?.id } })
  return reason
}

async function readUser(ctx: AnyContext, userId: string): Promise<NonNullable<Session['user']> | null> {
  if (!ctx.store?.supports('getUser')) return { id: userId }
  const user = await ctx.store.getUser(userId)
  return user && toSessionUser(ctx.store, user)
}
