/** Grants end with what they rest on: the access of the user, the browser session, the client. */
import type { AnyContext, Context, EndReason, Kernel, SessionSelector } from 'authkernel/kernel'
import type {} from 'authkernel/plugins/agents'
import { listRows } from 'authkernel/kernel/stores'
import { indexedName } from 'authkernel/kernel/strategies'
import { sendLogoutTokens } from './back-channel.ts'
import { hashOfSession, nameOfSession } from './codes.ts'
import { agentPrefix } from './agent-client.ts'
import { mayEnter } from './clients.ts'
import { endGrant } from './grants.ts'
import type { ResolvedOptions } from './options.ts'
import type { OAuthClientRecord, OAuthGrant } from './tables.ts'

/** Reasons that also take back what the user allowed: an attacker may have allowed it. */
const forgetting: readonly EndReason[] = ['passwordReset', 'ban', 'deletion', 'accountDisabled', 'directory']

/** What ends the tokens of an agent: it acts no more, or another program may have its credential, or it has other rights. */
const agentEndings: readonly string[] = ['stopped', 'deleted', 'rotated', 'changed']

/** Adds the handlers. */
export function addEndings(kernel: Kernel, options: ResolvedOptions): void {
  kernel.onAccessEnd('pending', async (ctx, { which, reason }) => {
    if (!('userId' in which)) return 0
    const { userId } = which
    if (forgetting.includes(reason)) await ctx.records('oauthConsent').deleteWhere({ where: { userId } })
    return deletePending(ctx, userId)
  })
  // What a grant may do in an organization is read from the membership at each use. What rests on the consent of one, or on a client for its members, ends elsewhere.
  kernel.onAccessEnd('app', async (ctx, { which }) =>
    'member' in which ? 0 : endGrants(ctx, options, await grantsOf(ctx, which), 'access'),
  )
  kernel.decorate('session', (inner) => ({
    async end(ctx: Context) {
      const session = await nameOfSession(ctx)
      const ended = await inner.end(ctx)
      if (ended) await endWithSession(ctx, options, session)
      return ended
    },
    ...(inner.revoke && {
      async revoke(ctx: AnyContext, which: SessionSelector) {
        const count = await inner.revoke?.(ctx, which)
        if ('id' in which && count !== 0) await endWithSession(ctx, options, await hashOfSession(which.id))
        return count
      },
    }),
  }))
}

/** What the user allowed, and no client has fetched, goes; of all clients or of one. Answers how many rows. */
async function deletePending(ctx: AnyContext, userId: string, clientId?: string): Promise<number> {
  let count = 0
  for (const record of ['oauthBackchannel', 'oauthDeviceCode', 'oauthCode'] as const) {
    const table = ctx.records(record)
    if (clientId === undefined) count += await table.deleteWhere({ where: { userId } })
    else
      for (const row of await listRows(table, { where: { userId } })) if (row.clientId === clientId && (await table.delete(row.id))) count++
  }
  return count
}

/** Ends the grants of one user for one client: the user took the consent back. */
export async function endClientGrants(ctx: AnyContext, options: ResolvedOptions, userId: string, clientId: string): Promise<number> {
  // Before the grants: one that is redeemed at this moment has its grant in the list, or finds its row gone.
  await deletePending(ctx, userId, clientId)
  const grants = await listRows(ctx.records('oauthGrant'), { where: { userId } })
  return endGrants(
    ctx,
    options,
    grants.filter((grant) => grant.clientId === clientId),
    'user',
  )
}

/** Ends everything of a client that is deleted. */
export async function endAllOfClient(ctx: AnyContext, options: ResolvedOptions, clientId: string): Promise<number> {
  return endGrants(ctx, options, await listRows(ctx.records('oauthGrant'), { where: { clientId } }), 'client')
}

