/** Clients of the authorization server that speak for a directory (OAuth client credentials, RFC 6749 section 4.4). */
import { type AnyContext, type Context, RecordConflict, type Row } from 'authkernel/kernel'
import type {} from 'authkernel/plugins/authorization-server'
import type { ScimClientRow } from './tables.ts'
import type { TokenScope } from './tokens.ts'

/** A client that speaks for a directory. */
export interface ScimClient {
  /** `client_id` at the authorization server of this app. */
  clientId: string
  /** What it may at most; the scopes of its tokens may be less. */
  scope: TokenScope
  created: Date
}

/** The audience of its tokens: the base URL of SCIM. */
export function audienceOf({ base }: Pick<Context, 'base'>): string {
  return `${base}/scim/v2`
}

/** Throws TypeError for a directory or client that does not exist, and for a client of another directory. */
export async function connectClient(
  ctx: AnyContext,
  { directoryId, clientId, scope = 'write' }: { directoryId: string; clientId: string; scope?: TokenScope },
): Promise<ScimClient> {
  const tokens = ctx.app.services.resourceTokens
  if (!tokens)
    throw new TypeError('scim: OAuth clients need authorizationServerPlugin. Add it, or create a token with auth.scim.tokens.create.')
  if (scope !== 'read' && scope !== 'write') throw new TypeError('scim: `scope` must be "read" or "write".')
  if (!(await ctx.records('scimDirectory').get(directoryId))) throw new TypeError('scim: there is no such directory.')
  if (typeof clientId !== 'string' || (await tokens.nameClient(ctx, clientId)) === undefined)
    throw new TypeError('scim: there is no such client with the grant type client_credentials.')
  try {
    return toClient(await ctx.records('scimClient').create({ directoryId, clientId, scope, created: ctx.now }))
  } catch (error) {
    if (!(error instanceof RecordConflict)) throw error
    throw new TypeError('scim: the client is connected to a directory already. Disconnect it first, or create another client.', {
      cause: error,
    })
  }
}

/** Oldest first, at most 100. */
export async function listClients(ctx: AnyContext, directoryId: string): Promise<ScimClient[]> {
  const { rows } = await ctx.records('scimClient').find({ where: { directoryId }, limit: 100 })
  return rows.map(toClient)
}

/** Its tokens are rejected from now on. False: it is not connected to this directory. */
export async function disconnectClient(
  ctx: AnyContext,
  { directoryId, clientId }: { directoryId: string; clientId: string },
): Promise<boolean> {
  return (await ctx.records('scimClient').take({ clientId }, { if: { directoryId } })) !== null
}

/** Null: the client speaks for no directory. */
export function findClientRow(ctx: AnyContext, clientId: string): Promise<Row<ScimClientRow> | null> {
  return ctx.records('scimClient').get({ clientId })
}

function toClient({ clientId, scope, created }: Row<ScimClientRow>): ScimClient {
  return { clientId, scope: scope as TokenScope, created }
}
