/** Mobile and desktop apps: sign-in through the browser of the device, then an access token and a refresh token that rotates. No cookies. */
import {
  type AnyContext,
  type AppClient,
  AuthError,
  type Guard,
  jobFor,
  type Kernel,
  type OfTenant,
  type Plugin,
  type SessionInfo,
  type User,
} from 'authkernel/kernel'
import { authenticate, liveClaims, liveToken } from './authenticate.ts'
import { addConsent } from './authorize.ts'
import { challenge } from './challenge.ts'
import { appTokens } from './grants.ts'
import { messages } from './messages.ts'
import { type BearerOptions, issuerOf, resolveOptions, type ResolvedOptions } from './options.ts'
import { personOf, rightsOf } from './person.ts'
import { addRoutes } from './routes.ts'
import { addEndings, listApps, revokeApps, withApps } from './strategy.ts'
import { appCodeTable, appSessionTable } from './table.ts'

export type { AccessTokenOptions, AppOptions, BearerOptions, RightQuestion } from './options.ts'
export type { AppCodeRow, AppSessionRow } from './table.ts'

declare module 'authkernel' {
  interface Session {
    /** There when an app signed the request in by its access token. */
    bearer?: {
      id: string
      clientId: string
      scopes: readonly string[]
      /** Thumbprint of the key that the app proved (RFC 9449); absent: the token is a bearer token. */
      jkt?: string
    }
  }
}
/** Which app session an event is about. */
export interface AppSessionTold {
  /** Names the app session, opens nothing. */
  id: string
  user: User
  clientId: string
}
declare module 'authkernel/kernel' {
  interface Hooks {
    /** Whether an app session counts now: banned users, members that left. Asked before it begins, with an empty `id`, and at each use. */
    appSession: Guard<{ user: User; app: AppClient; id: string }, AnyContext>
  }
  interface Events {
    /** An app got its first tokens. `by`: `code` or `device`. */
    appSignedIn: AppSessionTold & { by: string }
    /** It got the next ones. */
    appTokensRefreshed: AppSessionTold
    /** A refresh token came back that was used before, or by another app: somebody copied it. The app session has ended. */
    appTokenReused: AppSessionTold
    /** `by`: `app`, `revoked`, or `code` for a code that came twice. */
    appSessionEnded: AppSessionTold & { by: string }
  }
}

/** Whose app sessions: those of the person who is signed in on a request, or of a user. `of` names the tenant where there are several. */
export type AppsOf = Request | ({ userId: string } & OfTenant)
/** What the plugin puts on `auth`. It checks whose sessions are asked for, not who asks: call it behind your own routes, with the request. */
export interface BearerApi {
  bearer: {
    /** Apps that a person is signed in to, the newest first; empty for nobody. `auth.sessions.list` has them too, where the strategy can list. */
    list(who: AppsOf): Promise<SessionInfo[]>
    /** Ends one. False: the person has no such session. */
    revoke(who: AppsOf, id: string): Promise<boolean>
    /** The answer to a request that may not come in: 401, or 403 where somebody is signed in, with `WWW-Authenticate`. `scope`: what your route needs. */
    challenge(request: Request, wanted?: { scope?: string | undefined }): Promise<Response>
  }
}

/**
 * Adds the endpoints for apps, and the session of requests that carry an access token. A request with one is never signed in by its cookie.
 * Throws AuthError for options of the wrong shape.
 */
export function bearerPlugin(options: BearerOptions): Plugin<BearerApi> {
  const resolved = resolveOptions(options)
  return {
    name: 'bearer',
    requires: ['records', 'store:getUser', 'pages', ...(resolved.format === 'jwt' ? (['accessTokens'] as const) : [])],
    setup(kernel) {
      kernel.records('appSession', appSessionTable)
      kernel.records('appCode', appCodeTable)
      kernel.declareEvent('appSignedIn', 'appTokensRefreshed', 'appTokenReused', 'appSessionEnded')
      kernel.declareHook('appSession', 'guard')
      kernel.messages(messages)
      kernel.provide('appTokens', appTokens(resolved))
      // Also what is no token of ours: a broken or foreign one must not lead to the cookie.
      kernel.credential((headers) => /^(?:Bearer|DPoP) +(.*)$/is.exec(headers.get('authorization') ?? '')?.[1])
      kernel.hook('authenticate', ({ ctx }) => authenticate(ctx, resolved))
      kernel.decorate('session', (inner) => withApps(inner, resolved))
      addEndings(kernel)
      kernel.decorate('accessTokens', ({ issuer }) => {
        // RFC 9068 section 4: whoever verifies a token compares its `iss` with the issuer of the metadata.
        if (resolved.format === 'jwt' && issuer !== resolved.issuer)
          throw new AuthError(
            `Plugin "bearer": its \`issuer\` is ${resolved.issuer ?? 'not set'}, and that of plugin "jwt" is ${issuer ?? 'not set'}. Give both the same one.`,
          )
        return {}
      })
      addConsent(kernel)
      addRoutes(kernel, resolved)
      tellResourceServers(kernel, resolved)
      return { bearer: api(kernel, resolved) }
    },
  }
}

function api(kernel: Kernel, options: ResolvedOptions): BearerApi['bearer'] {
  return {
    async list(who) {
      const { ctx, userId } = await find(kernel, who)
      return userId === undefined ? [] : listApps(ctx, options, userId)
    },
    async revoke(who, id) {
      const { ctx, userId } = await find(kernel, who)
      return userId !== undefined && typeof id === 'string' && (await revokeApps(ctx, { id, userId })) > 0
    },
    challenge: async (request, { scope } = {}) => challenge(await kernel.contextOf(request), options, scope),
  }
}

async function find(kernel: Kernel, who: AppsOf): Promise<{ ctx: AnyContext; userId: string | undefined }> {
  if (!(who instanceof Request)) {
    return { ctx: await kernel.contextOf(jobFor('bearer', who)), userId: who.userId }
  }
  // By the session of a browser alone: an app manages no other app.
  const ctx = await kernel.contextOf(who)
  return { ctx, userId: (await ctx.session.user(ctx))?.id }
}

// The hooks belong to jwtPlugin, which may be absent: its types are not there then.
function tellResourceServers(kernel: Kernel, options: ResolvedOptions): void {
  kernel.hook(
    'introspect',
    async ({ token, audiences, ctx }: Question) => {
      const aud = options.audience ?? (ctx.request ? issuerOf(ctx, options) : '')
      const live = token.startsWith('at.') && audiences.includes(aud) ? await liveToken(ctx, options, token) : null
      const person = live && (await personOf(ctx, options, live.session))
      if (!live || !person) return undefined
      const scopes = await rightsOf(ctx, options, person, live.scopes)
      const { userId: sub, clientId: client_id, jkt } = live.session
      const bound = jkt === null ? {} : { token_type: 'DPoP', cnf: { jkt } }
      return { sub, client_id, aud, exp: live.end, ...(scopes.length > 0 && { scope: scopes.join(' ') }), ...bound }
    },
    { of: 'jwt' },
  )
  kernel.hook(
    'accessToken',
    async ({ claims, ctx }: { claims: Readonly<Record<string, unknown>>; ctx: AnyContext }) => {
      if (claims['ses'] === undefined) return true
      const live = await liveClaims(ctx, claims)
      return live !== null && (await personOf(ctx, options, live.session)) !== null
    },
    { of: 'jwt' },
  )
}

interface Question {
  token: string
  audiences: readonly string[]
  ctx: AnyContext
}
