/** `auth.sessions`: the sessions of a user, listed and ended, whatever the strategy. */
import { type AnyContext, endSessions, jobFor, type Kernel, type OfTenant, type SessionInfo } from 'authkernel/kernel'
import { strategyWith } from 'authkernel/kernel/strategies'

/** Whose: the user who is signed in on a request, or a stored user of a tenant. */
export type Who = Request | ({ userId: string } & OfTenant)

/** A session as users may see it: without its token. */
export interface ListedSession extends Pick<SessionInfo, 'id' | 'expires' | 'createdAt' | 'lastUsed'> {
  /** Whether it is the one of the given request. */
  current: boolean
  /** Id of the provider that it began with, and where it began, where that is kept: it needs the service `records`. */
  provider?: string
  address?: string
  userAgent?: string
  /** Name of the app, for sessions of bearerPlugin. */
  app?: string
}
/** When signed out, lists are empty and the others return false. Each throws MissingSessionAbility when the session strategy cannot do it. */
export interface SessionsApi {
  /** The newest first. */
  list(who: Who): Promise<ListedSession[]>
  /** Ends the session of an id from `list`; false when it is none of the user's. */
  revoke(who: Who, id: string): Promise<boolean>
  /** Ends all sessions but the one of the request; for a `userId`, all. */
  revokeOthers(who: Who): Promise<boolean>
  /** Ends all sessions, that of the request included. */
  revokeAll(who: Who): Promise<boolean>
}

export function createSessions(kernel: Kernel): SessionsApi {
  return {
    async list(who) {
      const found = await findSessionUser(kernel, who)
      if (!found) return []
      const { ctx, userId, current } = found
      const strategy = strategyWith(ctx, 'list', 'auth.sessions.list')
      const infos = (await strategy.list?.(ctx, userId)) ?? []
      return infos.map(({ id, expires, createdAt, lastUsed, attributes }) => {
        const { provider, app, address, userAgent } = attributes ?? {}
        const shown = { ...(provider && { provider }), ...(app && { app }), ...(address && { address }), ...(userAgent && { userAgent }) }
        return { id, expires, createdAt, lastUsed, current: id === current, ...shown }
      })
    },
    async revoke(who, id) {
      const found = await findSessionUser(kernel, who)
      if (!found) return false
      const { ctx, userId, current } = found
      // The session of the request needs no proof of whose it is, and one from before sessions were recorded has none.
      return (await endSessions(ctx, id === current ? { id } : { id, userId }, 'auth.sessions.revoke')) !== 0
    },
    async revokeOthers(who) {
      const found = await findSessionUser(kernel, who)
      if (!found) return false
      const { ctx, userId, current } = found
      await endSessions(ctx, { userId, ...(current !== undefined && { except: current }) }, 'auth.sessions.revokeOthers')
      return true
    },
    async revokeAll(who) {
      const found = await findSessionUser(kernel, who)
      if (!found) return false
      await endSessions(found.ctx, { userId: found.userId }, 'auth.sessions.revokeAll')
      return true
    },
  }
}

async function findSessionUser(
  kernel: Kernel,
  who: Who,
): Promise<{ ctx: AnyContext; userId: string; current: string | undefined } | undefined> {
  if (!(who instanceof Request)) {
    return { ctx: await kernel.contextOf(jobFor('accounts', who)), userId: who.userId, current: undefined }
  }
  const ctx = await kernel.contextOf(who)
  const userId = (await ctx.session.user(ctx))?.id
  return userId === undefined ? undefined : { ctx, userId, current: (await ctx.session.id?.(ctx)) ?? undefined }
}
