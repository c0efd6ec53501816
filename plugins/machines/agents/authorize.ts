/** Whether an agent may do one thing now: its credential, its scopes, its budget, and what its owner says. */
import { type Context, HttpError, json } from 'authkernel/kernel'
import { useApproval } from './approvals.ts'
import { budgetSpent, findLiveAgent } from './authenticate.ts'
import { readCredential } from './credential.ts'
import type { ResolvedOptions } from './options.ts'

/** What a route needs. */
export interface AgentDemand {
  /** Scopes that the agent must have, all of them; at least one. */
  scopes: readonly string[]
  /** For scopes of the option `approve`: what the agent is about to do, as its owner reads it, 1 to 500 characters. The approval is for exactly this. */
  action?: string | undefined
}
/** An agent that was let in. */
export interface AgentCaller {
  agentId: string
  name: string
  /** The user whom it acts for. */
  ownerId: string
  /** What the agent may now, without what needs an approval. */
  scopes: readonly string[]
}
/** Either the agent, or the response to return instead. */
export type AgentDecision = { caller: AgentCaller; response?: undefined } | { caller?: undefined; response: Response }

/** Throws HttpError 400 where a scope needs an approval and `action` is missing. */
export async function authorizeAgent(ctx: Context, options: ResolvedOptions, { scopes, action }: AgentDemand): Promise<AgentDecision> {
  const text = readCredential(ctx.request.headers)
  const live = text === undefined ? 'unknown' : await findLiveAgent(ctx, options, text)
  if (live === 'spent') return refuse(429, 'budget_spent', budgetSpent().message)
  if (typeof live === 'string') return refuse(401, text === undefined ? undefined : 'invalid_token', 'Send the credential of an agent.')
  const { row } = live
  if (!scopes.every((scope) => live.scopes.includes(scope)))
    return refuse(403, 'insufficient_scope', 'The agent or its owner does not have this right.', { scope: scopes.join(' ') })
  const demanding = scopes.filter((scope) => options.approve.includes(scope))
  if (demanding.length > 0) {
    if (typeof action !== 'string' || action.trim() === '' || action.length > 500 || /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(action))
      throw new HttpError(400, 'auth.agents.authorize: `action` must say in 1 to 500 visible characters what the owner approves.')
    const approval = await useApproval(ctx, options, row, scopes, action)
    if (approval !== 'approved') {
      const { id, status, expires } = approval
      const seconds = Math.max(Math.ceil((expires.getTime() - ctx.now.getTime()) / 1000), 1)
      const isDenied = status === 'denied'
      const say = isDenied ? 'The owner denied it.' : 'The owner has to approve it. Try again with the same request.'
      const url = `${ctx.base}/agents/approvals/${id}`
      return refuse(
        403,
        isDenied ? 'approval_denied' : 'approval_required',
        say,
        {},
        { approval: id, approval_url: url, expires_in: seconds },
      )
    }
  }
  const own = live.scopes.filter((scope) => !options.approve.includes(scope))
  await ctx.emit('agentActed', { user: { id: row.userId }, agentId: row.id, scopes, task: action ?? '' })
  return { caller: { agentId: row.id, name: row.name, ownerId: row.userId, scopes: own } }
}

/** `GET /agents/approvals/:id`, for the agent that asked. Costs one request of its budget. */
export async function answerApprovalStatus(ctx: Context, options: ResolvedOptions): Promise<Response> {
  const text = readCredential(ctx.request.headers)
  const live = text === undefined ? 'unknown' : await findLiveAgent(ctx, options, text)
  if (live === 'spent') throw budgetSpent()
  if (typeof live === 'string') return refuse(401, 'invalid_token', 'Send the credential of an agent.').response
  const row = await ctx.records('agentApproval').get(ctx.params['id'] ?? '')
  if (row?.agentId !== live.row.id) return refuse(404, 'not_found', 'Nothing waits under this id.').response
  return json({ status: row.status, expires: row.expires.toISOString() }, 200, { 'Cache-Control': 'no-store' })
}

function refuse(
  status: number,
  error: string | undefined,
  description: string,
  challenge: Readonly<Record<string, string>> = {},
  more: Readonly<Record<string, unknown>> = {},
): { response: Response } {
  const params = Object.entries({ ...(error !== undefined && { error }), ...challenge }).map(([name, value]) => `${name}="${value}"`)
  const headers = { 'Cache-Control': 'no-store', ...(status !== 429 && { 'WWW-Authenticate': `Bearer ${params.join(', ')}`.trim() }) }
  return { response: json({ error: error ?? 'login_required', error_description: description, ...more }, status, headers) }
}
