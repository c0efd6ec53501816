/** Access tokens of the provider that somebody signed in with, kept fresh on the server. */
import {
  AccessDenied,
  type AnyContext,
  AuthError,
  type Context,
  jobFor,
  type Kernel,
  type Plugin,
  type SessionSelector,
  type TokenSet,
} from 'authkernel/kernel'
import { checkSealed, revokeSealed, sealedScopes, sealedToken, sealTokens, tokenCookie } from './cookie.ts'
import { dropTokens, grantedScopes, keepTokens } from './keep.ts'
import { checkEnds, checkProviders, type ProviderTokensOptions, type Resolved, resolveOptions } from './options.ts'
import { validTokens } from './refresh.ts'
import { isReadable, newest, rows, table } from './table.ts'

export { TokensBusy, TokensExpired, TokensNotWritable } from './errors.ts'
export type { ProviderTokensOptions, TokensOfProvider } from './options.ts'
export type { ProviderTokenRow } from './table.ts'

declare module 'authkernel/kernel' {
  interface Events {
    /** A fresh set is stored. `expiresAt` in seconds since the epoch. */
    tokensRefreshed: { userId: string; provider: string; expiresAt: number | undefined }
    /** The person has to sign in at the provider again. */
    tokensExpired: { userId: string; provider: string; reason: string }
  }
}

/** Whose tokens: those of the person who is signed in on a request, or of a stored user, for jobs. `tenant` where there are several. */
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
export interface TokenWanted {
  /** Of your response: with tokens in a cookie, `Set-Cookie` is added when they change. Not needed with records. */
  headers?: Headers | undefined
  /** Seconds that it must be good for; default: the option of the plugin. */
  minValid?: number | undefined
}

/** What the plugin puts on `auth`. It checks whose tokens are asked for, not who asks: call it behind your own routes, with the request. */
export interface ProviderTokensApi {
  tokens: {
    /** Null: nobody is signed in, or the person has no account at this provider. Throws TokensExpired and TokensBusy. */
    get(who: TokensOf, provider: string, wanted?: TokenWanted): Promise<ProviderToken | null>
    /** Ends the tokens at the provider (RFC 7009) and forgets them. False: there were none. */
    revoke(who: TokensOf, provider: string, wanted?: Pick<TokenWanted, 'headers'>): Promise<boolean>
    /** `fetch` with the access token, for origins in `resources` of the provider. Follows no redirect. Throws like `get`. */
    fetch(who: TokensOf, provider: string, url: string | URL, init?: RequestInit, wanted?: TokenWanted): Promise<Response>
  }
}

/** Keeps the tokens of each sign-in with an oauth or oidc provider. Throws AuthError for options of the wrong shape. */
export function providerTokensPlugin(options: ProviderTokensOptions = {}): Plugin<ProviderTokensApi> {
  const resolved = resolveOptions(options)
  return {
    name: 'provider-tokens',
    requires: ['oauth'],
    setup(kernel) {
      const where = { cookie: false }
      kernel.declareEvent('tokensRefreshed', 'tokensExpired')
      kernel.cookie(tokenCookie)
      kernel.records('providerToken', table, { optional: true })
      kernel.decorate('oauth', (_inner, view) => {
        checkProviders(options, resolved, view)
        where.cookie = !view.records.has('providerToken')
        if (where.cookie) checkSealed(resolved, view)
        else checkEnds(resolved, view)
        return {}
      })
      kernel.on('signedIn', ({ login, session, ctx }) => {
        if (!ctx.request) return undefined
        return where.cookie ? sealTokens(ctx, login) : keepTokens(ctx, login, session?.attributes, resolved)
      })
      // A logout token has done its work only when the tokens are gone too: what fails here is sent again.
      kernel.decorate('session', (inner) => ({
        ...(inner.revoke && {
          async revoke(ctx, which) {
            const count = await inner.revoke?.(ctx, which)
            if (!where.cookie && endsAtProvider(which)) await dropTokens(ctx, which)
            return count
          },
        }),
      }))
      kernel.onAccessEnd('token', async (ctx, { which, reason }) => {
        if (where.cookie || !('userId' in which) || (reason !== 'ban' && reason !== 'deletion')) return 0
        return rows(ctx).deleteWhere({ where: { userId: which.userId } })
      })
      kernel.on('sessionsEnded', ({ which, by, ctx }) =>
        by === 'single-logout' && !where.cookie && !endsAtProvider(which) ? dropTokens(ctx, which) : undefined,
      )
      kernel.on('signOut', ({ ctx }) => (where.cookie && ctx.request ? tokenCookie.delete(ctx) : undefined))
      kernel.on('unlinkAccount', async ({ userId, account: { provider, providerAccountId }, ctx }) => {
        if (where.cookie) return
        const row = await rows(ctx).get({ userId, provider, account: providerAccountId })
        if (row) await rows(ctx).delete(row.id)
      })
      kernel.hook('authorizationRequest', async ({ provider, parameters, ctx }) => {
        const granted = await (where.cookie ? sealedScopes : grantedScopes)(ctx, provider.id)
        if (granted.length === 0) return undefined
        const asked = (parameters.get('scope') ?? '').split(' ').filter(Boolean)
        parameters.set('scope', [...new Set([...granted, ...asked])].join(' '))
        return parameters
      })
      return { tokens: tokens(kernel, resolved, where) }
    },
  }
}

