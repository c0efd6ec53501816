/** The service `agentActors`: an agent as a client of another plugin, such as the authorization server, where it asks its owner for a token. */
import type { AnyContext, Context } from 'authkernel/kernel'
import { payForRequest, whyRefused } from './authenticate.ts'
import { findByCredential } from './credential.ts'
import { hasRight } from './manage.ts'
import type { ResolvedOptions } from './options.ts'
import type { AgentRecord } from './tables.ts'

/** An agent that may act now. */
export interface AgentActor {
  id: string
  name: string
  ownerId: string
  /** Those of its scopes that the owner has now, also those that need an approval. */
  scopes: readonly string[]
  /** Seconds: highest age of the owner's proof for an approval. */
  proofAge: number
}
/** Agents for other plugins: `ctx.app.services.agentActors`. */
export interface AgentActors {
  /** Null: unknown, stopped, its days are over, or the access of its owner ended. Costs nothing. */
  read(ctx: AnyContext, agentId: string): Promise<AgentActor | null>
  /** Whether a credential belongs to the agent. Costs nothing. */
  isCredential(ctx: AnyContext, agentId: string, credential: string): Promise<boolean>
  /** Takes one request of its budget, once for each request of the host. False: there is none left. */
  pay(ctx: Context, agentId: string): Promise<boolean>
}

export function createActors(options: ResolvedOptions): AgentActors {
  const find = async (ctx: AnyContext, id: string): Promise<AgentRecord | null> =>
    /^[0-9a-f]{32}$/.test(id) ? ctx.records('agent').get(id) : null
  return {
    async read(ctx, id) {
      const row = await find(ctx, id)
      // What was paid for before may still be used.
      const refusal = row && (await whyRefused(ctx, { ...row, left: 1 }))
      if (!row || refusal) return null
      const held = await Promise.all(
        row.scopes.map((scope) => options.scopes.includes(scope) && hasRight(ctx, options, row.userId, row.id, scope)),
      )
      const scopes = row.scopes.filter((_, index) => held[index])
      return { id: row.id, name: row.name, ownerId: row.userId, scopes, proofAge: options.proofAge }
    },
    isCredential: async (ctx, id, credential) => (await findByCredential(ctx, credential))?.id === id,
    async pay(ctx, id) {
      const row = await find(ctx, id)
      return row !== null && payForRequest(ctx, row)
    },
  }
}
