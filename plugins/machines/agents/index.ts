/** Agents of users: programs with credentials, scopes and a budget of their own, which ask their owner where it matters and which the owner can stop at once. */
import type { Plugin, SessionPart } from 'authkernel/kernel'
import { authenticateAgent } from './authenticate.ts'
import { answerApprovalStatus } from './authorize.ts'
import { readCredential } from './credential.ts'
import { addEndings } from './endings.ts'
import { type AgentsApi, createApi } from './methods.ts'
import { type AgentsOptions, resolveOptions } from './options.ts'
import { addAccountSection } from './pages.ts'
import { type AgentActors, createActors } from './actors.ts'
import { addClientMethods, type AgentsClient } from './methods-client.ts'
import { type AgentAdministration, agentAdministration } from './service.ts'
import { agentApprovalTable, agentTable } from './tables.ts'

export type { WaitingApproval } from './approvals.ts'
export type { AgentCaller, AgentDecision, AgentDemand } from './authorize.ts'
export type { AgentActor, AgentActors } from './actors.ts'
export type { AgentAdministration } from './service.ts'
export type { AgentsClient } from './methods-client.ts'
export type { Agent, AgentChange, AgentPage, AgentSearch, CreatedAgent, NewAgent } from './manage.ts'
export type { AgentsApi } from './methods.ts'
export type { AgentBudget, AgentScopeQuestion, AgentsOptions } from './options.ts'
export { StepUpRequired } from './errors.ts'
export type { AgentsOf } from './owner.ts'
export type { AgentApprovalRow, AgentRow } from './tables.ts'

// Where hosts add theirs: TypeScript loses one of two augmentations that come by different modules.
declare module 'authkernel' {
  interface Session {
    /** There when an agent signed the request in; `user` is its owner. Scopes that need an approval are not among `scopes`. */
    agent?: { id: string; name: string; ownerId: string; scopes: readonly string[] }
  }
  interface PluginSessionFields {
    agent: 'agents'
  }
}
declare module 'authkernel/kernel' {
  interface Services {
    /** Lists, stops and starts agents of all users. It asks for no rights. Only with agentsPlugin. */
    agentAdministration: AgentAdministration
    /** Agents as clients of other plugins. Only with agentsPlugin. */
    agentActors: AgentActors
  }
  interface Events {
    /** An agent was created, changed, rotated, renewed, stopped, started or deleted. `by`: `owner`, `admin`, or `access` where the access of the owner ended. */
    agentChanged: {
      user: { id: string }
      agentId: string
      act: 'created' | 'changed' | 'rotated' | 'renewed' | 'stopped' | 'started' | 'deleted'
      by: 'owner' | 'admin' | 'access'
      /** The administrator, where it is known. */
      admin: { id: string } | null
      reason: string
    }
    /** An agent asked its owner (`requested`: send a message with a link to the account page), the owner answered, or the agent did it. `task`: what for, in the words of the app. */
    agentApproval: {
      user: { id: string }
      agentId: string
      approvalId: string
      what: 'requested' | 'approved' | 'denied' | 'used'
      scopes: readonly string[]
      task: string
    }
    /** `auth.agents.authorize` let an agent do something for its owner. */
    agentActed: { user: { id: string }; agentId: string; scopes: readonly string[]; task: string }
  }
}

/** Adds `auth.agents`, `client.agents`, the session of requests of agents, and a section of the account page. Throws AuthError for options of the wrong shape. */
export function agentsPlugin(options: AgentsOptions): Plugin<AgentsApi & AgentsClient & SessionPart<'agent'>> {
  const resolved = resolveOptions(options)
  return {
    name: 'agents',
    requires: ['records'],
    prefers: ['session:attributes'],
    setup(kernel) {
      kernel.records('agent', agentTable)
      kernel.records('agentApproval', agentApprovalTable)
      kernel.declareEvent('agentChanged', 'agentApproval', 'agentActed')
      kernel.credential(readCredential)
      kernel.hook('authenticate', ({ ctx }) => authenticateAgent(ctx, resolved))
      addEndings(kernel)
      kernel.provide('agentAdministration', agentAdministration)
      kernel.provide('agentActors', createActors(resolved))
      addClientMethods(kernel, resolved)
      kernel.route({
        method: 'GET',
        path: '/agents/approvals/:id',
        csrf: 'bearer',
        handler: (ctx) => answerApprovalStatus(ctx, resolved),
      })
      if (resolved.accountSection) addAccountSection(kernel, resolved)
      return { agents: createApi(kernel, resolved) }
    },
  }
}
