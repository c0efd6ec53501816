/** `auth.tokens`: the API of the plugin. */
import { AccessDenied, type AnyContext, AuthError, type Context, jobFor, type Kernel, type TokenSet } from 'authkernel/kernel'
import { findOwnUser } from 'authkernel/kernel/users'
import { revokeSealed, sealedToken } from './cookie.ts'
import type { ResolvedOptions } from './options.ts'
import { validTokens } from './refresh.ts'
import { isReadable, newestRow, tokenRows } from './tables.ts'

/** Whose tokens: those of the user who is signed in on a request, or of a stored user, for jobs. `tenant` where there are several. */
export type TokensOf = Request | { userId: string; tenant?: string | null }

/** An access token. */
export interface ProviderToken {
  accessToken: string
  /** Seconds since the epoch; undefined: the provider did not say. */
  expiresAt: number | undefined
  scope: string | undefined
  tokenType: string
}
/** How a token is asked for. */
export interface ProviderTokenOptions {
  /** Of your response: with tokens in a cookie, `Set-Cookie` is added when they change. Not needed with records. */
  headers?: Headers | undefined
  /** Seconds that it must be good for; default: the option of the plugin. */
  minValid?: number | undefined
}

/** What the plugin puts on `auth`. It checks whose tokens are asked for, not who asks: call it behind your own routes, with the request. */
export interface ProviderTokensApi {
  tokens: {
    /** Null: signed out, or the user has no account at this provider. Throws TokensExpired and TokensBusy. */
    get(who: TokensOf, provider: string, wanted?: ProviderTokenOptions): Promise<ProviderToken | null>
    /** Ends the tokens at the provider (RFC 7009) and forgets them. False: there were none. */
    revoke(who: TokensOf, provider: string, wanted?: Pick<ProviderTokenOptions, 'headers'>): Promise<boolean>
    /** `fetch` with the access token, for origins in `resources` of the provider. Follows no redirect. Throws like `get`. */
    fetch(who: TokensOf, provider: string, url: string | URL, init?: RequestInit, wanted?: ProviderTokenOptions): Promise<Response>
  }
}

/** `where.cookie`: tokens are in a cookie, not in records. */
export function createApi(kernel: Kernel, options: ResolvedOptions, where: { readonly cookie: boolean }): ProviderTokensApi['tokens'] {
  async function setOf(
    who: TokensOf,
    provider: string,
    { minValid = options.minValid, headers }: ProviderTokenOptions = {},
  ): Promise<{ ctx: AnyContext; set: TokenSet | null }> {
    const { ctx, userId } = await findUser(kernel, who)
    if (where.cookie) {
      const own = browserOf(ctx)
      const writable = headers !== undefined
      try {
        return { ctx, set: await sealedToken(own, provider, { minValid, writable, options }) }
      } finally {
        carryCookies(kernel, own, headers)
      }
    }
    return { ctx, set: userId === undefined ? null : await validTokens(ctx, { userId, provider, minValid, options }) }
  }
  return {
    async get(who, provider, wanted) {
      const { set } = await setOf(who, provider, wanted)
      return set && toProviderToken(set)
    },
    async revoke(who, provider, { headers } = {}) {
      const { ctx, userId } = await findUser(kernel, who)
      if (where.cookie) {
        const own = browserOf(ctx)
        const done = await revokeSealed(own, provider, headers !== undefined)
        carryCookies(kernel, own, headers)
        return done
      }
      const row = userId === undefined ? null : await newestRow(ctx, userId, provider)
      // Forgotten first: what cannot be ended at the provider is at least not used again here.
      if (!row || !(await tokenRows(ctx).take(row.id))) return false
      const { refresh_token: refresh, access_token: access } = isReadable(row) ? row.tokens : {}
      if (refresh !== undefined) await ctx.service('oauth').revoke(ctx, provider, refresh, 'refresh_token')
      if (access !== undefined) await ctx.service('oauth').revoke(ctx, provider, access, 'access_token')
      await ctx.emit('noted', { name: 'tokens.revoked', outcome: 'success', user: { id: row.userId }, provider })
      return true
    },
    async fetch(who, provider, url, init = {}, wanted = {}) {
      const target = URL.canParse(url) ? new URL(url) : undefined
      if (!target || !options.of(provider).resources?.includes(target.origin))
        throw new AuthError(
          `tokens.fetch: ${target?.origin ?? 'what is no URL'} is not in \`providers.${provider}.resources\` of providerTokensPlugin, so it gets no token.`,
        )
      const { ctx, set } = await setOf(who, provider, wanted)
      if (!set) throw new AccessDenied(`tokens.fetch: no user is signed in with an account at provider "${provider}".`)
      return ctx.service('oauth').fetch(ctx, provider, set, target, init)
    },
  }
}

/** Tokens in a cookie are those of a browser. */
function browserOf(ctx: AnyContext): Context {
  if (ctx.request) return ctx
  throw new AuthError(
    'tokens: without the service "records" tokens are in the cookie of a browser, and a job has none. Give the request, or use `recordsPlugin`.',
  )
}

function carryCookies(kernel: Kernel, ctx: Context, headers: Headers | undefined): void {
  if (headers) for (const line of kernel.answer(ctx, new Response()).headers.getSetCookie()) headers.append('set-cookie', line)
}

/** Whose tokens; no user id: signed out. A key, or an actor who acts as another user, gets none. */
async function findUser(kernel: Kernel, who: TokensOf): Promise<{ ctx: AnyContext; userId: string | undefined }> {
  if (!(who instanceof Request)) {
    return { ctx: await kernel.contextOf(jobFor('provider-tokens', who)), userId: who.userId }
  }
  const ctx = await kernel.contextOf(who)
  return { ctx, userId: (await findOwnUser(ctx, 'tokens'))?.id }
}

function toProviderToken({
  access_token: accessToken,
  expires_at: expiresAt,
  scope,
  token_type: tokenType = 'bearer',
}: TokenSet): ProviderToken {
  return { accessToken: accessToken as string, expiresAt, scope, tokenType }
}
