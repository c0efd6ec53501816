/** Mobile and desktop apps: sign-in through the browser of the device, then an access token and a refresh token that rotates. No cookies. */
import { type AnyContext, type AppClient, AuthError, type Guard, type Plugin, type SessionPart, type User } from 'authkernel/kernel'
import { authenticateToken } from './authenticate.ts'
import { createAppTokens } from './grants.ts'
import { addIntrospection } from './introspection.ts'
import { messages } from './messages.ts'
import { type BearerApi, createApi } from './methods.ts'
import { type BearerOptions, resolveOptions, type ResolvedOptions } from './options.ts'
import { addPages } from './pages.ts'
import { addReturnPage } from './return-page.ts'
import { addRoutes } from './routes.ts'
import { addEndings, withApps } from './session-list.ts'
import { appCodeTable, appSessionTable } from './tables.ts'

export type { AppsOf, BearerApi } from './methods.ts'
export type { AccessTokenOptions, AppOptions, BearerOptions, RightQuestion } from './options.ts'
export type { AppCodeRow, AppSessionRow } from './tables.ts'

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
  interface PluginSessionFields {
    bearer: 'bearer'
  }
}
/** Which app session an event is about. */
export interface AppSessionEvent {
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
    appSignedIn: AppSessionEvent & { by: string }
    /** It got the next ones. */
    appTokensRefreshed: AppSessionEvent
    /** A refresh token came back that was used before, or by another app: it was copied. The app session has ended. */
    appTokenReused: AppSessionEvent
    /** `by`: `app`, `revoked`, or `code` for a code that came twice. */
    appSessionEnded: AppSessionEvent & { by: string }
  }
}

/**
 * Adds the endpoints for apps, and the session of requests that carry an access token. A request with one is never signed in by its cookie.
 * Throws AuthError for options of the wrong shape.
 */
export function bearerPlugin(options: BearerOptions): Plugin<BearerApi & SessionPart<'bearer'>> {
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
      kernel.provide('appTokens', createAppTokens(resolved))
      // Also what is no token of ours: a broken or foreign one must not lead to the cookie.
      kernel.credential((headers) => /^(?:Bearer|DPoP) +(.*)$/is.exec(headers.get('authorization') ?? '')?.[1])
      kernel.hook('authenticate', ({ ctx }) => authenticateToken(ctx, resolved))
      kernel.decorate('session', (inner) => withApps(inner, resolved))
      addEndings(kernel)
      kernel.decorate('accessTokens', ({ issuer }) => {
        assertSameIssuer(resolved, issuer)
        return {}
      })
      addPages(kernel)
      addReturnPage(kernel, 'appReturn', 'bearer')
      addRoutes(kernel, resolved)
      addIntrospection(kernel, resolved)
      return { bearer: createApi(kernel, resolved) }
    },
  }
}

// RFC 9068 section 4: a resource server compares `iss` of a token with the issuer of the metadata.
function assertSameIssuer({ format, issuer }: ResolvedOptions, ofJwt: string | undefined): void {
  if (format !== 'jwt' || ofJwt === issuer) return
  throw new AuthError(
    `Plugin "bearer": its \`issuer\` is ${issuer ?? 'not set'}, and that of plugin "jwt" is ${ofJwt ?? 'not set'}. Give both the same one.`,
  )
}
