/** Guards of resources: an MCP server, or an API (RFC 9728, RFC 6750, the authorization of MCP). */
import { AuthError, type Context, HttpError, json, type Kernel } from 'authkernel/kernel'
import {
  type HonoLikeContext,
  type NodeLikeRequest,
  type NodeLikeResponse,
  requestOfNode,
  sendToNode,
  webRequestOf,
} from './framework-request.ts'
import { resourceMetadataPath } from './metadata.ts'
import { type AuthorizationDetail, canonicalResource, type Resource, type ResolvedOptions } from './options.ts'
import type { ActClaim } from './tables.ts'
import { readRequestToken, refusalResponse } from './resource-request.ts'

export type { HonoLikeContext, NodeLikeRequest, NodeLikeResponse } from './framework-request.ts'

/** What a route of a resource needs. */
export interface ResourceDemand {
  /** One of the option `resources`. */
  resource: string
  /** Scopes that the token must have, all of them; default: none. */
  scopes?: readonly string[] | undefined
}
/** Who a request with an access token is. */
export interface ResourceCaller {
  /** Null: the client acts for itself. */
  userId: string | null
  clientId: string
  /** The organization of a client that belongs to one; null: the client is of none. */
  organizationId: string | null
  /** Who acts for the user, the newest first; empty: the client itself. */
  actors: readonly string[]
  /** What it asked for beyond scopes (RFC 9396), for this resource. */
  details: readonly AuthorizationDetail[]
  /** What the token may now. */
  scopes: readonly string[]
  /** When the token ends. */
  expires: Date
  /** The same in the form of `@modelcontextprotocol/sdk`: tools find it as `extra.authInfo`. It has the token, so JSON of a caller leaves it out. */
  authInfo: McpAuthInfo
}
/** `AuthInfo` of `@modelcontextprotocol/sdk`. */
export interface McpAuthInfo {
  token: string
  clientId: string
  scopes: string[]
  /** Seconds since the epoch. */
  expiresAt: number
  resource: URL
  extra: { userId: string | null }
}
/** Either the caller, or the response to return instead: 401 or 403 with `WWW-Authenticate`. */
export type ResourceDecision = { caller: ResourceCaller; response?: undefined } | { caller?: undefined; response: Response }
/** Handles a request of a caller that was let in. `context`: what the framework gave, such as the context of Hono. */
export type ResourceHandler<C = unknown> = (request: Request, caller: ResourceCaller, context: C) => Response | Promise<Response>
/** The same with request and response of Node or Express. `req.auth` is `caller.authInfo`, as the transport of `@modelcontextprotocol/sdk` reads it. */
export type NodeResourceHandler<Req = NodeLikeRequest, Res = NodeLikeResponse> = (req: Req, res: Res, caller: ResourceCaller) => unknown

/** A route for `fetch` frameworks and Hono. */
export type ResourceRoute = (from: Request | HonoLikeContext) => Promise<Response>
/** A route for Express and `node:http`. A fault goes to `next` where there is one. */
export type NodeResourceRoute<Req = NodeLikeRequest, Res = NodeLikeResponse> = (
  req: Req,
  res: Res,
  next?: (error?: unknown) => void,
) => Promise<void>

/** What guards a resource on `auth.authorizationServer`. */
export interface ResourceGuards {
  /**
   * Checks the token of a request: its audience, its scopes and its key. `from`: a web request, a context of Hono, or a request of Express or Node.
   * Throws AuthError for a resource that the options do not have.
   */
  authorize(from: Request | HonoLikeContext | NodeLikeRequest, demand: ResourceDemand): Promise<ResourceDecision>
  /**
   * The same around the handler of an MCP server, or of any API. The route takes what the framework gives: a web request, a context of Hono, or request and
   * response of Express, where the parameters of `handler` need their types. Throws AuthError for a resource that the options do not have.
   */
  protectMcp(handler: ResourceHandler, demand: ResourceDemand): ResourceRoute
  protectMcp<Req extends NodeLikeRequest, Res extends NodeLikeResponse>(
    handler: NodeResourceHandler<Req, Res>,
    demand: ResourceDemand,
  ): NodeResourceRoute<Req, Res>
}

