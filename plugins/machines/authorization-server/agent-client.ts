/** An agent of agentsPlugin as a client: it asks its owner by CIBA, and gets a token that names both. */
import type { AnyContext, Context } from 'authkernel/kernel'
import type { AgentActor } from 'authkernel/plugins/agents'
import { cibaGrant, type ClientMetadata, readClientMetadata } from './client-metadata.ts'
import { OAuthRefusal } from './errors.ts'
import type { ResolvedOptions } from './options.ts'

/** What stands before the id of an agent in its `client_id`. */
export const agentPrefix = 'agent_'

/** The agent that a `client_id` names: `agent_` and its id. Undefined: none, or one that may not act now. */
export async function findAgent(
  ctx: AnyContext,
  { ciba }: Pick<ResolvedOptions, 'ciba'>,
  clientId: string,
): Promise<AgentActor | undefined> {
  if (!ciba || !clientId.startsWith(agentPrefix)) return undefined
  return (await ctx.app.services.agentActors?.read(ctx, clientId.slice(agentPrefix.length))) ?? undefined
}

/** An agent in the form of a client. */
export interface AgentClient {
  id: string
  name: string
  source: 'agent'
  metadata: ClientMetadata
  secrets: readonly string[]
  firstParty: false
  agent: { ownerId: string; proofAge: number }
}

/** The client of an agent: it has one grant type, no redirect, and only its own scopes. */
export function describeAgentClient({ id, name, ownerId, scopes, proofAge }: AgentActor): AgentClient {
  const given = { client_name: name, grant_types: [cibaGrant], token_endpoint_auth_method: 'client_secret_basic', scope: scopes.join(' ') }
  const metadata = readClientMetadata(given, 'host')
  return { id: agentPrefix + id, name, source: 'agent', metadata, secrets: [], firstParty: false, agent: { ownerId, proofAge } }
}

/** Whether the secret of a request is the credential of the agent. */
export async function fitsAgent(ctx: Context, { id }: { id: string }, secret: string): Promise<boolean> {
  return (await ctx.app.services.agentActors?.isCredential(ctx, id.slice(agentPrefix.length), secret)) === true
}

/** A question to the owner is one request of the budget; polls are free. Throws OAuthRefusal. */
export async function payForQuestion(ctx: Context, { id }: { id: string }): Promise<void> {
  if (!(await ctx.app.services.agentActors?.pay(ctx, id.slice(agentPrefix.length))))
    throw new OAuthRefusal('access_denied', 'The budget of this agent is used up. Its owner can renew it.', 403)
}
