/** `auth.agents` for the host app. */
import { type Kernel, jobFor, type OfTenant } from 'authkernel/kernel'
import { decideApproval, listApprovals, type WaitingApproval } from './approvals.ts'
import { type AgentDecision, type AgentDemand, authorizeAgent } from './authorize.ts'
import {
  type Agent,
  type AgentChange,
  changeAgent,
  createAgent,
  type CreatedAgent,
  deleteAgent,
  listAgents,
  type NewAgent,
  renewAgent,
  rotateAgent,
  startAgent,
  stopAgent,
} from './manage.ts'
import type { AgentBudget, ResolvedOptions } from './options.ts'
import { type AgentsOf, findAgentOwner } from './owner.ts'

/**
 * What the plugin puts on `auth`. It checks whose agents they are, and no CSRF: call it from your own protected routes. With a request it throws AccessDenied
 * for every session but that of the user, and StepUpRequired where an agent would get more and the proof is older than `proofAge`.
 */
export interface AgentsApi {
  agents: {
    /** Decides on a request of an agent. Each call of a request costs one request of the budget, once. */
    authorize(request: Request, demand: AgentDemand): Promise<AgentDecision>
    /** The credential is returned once. Throws HttpError 400, 403 or 409. */
    create(of: AgentsOf, agent: NewAgent): Promise<CreatedAgent>
    /** Oldest first. */
    list(of: AgentsOf): Promise<Agent[]>
    /** Another name or other scopes. Null: no such agent. Throws HttpError 400, or 403 for a right that the owner does not have. */
    update(of: AgentsOf, agentId: string, change: AgentChange): Promise<Agent | null>
    /** A new credential; the one before ends after `overlap` seconds. Null: no such agent. */
    rotate(of: AgentsOf, agentId: string): Promise<CreatedAgent | null>
    /** A new budget from now on. Null: no such agent. Throws HttpError 400 for more than the option `budget`. */
    renew(of: AgentsOf, agentId: string, budget?: Partial<AgentBudget>): Promise<Agent | null>
    /** The kill switch. False: no such agent, or it was stopped before. */
    stop(of: AgentsOf, agentId: string): Promise<boolean>
    /** Null: no such agent. Throws HttpError 403 for one that an administrator stopped. */
    start(of: AgentsOf, agentId: string): Promise<Agent | null>
    /** False: no such agent. */
    delete(of: AgentsOf, agentId: string): Promise<boolean>
    /** Actions that wait for the owner, oldest first. */
    approvals(of: AgentsOf): Promise<WaitingApproval[]>
    /** The agent may do the action once. False: it waits no more, or the agent may not come in. */
    approve(of: AgentsOf, approvalId: string): Promise<boolean>
    /** False: it waits no more. */
    deny(of: AgentsOf, approvalId: string): Promise<boolean>
    /** For administrators, without the owner: check who asks before. `reason` is kept in the audit log. The owner cannot undo it. */
    stopAny(agentId: string, order: OfTenant & { reason: string }): Promise<boolean>
  }
}

export function createApi(kernel: Kernel, options: ResolvedOptions): AgentsApi['agents'] {
  const own = (of: AgentsOf, act: string) => findAgentOwner(kernel, of, act)
  const proved = (of: AgentsOf, act: string) => findAgentOwner(kernel, of, act, options)
  return {
    authorize: async (request, demand) => authorizeAgent(await kernel.contextOf(request), options, demand),
    async create(of, agent) {
      const { ctx, userId } = await proved(of, 'create')
      return createAgent(ctx, options, userId, agent)
    },
    async list(of) {
      const { ctx, userId } = await own(of, 'list')
      return listAgents(ctx, userId)
    },
    async update(of, id, change) {
      const { ctx, userId } = await proved(of, 'update')
      return changeAgent(ctx, options, userId, id, change)
    },
    async rotate(of, id) {
      const { ctx, userId } = await proved(of, 'rotate')
      return rotateAgent(ctx, options, userId, id)
    },
    async renew(of, id, budget) {
      const { ctx, userId } = await proved(of, 'renew')
      return renewAgent(ctx, options, userId, id, budget)
    },
    async stop(of, id) {
      const { ctx, userId } = await own(of, 'stop')
      return stopAgent(ctx, id, { by: 'owner', ownerId: userId })
    },
    async start(of, id) {
      const { ctx, userId } = await proved(of, 'start')
      return startAgent(ctx, id, { by: 'owner', ownerId: userId })
    },
    async delete(of, id) {
      const { ctx, userId } = await own(of, 'delete')
      return deleteAgent(ctx, userId, id)
    },
    async approvals(of) {
      const { ctx, userId } = await own(of, 'approvals')
      return listApprovals(ctx, userId)
    },
    async approve(of, id) {
      const { ctx, userId } = await proved(of, 'approve')
      return decideApproval(ctx, userId, id, 'approved')
    },
    async deny(of, id) {
      const { ctx, userId } = await own(of, 'deny')
      return decideApproval(ctx, userId, id, 'denied')
    },
    stopAny: async (id, { reason, ...of }) => stopAgent(await kernel.contextOf(jobFor('agents', of)), id, { by: 'admin', reason }),
  }
}