export function createGuards(kernel: Kernel, options: ResolvedOptions): ResourceGuards {
  const decideOn = async (request: Request, demand: ResourceDemand): Promise<ResourceDecision> =>
    decideToken(await kernel.contextOf(request), options, resourceOf(options, demand.resource), demand.scopes ?? [])
  const protectNode = async (
    handler: NodeResourceHandler,
    demand: ResourceDemand,
    req: NodeLikeRequest & { auth?: unknown },
    res: NodeLikeResponse,
  ): Promise<void> => {
    const { caller, response } = await decideOn(requestOfNode(req), demand)
    if (!caller) return sendToNode(res, response)
    req.auth = caller.authInfo
    await handler(req, res, caller)
  }
  const protect = (handler: ResourceHandler & NodeResourceHandler, demand: ResourceDemand) => {
    resourceOf(options, demand.resource)
    return async (from: unknown, res?: NodeLikeResponse, next?: (error?: unknown) => void): Promise<Response | void> => {
      const request = webRequestOf(from)
      if (request) {
        const { caller, response } = await decideOn(request, demand)
        return caller ? (handler(request, caller, from as never /* the handler knows its framework */) as Promise<Response>) : response
      }
      const answer = res as NodeLikeResponse
      try {
        await protectNode(handler, demand, from as NodeLikeRequest, answer)
      } catch (error) {
        if (error instanceof HttpError) return sendToNode(answer, json({ error: 'invalid_request' }, error.status, error.headers))
        // Express 4 does not see a promise that rejects.
        if (!next) throw error
        next(error)
      }
    }
  }
  return {
    authorize: (from, demand) => decideOn(webRequestOf(from) ?? requestOfNode(from as NodeLikeRequest), demand),
    protectMcp: protect as ResourceGuards['protectMcp'],
  }
}

/** Who brings a token for a resource, or the response to return instead. */
export async function decideToken(
  ctx: Context,
  options: ResolvedOptions,
  resource: Resource,
  scopes: readonly string[],
): Promise<ResourceDecision> {
  const token = await readRequestToken(ctx, options, resource.resource, scopes)
  if ('status' in token) {
    // The client finds this server by the address, and asks for the scopes: those of this request alone (RFC 6750 section 3.1). Clients add them to what they have.
    const metadata = new URL(resourceMetadataPath(resource), resource.resource).href
    const wanted = scopes.length > 0 ? { scope: scopes.join(' ') } : {}
    return { response: await refusalResponse(ctx, options, token, { ...wanted, resource_metadata: metadata }) }
  }
  const { grant, end, text } = token
  const [{ userId, clientId, organizationId }, held] = [grant, [...token.scopes]]
  const authInfo = { token: text, clientId, scopes: held, expiresAt: end, resource: new URL(resource.resource), extra: { userId } }
  const caller = {
    userId,
    clientId,
    organizationId,
    actors: actorsOf(grant.act),
    details: token.details,
    scopes: held,
    expires: new Date(end * 1000),
    authInfo,
  }
  // Left out where a caller is written to a log or a response: it has the token.
  return { caller: Object.defineProperty(caller, 'authInfo', { enumerable: false }) }
}

function actorsOf(act: ActClaim | null | undefined): string[] {
  return act ? [act.sub, ...actorsOf(act.act)] : []
}

function resourceOf({ resources }: ResolvedOptions, name: string): Resource {
  const found = resources.get(canonicalResource(name))
  if (!found)
    throw new AuthError(
      `auth.authorizationServer: "${name}" is not among \`resources\` of authorizationServerPlugin (${[...resources.values()].map(({ resource }) => resource).join(', ') || 'none'}).`,
    )
  return found
}
