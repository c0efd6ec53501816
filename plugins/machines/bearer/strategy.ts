/** App sessions among the sessions of a person: listed beside browsers, and ended with them. */
import { type AnyContext, type Awaitable, indexed, type SessionInfo, type SessionSelector, type SessionStrategy } from 'authkernel/kernel'
import { endSession } from './family.ts'
import type { ResolvedOptions } from './options.ts'
import type { AppSession } from './table.ts'

type Listed = { where: Partial<AppSession>; range?: { started: { lte: Date } } }

/** Whatever ends the sessions of a person ends those of apps: sign-out everywhere, a new password, a ban, a logout at the provider. */
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
        const count = await revokeApps(ctx, which)
        if ('id' in which && count > 0) return count
        const others = await (revoke.call(inner, ctx, which) as Awaitable<number | undefined>)
        return others === undefined ? undefined : others + count
      },
    }),
  }
}

/** The newest first. */
export async function listApps(ctx: AnyContext, { apps }: ResolvedOptions, userId: string): Promise<SessionInfo[]> {
  const rows = await pages(ctx, { where: { userId } })
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

/** How many ended. */
export async function revokeApps(ctx: AnyContext, which: SessionSelector): Promise<number> {
  const found = 'id' in which ? await byId(ctx, which) : await pages(ctx, await queryOf(which))
  // A code that is under way gives nothing any more.
  if ('userId' in which && !('id' in which)) await ctx.records('appCode').deleteWhere({ where: { userId: which.userId } })
  let count = 0
  for (const session of found) if (await endSession(ctx, session, 'revoked')) count++
  return count
}

async function byId(ctx: AnyContext, { id, userId }: { id: string; userId?: string }): Promise<AppSession[]> {
  const session = /^[0-9a-f]{32}$/.test(id) ? await ctx.records('appSession').get(id) : null
  return session && (userId === undefined || session.userId === userId) ? [session] : []
}

async function queryOf(which: Exclude<SessionSelector, { id: string }>): Promise<Listed> {
  if ('userId' in which) return { where: { userId: which.userId } }
  const { provider, until } = which
  const name = 'sid' in which ? { sid: await indexed(which.sid) } : { sub: await indexed(which.sub) }
  return { where: { provider, ...name }, ...(until !== undefined && { range: { started: { lte: new Date(until) } } }) }
}

async function pages(ctx: AnyContext, query: Listed): Promise<AppSession[]> {
  const rows: AppSession[] = []
  let cursor: string | undefined
  do {
    const page = await ctx.records('appSession').find({ ...query, limit: 1000, cursor })
    rows.push(...page.rows)
    cursor = page.cursor
  } while (cursor !== undefined)
  return rows
}
