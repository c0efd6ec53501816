/** Approvals: an agent asks its owner for one action, and does it once. */
import { type AnyContext, HttpError, RecordConflict, sha256, toHex } from 'authkernel/kernel'
import { listRows } from 'authkernel/kernel/stores'
import { whyRefused } from './authenticate.ts'
import type { ResolvedOptions } from './options.ts'
import type { AgentApproval, AgentRecord } from './tables.ts'

/** What an owner decides on. */
export interface WaitingApproval {
  id: string
  agentId: string
  /** Name of the agent. */
  agent: string
  scopes: readonly string[]
  /** What for, in the words of the app. */
  action: string
  created: Date
  expires: Date
}

/** `approved`: used up by this call, for this one action. Throws HttpError 429 when too many wait. */
export async function useApproval(
  ctx: AnyContext,
  options: ResolvedOptions,
  agent: AgentRecord,
  scopes: readonly string[],
  action: string,
): Promise<'approved' | AgentApproval> {
  const digest = toHex(await sha256(JSON.stringify([[...scopes].sort(), action])))
  const approvals = ctx.records('agentApproval')
  const known = await approvals.get({ agentId: agent.id, digest })
  if (known?.status === 'approved') {
    // Of many requests one has it.
    if (await approvals.take(known.id, { if: { status: 'approved' } })) {
      await noteApproval(ctx, known, 'used')
      return 'approved'
    }
  } else if (known) return known
  if ((await approvals.count({ agentId: agent.id }, { max: options.maxPending })) >= options.maxPending)
    throw new HttpError(429, 'Too many actions of this agent wait for its owner.', { 'Retry-After': String(options.approvalAge) })
  const expires = new Date(ctx.now.getTime() + options.approvalAge * 1000)
  const row = {
    userId: agent.userId,
    agentId: agent.id,
    digest,
    scopes: [...scopes],
    action,
    status: 'pending' as const,
    created: ctx.now,
    expires,
  }
  try {
    const made = await approvals.create(row)
    await noteApproval(ctx, made, 'requested')
    return made
  } catch (error) {
    const other = error instanceof RecordConflict ? await approvals.get({ agentId: agent.id, digest }) : null
    if (!other) throw error
    return other
  }
}

/** What waits for the owner, oldest first. */
export async function listApprovals(ctx: AnyContext, userId: string): Promise<WaitingApproval[]> {
  const rows = (await listRows(ctx.records('agentApproval'), { where: { userId } }))
    .filter(({ status }) => status === 'pending')
    .sort((a, b) => a.created.getTime() - b.created.getTime())
  const agents = rows.length > 0 ? await ctx.records('agent').getMany([...new Set(rows.map(({ agentId }) => agentId))].slice(0, 500)) : []
  return rows.map(({ id, agentId, scopes, action, created, expires }) => ({
    id,
    agentId,
    agent: agents.find((agent) => agent.id === agentId)?.name ?? agentId,
    scopes,
    action,
    created,
    expires,
  }))
}

/** What the owner says; the first answer counts. False: nothing of this owner waits under the id, or the agent may not come in any more. */
export async function decideApproval(ctx: AnyContext, userId: string, id: string, decision: 'approved' | 'denied'): Promise<boolean> {
  const approvals = ctx.records('agentApproval')
  const row = typeof id === 'string' ? await approvals.get(id) : null
  if (row?.userId !== userId) return false
  const agent = await ctx.records('agent').get(row.agentId)
  if (!agent || (await whyRefused(ctx, agent))) return false
  const change = { status: decision }
  const condition = { if: { status: 'pending' as const } }
  const written =
    decision === 'denied'
      ? await approvals.update(id, change, condition)
      : await ctx.access.grant(
          (ctx.request && (await ctx.access.stampSession())) || (await ctx.access.stamp(`user:${userId}`)),
          'apiKey',
          () => approvals.update(id, change, condition),
          () => approvals.delete(id),
        )
  if (!written) return false
  await noteApproval(ctx, written, decision)
  return true
}

async function noteApproval(ctx: AnyContext, row: AgentApproval, what: 'requested' | 'approved' | 'denied' | 'used'): Promise<void> {
  const { id, userId, agentId, scopes, action } = row
  await ctx.emit('agentApproval', { user: { id: userId }, agentId, approvalId: id, what, scopes, task: action })
}
