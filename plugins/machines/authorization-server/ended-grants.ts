/** Grants that ended while their JWTs live on: a list that services follow which verify tokens themselves (`verifyAccessToken`, option `endedGrants`). */
import { type AnyContext, type Context } from 'authkernel/kernel'
import { listRows } from 'authkernel/kernel/stores'
import type { OAuthGrant } from './tables.ts'

/** No access token lives longer, and clocks of services may differ. */
const keptSeconds = 3600 + 120
/** Seconds that caches may keep the list. */
export const listMaxAge = 10

/** Before the grant goes: a process that dies in between has ended nothing that the list does not know. */
export async function noteEndedGrant(ctx: AnyContext, { id, signed }: Pick<OAuthGrant, 'id' | 'signed'>): Promise<void> {
  if (!signed) return
  await ctx.records('oauthEndedGrant').put({ id, ended: ctx.now, expires: new Date(ctx.now.getTime() + keptSeconds * 1000) })
}

/** `GET /oauth2/ended-grants`: the claim `gid` of tokens that count no more. The ids are random and open nothing. */
export async function listEndedGrants(ctx: Context): Promise<Response> {
  const rows = await listRows(ctx.records('oauthEndedGrant'), {})
  const live = rows.filter(({ expires }) => expires > ctx.now)
  const body = { issuer: ctx.base, at: Math.floor(ctx.now.getTime() / 1000), grants: live.map(({ id }) => id) }
  return new Response(JSON.stringify(body), { headers: { 'Content-Type': 'application/json' } })
}