function tokens(kernel: Kernel, options: Resolved, where: { readonly cookie: boolean }): ProviderTokensApi['tokens'] {
  async function setOf(
    who: TokensOf,
    provider: string,
    { minValid = options.minValid, headers }: TokenWanted = {},
  ): Promise<{ ctx: AnyContext; set: TokenSet | null }> {
    const { ctx, userId } = await find(kernel, who)
    if (where.cookie) {
      const own = browserOf(ctx)
      const writable = headers !== undefined
      try {
        return { ctx, set: await sealedToken(own, provider, { minValid, writable, options }) }
      } finally {
        carry(kernel, own, headers)
      }
    }
    return { ctx, set: userId === undefined ? null : await validTokens(ctx, { userId, provider, minValid, options }) }
  }
  return {
    async get(who, provider, wanted) {
      const { set } = await setOf(who, provider, wanted)
      return set && shown(set)
    },
    async revoke(who, provider, { headers } = {}) {
      const { ctx, userId } = await find(kernel, who)
      if (where.cookie) {
        const own = browserOf(ctx)
        const done = await revokeSealed(own, provider, headers !== undefined)
        carry(kernel, own, headers)
        return done
      }
      const row = userId === undefined ? null : await newest(ctx, userId, provider)
      // Forgotten first: what cannot be ended at the provider is at least not used again here.
      if (!row || !(await rows(ctx).take(row.id))) return false
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
      if (!set) throw new AccessDenied(`tokens.fetch: nobody is signed in with an account at provider "${provider}".`)
      return ctx.service('oauth').fetch(ctx, provider, set, target, init)
    },
  }
}

/** Of a logout token: `brief` is what its plugin asks for. */
function endsAtProvider(which: SessionSelector): boolean {
  return 'provider' in which && which.brief === true
}

/** Tokens in a cookie are those of a browser. */
function browserOf(ctx: AnyContext): Context {
  if (ctx.request) return ctx
  throw new AuthError(
    'tokens: without the service "records" tokens are in the cookie of a browser, and a job has none. Give the request, or use `recordsPlugin`.',
  )
}

function carry(kernel: Kernel, ctx: Context, headers: Headers | undefined): void {
  if (headers) for (const line of kernel.answer(ctx, new Response()).headers.getSetCookie()) headers.append('set-cookie', line)
}

/** Whose tokens; no user id: nobody's. A key, or somebody who acts for another person, gets none. */
async function find(kernel: Kernel, who: TokensOf): Promise<{ ctx: AnyContext; userId: string | undefined }> {
  if (!(who instanceof Request)) {
    return { ctx: await kernel.contextOf(jobFor('provider-tokens', who)), userId: who.userId }
  }
  const ctx = await kernel.contextOf(who)
  const session = await ctx.currentSession()
  if (session && ('apiKey' in session || 'bearer' in session || 'actor' in session))
    throw new AccessDenied(
      'tokens: provider tokens are for the person alone, not for an API key, an app or somebody who acts for the person.',
    )
  return { ctx, userId: session ? (await ctx.session.user(ctx))?.id : undefined }
}

function shown({ access_token: accessToken, expires_at: expiresAt, scope, token_type: tokenType = 'bearer' }: TokenSet): ProviderToken {
  return { accessToken: accessToken as string, expiresAt, scope, tokenType }
}
