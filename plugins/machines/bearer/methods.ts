/** `auth.bearer` for the host app. */
import { type AnyContext, jobFor, type Kernel, type OfTenant, type SessionInfo } from 'authkernel/kernel'
import { challengeApp } from './challenge.ts'
import type { ResolvedOptions } from './options.ts'
import { listApps, revokeApps } from './session-list.ts'

/** What the plugin puts on `auth`. It checks whose sessions are meant, not CSRF: call it from your own protected routes, with the request. */
export interface BearerApi {
  bearer: {
    /** Apps that a user is signed in to, the newest first; empty for a visitor. `auth.sessions.list` has them too, where the strategy can list. */
    list(who: AppsOf): Promise<SessionInfo[]>
    /** Ends one. False: the user has no such session. */
    revoke(who: AppsOf, id: string): Promise<boolean>
    /** The response to a request that may not come in: 401, or 403 where a user is signed in, with `WWW-Authenticate`. `scope`: what your route needs. */
    challenge(request: Request, wanted?: { scope?: string | undefined }): Promise<Response>
  }
}

/** Whose app sessions: those of the user who is signed in on a request, or of a user. `of` names the tenant where there are several. */
export type AppsOf = Request | ({ userId: string } & OfTenant)

export function createApi(kernel: Kernel, options: ResolvedOptions): BearerApi['bearer'] {
  return {
    async list(who) {
      const { ctx, userId } = await findUser(kernel, who)
      return userId === undefined ? [] : listApps(ctx, options, userId)
    },
    async revoke(who, id) {
      const { ctx, userId } = await findUser(kernel, who)
      return userId !== undefined && typeof id === 'string' && (await revokeApps(ctx, { id, userId })) > 0
    },
    challenge: async (request, { scope } = {}) => challengeApp(await kernel.contextOf(request), options, scope),
  }
}

async function findUser(kernel: Kernel, who: AppsOf): Promise<{ ctx: AnyContext; userId: string | undefined }> {
  if (!(who instanceof Request)) {
    return { ctx: await kernel.contextOf(jobFor('bearer', who)), userId: who.userId }
  }
  // By the session of a browser alone: an app manages no other app.
  const ctx = await kernel.contextOf(who)
  return { ctx, userId: (await ctx.session.user(ctx))?.id }
}
