/** Access tokens of the provider that a user signed in with, kept fresh on the server. */
import type { Plugin, SessionSelector } from 'authkernel/kernel'
import { checkSealed, sealedScopes, sealTokens, tokenCookie } from './cookie.ts'
import { createApi, type ProviderTokensApi } from './methods.ts'
import { checkEnds, checkProviders, type ProviderTokensOptions, resolveOptions } from './options.ts'
import { dropTokens, grantedScopes, keepTokens } from './stored-tokens.ts'
import { providerTokenTable, tokenRows } from './tables.ts'

export { TokensBusy, TokensExpired, TokensNotWritable } from './errors.ts'
export type { ProviderTokensOptions, TokensOfProvider } from './options.ts'
export type { ProviderToken, ProviderTokensApi, TokensOf, ProviderTokenOptions } from './methods.ts'
export type { ProviderTokenRow } from './tables.ts'

declare module 'authkernel/kernel' {
  interface Events {
    /** A fresh set is stored. `expiresAt` in seconds since the epoch. */
    tokensRefreshed: { userId: string; provider: string; expiresAt: number | undefined }
    /** The user has to sign in at the provider again. */
    tokensExpired: { userId: string; provider: string; reason: string }
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
      kernel.records('providerToken', providerTokenTable, { optional: true })
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
        if (where.cookie) return 0
        // The account is gone at the provider: what was granted for the time after the session ends as well.
        // The grants of the user stay: a membership is none of the provider's.
        if ('member' in which) return 0
        if (!('userId' in which)) return reason === 'accountDisabled' ? dropTokens(ctx, which, { lasting: true }) : 0
        if (!['ban', 'deletion', 'directory'].includes(reason)) return 0
        return tokenRows(ctx).deleteWhere({ where: { userId: which.userId } })
      })
      kernel.on('sessionsEnded', ({ which, by, ctx }) =>
        by === 'single-logout' && !where.cookie && !endsAtProvider(which) ? dropTokens(ctx, which) : undefined,
      )
      kernel.on('signOut', ({ ctx }) => (where.cookie && ctx.request ? tokenCookie.delete(ctx) : undefined))
      kernel.on('unlinkAccount', async ({ userId, account: { provider, providerAccountId }, ctx }) => {
        if (where.cookie) return
        const row = await tokenRows(ctx).get({ userId, provider, account: providerAccountId })
        if (row) await tokenRows(ctx).delete(row.id)
      })
      kernel.hook('authorizationRequest', async ({ provider, parameters, ctx }) => {
        const granted = await (where.cookie ? sealedScopes : grantedScopes)(ctx, provider.id)
        if (granted.length === 0) return undefined
        const asked = (parameters.get('scope') ?? '').split(' ').filter(Boolean)
        parameters.set('scope', [...new Set([...granted, ...asked])].join(' '))
        return parameters
      })
      return { tokens: createApi(kernel, resolved, where) }
    },
  }
}

/** Of a logout token: `brief` is what its plugin asks for. */
function endsAtProvider(which: SessionSelector): boolean {
  return 'provider' in which && which.brief === true
}
