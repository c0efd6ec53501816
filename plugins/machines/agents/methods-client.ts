/** `client.agents`: users manage their agents, and answer what they ask, from pages of the app. */
import { clientMethod, clientMethods, type ClientPart, type Context, HttpError, type Kernel, type Wire } from 'authkernel/kernel'
import { hasFreshProof } from 'authkernel/kernel/strategies'
import { findOwnUser } from 'authkernel/kernel/users'
import { decideApproval, listApprovals, type WaitingApproval } from './approvals.ts'
import { StepUpRequired } from './errors.ts'
import {
  type Agent,
  changeAgent,
  createAgent,
  type CreatedAgent,
  deleteAgent,
  listAgents,
  renewAgent,
  rotateAgent,
  startAgent,
  stopAgent,
} from './manage.ts'
import type { AgentBudget, ResolvedOptions } from './options.ts'
import { keepsProof } from './owner.ts'

/**
 * `client.agents`. Each rejects with status 401 for a visitor, and `AccessDenied` (403) for a session that is not the user's own. What gives an agent more rejects
 * with `StepUpRequired` (403) for a proof older than `proofAge`.
 */
export type AgentsClient = ClientPart<{
  readonly agents: {
    /** What an agent can be given: scopes, those that need an approval, and the most of a budget. */
    getChoices(): Promise<{ scopes: string[]; approve: string[]; budget: AgentBudget }>
    /** Oldest first, without credentials. */
    list(): Promise<Wire<Agent>[]>
    /** The credential is returned once. Rejects with status 400, 403 for a right that the user lacks, 409 for too many agents. */
    create(input: { name: string; scopes: readonly string[]; budget?: Partial<AgentBudget> }): Promise<Wire<CreatedAgent>>
    /** Rejects with status 404 for no such agent, as all below do. */
    rename(input: { id: string; name: string }): Promise<Wire<Agent>>
    /** Replaces the scopes; what waits for an approval is gone. */
    setScopes(input: { id: string; scopes: readonly string[] }): Promise<Wire<Agent>>
    /** A new budget, counted from now. */
    setBudget(input: { id: string; budget?: Partial<AgentBudget> }): Promise<Wire<Agent>>
    /** A new credential, returned once. */
    rotate(input: { id: string }): Promise<Wire<CreatedAgent>>
    /** The kill switch: the agent is rejected from the next request on. False: it was stopped before. */
    stop(input: { id: string }): Promise<boolean>
    /** Rejects with status 403 for an agent that an administrator stopped. */
    start(input: { id: string }): Promise<Wire<Agent>>
    /** Deletes the agent with its credential. */
    revoke(input: { id: string }): Promise<boolean>
    /** Actions that wait for the user, oldest first. */
    listApprovals(): Promise<Wire<WaitingApproval>[]>
    /** The agent may do the action once. False: it waits no more, or the agent may not come in. */
    approve(input: { id: string }): Promise<boolean>
    /** False: it waits no more. */
    deny(input: { id: string }): Promise<boolean>
  }
}>

/** Adds the methods of `client.agents`. */
export function addClientMethods(kernel: Kernel, options: ResolvedOptions): void {
  const own = (ctx: Context): Promise<string> => requireOwner(ctx)
  const proved = (ctx: Context, act: string): Promise<string> => requireOwner(ctx, options, act)
  clientMethods(kernel, 'agents', {
    getChoices: clientMethod(async (ctx) => {
      await own(ctx)
      return { scopes: [...options.scopes], approve: [...options.approve], budget: options.budget }
    }),
    list: clientMethod(async (ctx) => listAgents(ctx, await own(ctx))),
    create: clientMethod(parse, async (ctx, { name = '', scopes = [], budget }) =>
      createAgent(ctx, options, await proved(ctx, 'create'), { name, scopes, budget }),
    ),
    rename: clientMethod(parse, async (ctx, { id, name = '' }) =>
      demandAgent(await changeAgent(ctx, options, await own(ctx), id, { name })),
    ),
    setScopes: clientMethod(parse, async (ctx, { id, scopes = [] }) =>
      demandAgent(await changeAgent(ctx, options, await proved(ctx, 'setScopes'), id, { scopes })),
    ),
    setBudget: clientMethod(parse, async (ctx, { id, budget }) =>
      demandAgent(await renewAgent(ctx, options, await proved(ctx, 'setBudget'), id, budget)),
    ),
    rotate: clientMethod(parse, async (ctx, { id }) => demandAgent(await rotateAgent(ctx, options, await proved(ctx, 'rotate'), id))),
    stop: clientMethod(parse, async (ctx, { id }) => {
      const ownerId = await own(ctx)
      demandAgent((await listAgents(ctx, ownerId)).find((agent) => agent.id === id) ?? null)
      return stopAgent(ctx, id, { by: 'owner', ownerId })
    }),
    start: clientMethod(parse, async (ctx, { id }) =>
      demandAgent(await startAgent(ctx, id, { by: 'owner', ownerId: await proved(ctx, 'start') })),
    ),
    revoke: clientMethod(parse, async (ctx, { id }) => demandAgent(await deleteAgent(ctx, await own(ctx), id))),
    listApprovals: clientMethod(async (ctx) => listApprovals(ctx, await own(ctx))),
    approve: clientMethod(parse, async (ctx, { id }) => decideApproval(ctx, await proved(ctx, 'approve'), id, 'approved')),
    deny: clientMethod(parse, async (ctx, { id }) => decideApproval(ctx, await own(ctx), id, 'denied')),
  })
}

/** Throws HttpError 401 for a visitor, AccessDenied for another session than the user's own, StepUpRequired with `options` for an old proof. */
async function requireOwner(ctx: Context, options?: ResolvedOptions, act = ''): Promise<string> {
  const user = await findOwnUser(ctx, 'agents')
  if (!user?.id) throw new HttpError(401, 'Sign in first.')
  if (options && keepsProof(ctx) && !(await hasFreshProof(ctx, { maxAge: options.proofAge })))
    throw new StepUpRequired(`agents.${act}: the proof is older than ${options.proofAge} seconds.`)
  return user.id
}

function demandAgent<T>(result: T | null | false): T {
  if (result === null || result === false) throw new HttpError(404, 'No such agent.')
  return result
}

interface AgentInput {
  id: string
  name?: string
  scopes?: readonly string[]
  budget?: Partial<AgentBudget>
}

/** Values are checked where they are used. */
function parse(sent: unknown): AgentInput {
  const { id, name, scopes, budget } = Object(sent) as Partial<AgentInput>
  return {
    id: String(id ?? ''),
    ...(name !== undefined && { name }),
    ...(scopes !== undefined && { scopes }),
    ...(typeof budget === 'object' && budget !== null && { budget }),
  }
}
