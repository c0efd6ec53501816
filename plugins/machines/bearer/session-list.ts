/** App sessions among the sessions of a user: listed beside browsers, and ended with them. */
import {
  type AnyContext,
  type Awaitable,
  type Kernel,
  type SessionInfo,
  type SessionSelector,
  type SessionStrategy,
} from 'authkernel/kernel'
import { listRows } from 'authkernel/kernel/stores'
import { indexedName } from 'authkernel/kernel/strategies'
import { endSession } from './app-sessions.ts'
import type { ResolvedOptions } from './options.ts'
import type { AppSession } from './tables.ts'

/** The list of a user's sessions has those of apps, and one of them ends by its id. Endings of all sessions reach apps by `addEndings`. */
export function withApps(inner: SessionStrategy, options: ResolvedOptions): Partial<SessionStrategy> {
  const { list, revoke } = inner
  return {
    ...(list && {
      list: async (ctx: AnyContext, userId: string) =>
        [...(await list.call(inner, ctx, userId)), ...(await listApps(ctx, options, userId))].sort(
          (a, b) => (b.createdAt?.getTime() ?? 0) - (a.createdAt?.getTime() ?? 0),
        ),
    }),
    ...(revoke && {
      async revoke(ctx: AnyContext, which: SessionSelector) {
        const count = 'id' in which ? await revokeApps(ctx, which) : 0
        return count > 0 ? count : (revoke.call(inner, ctx, which) as Awaitable<number | undefined>)
      },
    }),
  }
}

/** The newest first. */
export async function listApps(ctx: AnyContext, { apps }: ResolvedOptions, userId: string): Promise<SessionInfo[]> {
  const rows = await listRows(ctx.records('appSession'), { where: { userId } })
  return rows.toReversed().map(({ id, clientId, attributes, address, started, rotated, expires }) => ({
    id,
    userId,
    expires,
    createdAt: started,
    lastUsed: rotated,
    attributes: {
      ...(attributes ?? { provider: '', authTime: 0, methods: {}, factors: 1 as const }),
      started: started.getTime(),
      app: apps.get(clientId)?.name ?? clientId,
      address: address ?? '',
    },
  }))
}

/** What ends the access of a user, or a session at a provider, ends codes and then app sessions. */
export function addEndings(kernel: Kernel): void {
  kernel.onAccessEnd('pending', async (ctx, { which }) =>
    'userId' in which ? ctx.records('appCode').deleteWhere({ where: { userId: which.userId } }) : 0,
  )
  // An app session is of no organization: what it may do in one is read from the membership at each use.
  kernel.onAccessEnd('app', (ctx, { which }) => ('member' in which ? 0 : revokeApps(ctx, which)))
}

/** How many ended. */
export async function revokeApps(ctx: AnyContext, which: SessionSelector): Promise<number> {
  const found = 'id' in which ? await findById(ctx, which) : await findByName(ctx, which)
  let count = 0
  for (const session of found) if (await endSession(ctx, session, 'revoked')) count++
  return count
}

async function findById(ctx: AnyContext, { id, userId }: { id: string; userId?: string }): Promise<AppSession[]> {
  const session = /^[0-9a-f]{32}$/.test(id) ? await ctx.records('appSession').get(id) : null
  return session && (userId === undefined || session.userId === userId) ? [session] : []
}

/** A `sid` beside a `sub` names a session of that user alone. */
async function findByName(ctx: AnyContext, which: Exclude<SessionSelector, { id: string }>): Promise<AppSession[]> {
  const rows = await listRows(ctx.records('appSession'), { where: await conditionOf(which) })
  const found = rows.filter((session) => isReached(session, which))
  if (!('sid' in which) || which.sub === undefined) return found
  const sub = await indexedName(which.sub)
  return found.filter((session) => session.sub === sub)
}

/** What an app got from a session began with the session: an app that signs in while a signal is on its way does not escape it. */
function isReached({ attributes, started }: AppSession, which: Exclude<SessionSelector, { id: string }>): boolean {
  const until = 'userId' in which ? undefined : which.until
  return until === undefined || (attributes?.started ?? started.getTime()) <= until
}

async function conditionOf(which: Exclude<SessionSelector, { id: string }>): Promise<Partial<AppSession>> {
  if ('userId' in which) return { userId: which.userId }
  const { provider } = which
  return 'sid' in which ? { provider, sid: await indexedName(which.sid) } : { provider, sub: await indexedName(which.sub) }
}
