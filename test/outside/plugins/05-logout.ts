/** OpenID Connect Back-Channel Logout 1.0 (the provider ends our sessions) and RP-Initiated Logout 1.0 (we end the provider's). */
import { AuthError, type Context, json, type Plugin, redirectTo, withParams } from 'authkernel/kernel'

declare module 'authkernel/kernel' {
  interface Events {
    backChannelLogout: { provider: string; sub: string | undefined; sid: string | undefined; sessions: number | undefined }
  }
}
class LogoutTokenError extends AuthError {
  static override type = 'LogoutTokenError'
}
const EVENT = 'http://schemas.openid.net/event/backchannel-logout'
const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

export function oidcLogoutPlugin(): Plugin {
  return {
    name: 'oidc-logout',
    requires: ['oauth', 'once', 'session:revoke:attribute', 'session:attributes'],
    setup(kernel) {
      const hint = kernel.cookie('oidc-logout', { chunked: true, path: 'base' })

      kernel.route({
        method: 'POST',
        path: '/oidc-logout/:provider',
        // The provider's server has no cookie of ours; the signature of the token takes the place of the CSRF token.
        csrf: 'bearer',
        async handler(ctx) {
          const { id } = await ctx.provider()
          const { sub, sid } = await checked(ctx, id, (await ctx.body())['logout_token'])
          const until = ctx.now.getTime()
          const which = sid === undefined ? { provider: id, sub: sub ?? '', until } : { provider: id, sid, until }
          const sessions = (await ctx.session.revoke?.(ctx, which)) ?? undefined
          await ctx.emit('backChannelLogout', { provider: id, sub, sid, sessions })
          return json({}, 200, { 'cache-control': 'no-store' })
        },
        failure: (_ctx, error) => json({ error: 'invalid_request', error_description: error.type }, 400, { 'cache-control': 'no-store' }),
      })

      // The ID token is what the provider wants to see at the end. It stays in the browser, sealed.
      kernel.on('signedIn', async ({ login: { account }, ctx }) => {
        if (account.type !== 'oidc' || account.id_token === undefined || !ctx.request) return
        hint.set(ctx, await hint.seal(ctx, { provider: account.provider, token: account.id_token }, 30 * 86_400))
      })
      kernel.hook('signOut', async ({ ctx }) => {
        const kept = await hint.open<{ provider: string; token: string }>(ctx)
        hint.delete(ctx)
        if (!kept) return undefined
        // A user who signs out is signed out, also when the provider does not answer.
        const metadata = await ctx
          .service('oauth')
          .metadata(ctx, kept.provider)
          .catch(() => undefined)
        const end = text(metadata?.['end_session_endpoint'])
        if (end === undefined) return undefined
        return withParams(end, {
          id_token_hint: kept.token,
          post_logout_redirect_uri: `${ctx.base}/oidc-logout`,
          state: await ctx.seal('oidc-logout', { to: await ctx.callbackUrl() }, 600),
        })
      })
      kernel.route({
        method: 'GET',
        path: '/oidc-logout',
        async handler(ctx) {
          const state = await ctx.open<{ to: string }>('oidc-logout', ctx.url.searchParams.get('state') ?? '')
          // Sealed by us, after the `redirect` hook.
          return redirectTo(state?.to ?? `${ctx.origin}/`)
        },
      })
    },
  }
}

async function checked(ctx: Context, id: string, token: unknown): Promise<{ sub: string | undefined; sid: string | undefined }> {
  if (typeof token !== 'string') throw new LogoutTokenError('No logout_token.')
  const options = { typ: ['logout+jwt', 'JWT', undefined], claims: ['iat', 'jti', 'events'] }
  const { claims } = await ctx.service('oauth').verify(ctx, id, token, options)
  const { events, nonce, jti, iat } = claims
  const [sub, sid] = [text(claims['sub']), text(claims['sid'])]
  if (nonce !== undefined || typeof Object(events)[EVENT] !== 'object') throw new LogoutTokenError('Not a logout token.')
  if (Math.abs(ctx.now.getTime() / 1000 - Number(iat)) > 300) throw new LogoutTokenError('The logout token is too old.')
  if (sub === undefined && sid === undefined) throw new LogoutTokenError('A logout token names a sub or a sid.')
  if (!(await ctx.once.take(`logout token ${id} ${String(jti)}`, 600))) throw new LogoutTokenError('The logout token was used before.')
  return { sub, sid }
}