/** A client of an organization is for its members now: grants of others end, and what they allowed. */
export async function endForeignGrants(ctx: AnyContext, options: ResolvedOptions, row: OAuthClientRecord): Promise<number> {
  const { id: clientId, organizationId, membersOnly } = row
  const organization = { id: organizationId ?? '', name: '', membersOnly }
  const grants = await listRows(ctx.records('oauthGrant'), { where: { clientId } })
  const foreign: OAuthGrant[] = []
  for (const grant of grants) if (grant.userId !== null && !(await mayEnter(ctx, { organization }, grant.userId))) foreign.push(grant)
  return endGrants(ctx, options, foreign, 'client')
}

/** What a user has of clients that are for members of an organization alone: the membership ended. */
export async function endMembersClients(
  ctx: AnyContext,
  options: ResolvedOptions,
  userId: string,
  organizationId: string,
): Promise<number> {
  const clients = await listRows(ctx.records('oauthClient'), { where: { organizationId } })
  const own = new Set(clients.filter(({ membersOnly }) => membersOnly).map(({ id }) => id))
  for (const clientId of own) await deletePending(ctx, userId, clientId)
  const grants = own.size > 0 ? await listRows(ctx.records('oauthGrant'), { where: { userId } }) : []
  return endGrants(
    ctx,
    options,
    grants.filter(({ clientId }) => own.has(clientId)),
    'access',
  )
}

/** A browser session ended. Grants with `offline_access` outlive it (OpenID Connect Core section 11), and all clients learn of the end. */
async function endWithSession(ctx: AnyContext, options: ResolvedOptions, session: string): Promise<void> {
  if (session === '') return
  // Codes first: one that is redeemed at this moment has its grant in the list, or finds itself deleted.
  await ctx.records('oauthCode').deleteWhere({ where: { session } })
  const grants = await listRows(ctx.records('oauthGrant'), { where: { session } })
  await sendLogoutTokens(ctx, options, grants)
  for (const { id, scopes } of grants) if (!scopes.includes('offline_access')) await endGrant(ctx, id, 'session')
}

/** Ends grants, and says so to their clients. Answers how many. */
export async function endGrants(ctx: AnyContext, options: ResolvedOptions, grants: readonly OAuthGrant[], by: string): Promise<number> {
  await sendLogoutTokens(ctx, options, grants)
  let count = 0
  for (const { id } of grants) if (await endGrant(ctx, id, by)) count++
  return count
}

async function grantsOf(ctx: AnyContext, which: Exclude<SessionSelector, { id: string }>): Promise<OAuthGrant[]> {
  const table = ctx.records('oauthGrant')
  if ('userId' in which) return listRows(table, { where: { userId: which.userId } })
  const { provider, until } = which
  const name = 'sid' in which ? { sid: await indexedName(which.sid) } : { sub: await indexedName(which.sub) }
  const found = await listRows(table, { where: { provider, ...name } })
  const sub = 'sid' in which && which.sub !== undefined ? await indexedName(which.sub) : undefined
  // What began after a signal was sent does not end by it; a `sid` beside a `sub` names a session of that user alone.
  return found.filter(
    (grant) =>
      (sub === undefined || grant.sub === sub) && (until === undefined || (grant.attributes?.started ?? grant.started.getTime()) <= until),
  )
}

/** Adds the kill switch: tokens and open questions of an agent end with it. */
export function addAgentEndings(kernel: Kernel, options: ResolvedOptions): void {
  kernel.on(
    'agentChanged',
    async ({ act, agentId, user, ctx }) => {
      if (!agentEndings.includes(act)) return
      const clientId = agentPrefix + agentId
      // Questions first: one that is redeemed at this moment has its grant in the list, or finds its row gone.
      for (const { id, clientId: asker } of await listRows(ctx.records('oauthBackchannel'), { where: { userId: user.id } }))
        if (asker === clientId) await ctx.records('oauthBackchannel').delete(id)
      await endAllOfClient(ctx, options, clientId)
    },
    { of: 'agents' },
  )
}
