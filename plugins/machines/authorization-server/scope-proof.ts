/** Scopes for which the user proves again who they are: a recent sign-in, or a second factor, before a client gets them. */
import { type Context, sha256, toHex } from 'authkernel/kernel'
import { hasFreshProof, leadToProof } from 'authkernel/kernel/strategies'
import type { ResolvedOptions } from './options.ts'
import type { AuthorizationRequest } from './request.ts'

const purpose = 'authorization-server.scope-proof'
const ticketSeconds = 3600
/** Query parameter by which the browser comes back. */
export const scopeProofParameter = 'scope_proof'

/** Undefined: the session fits. `unmet`: the user came back and it still does not. Else the way to a proof, and back. */
export async function demandScopeProof(
  ctx: Context,
  options: ResolvedOptions,
  request: AuthorizationRequest,
): Promise<Response | 'unmet' | undefined> {
  const demand = demandOf(options, request.scopes)
  if (!demand || (await hasFreshProof(ctx, demand))) return undefined
  const name = toHex(await sha256(JSON.stringify(request)))
  const sealed = ctx.url.searchParams.get(scopeProofParameter)
  const ticket = sealed === null ? null : await ctx.open<{ request: string }>(purpose, sealed)
  if (ticket?.request === name) return 'unmet'
  const back = new URL(ctx.url)
  back.searchParams.set(scopeProofParameter, await ctx.seal(purpose, { request: name }, ticketSeconds))
  return leadToProof(ctx, demand, back.href)
}

/** For the answer of the page: the session is not a weaker one than that which saw it. `seconds`: how long the page is good for. */
export async function keepsScopeProof(
  ctx: Context,
  options: ResolvedOptions,
  scopes: readonly string[],
  seconds: number,
): Promise<boolean> {
  const demand = demandOf(options, scopes)
  return !demand || hasFreshProof(ctx, { ...demand, maxAge: demand.maxAge + seconds })
}

/** The strictest of all scopes. */
function demandOf({ scopeProof }: ResolvedOptions, scopes: readonly string[]): { maxAge: number; level?: 'mfa' } | undefined {
  const demands = scopes.flatMap((scope) => scopeProof.get(scope) ?? [])
  if (demands.length === 0) return undefined
  const maxAge = Math.min(...demands.map((one) => one.maxAge ?? 366 * 86_400))
  return { maxAge, ...(demands.some(({ level }) => level === 'mfa') && { level: 'mfa' }) }
}
