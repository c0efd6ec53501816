/** The service `agentAdministration`: agents of all users, for plugins that asked for rights, such as the console. */
import type { AnyContext } from 'authkernel/kernel'
import { type Agent, type AgentPage, type AgentSearch, describeAgent, searchAgents, startAgent, stopAgent } from './manage.ts'

/** Who does it, and why. */
export interface AgentAdministrator {
  adminId: string
  reason: string
}
/** Agents as plugins administer them: `ctx.app.services.agentAdministration`. */
export interface AgentAdministration {
  /** Newest first, a page at a time. */
  search(ctx: AnyContext, search?: AgentSearch): Promise<AgentPage>
  /** Null: no such agent. */
  read(ctx: AnyContext, agentId: string): Promise<Agent | null>
  /** The kill switch; the owner cannot undo it. False: no such agent, or an administrator stopped it before. */
  stop(ctx: AnyContext, agentId: string, administrator: AgentAdministrator): Promise<boolean>
  /** False: no such agent, or it runs. */
  start(ctx: AnyContext, agentId: string, administrator: AgentAdministrator): Promise<boolean>
}

export const agentAdministration: AgentAdministration = {
  search: searchAgents,
  async read(ctx, id) {
    const row = typeof id === 'string' ? await ctx.records('agent').get(id) : null
    return row && describeAgent(ctx, row)
  },
  stop: (ctx, id, { adminId, reason }) => stopAgent(ctx, id, { by: 'admin', adminId, reason }),
  async start(ctx, id, { adminId, reason }) {
    const row = typeof id === 'string' ? await ctx.records('agent').get(id) : null
    if (!row || row.stopped === '') return false
    return (await startAgent(ctx, id, { by: 'admin', adminId, reason })) !== null
  },
}
