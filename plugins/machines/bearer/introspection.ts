/** What resource servers learn of access tokens, where jwtPlugin answers them. */
import type { Kernel } from 'authkernel/kernel'
import type {} from 'authkernel/plugins/jwt'
import { readOwner, scopesOf } from './app-sessions.ts'
import { liveClaims, liveToken } from './authenticate.ts'
import { bearerIssuer, type ResolvedOptions } from './options.ts'

/** Adds handlers of hooks of jwtPlugin, which may be absent. */
export function addIntrospection(kernel: Kernel, options: ResolvedOptions): void {
  kernel.hook(
    'introspect',
    async ({ token, audiences, ctx }) => {
      const aud = options.audience ?? (ctx.request ? bearerIssuer(ctx, options) : '')
      const live = token.startsWith('at.') && audiences.includes(aud) ? await liveToken(ctx, options, token) : null
      const owner = live && (await readOwner(ctx, options, live.session))
      if (!live || !owner) return undefined
      const scopes = await scopesOf(ctx, options, owner, live.scopes)
      const { userId: sub, clientId: client_id, jkt } = live.session
      const bound = jkt === null ? {} : { token_type: 'DPoP', cnf: { jkt } }
      return { sub, client_id, aud, exp: live.end, ...(scopes.length > 0 && { scope: scopes.join(' ') }), ...bound }
    },
    { of: 'jwt' },
  )
  kernel.hook(
    'accessToken',
    async ({ claims, ctx }) => {
      if (claims['ses'] === undefined) return true
      const live = await liveClaims(ctx, claims)
      return live !== null && (await readOwner(ctx, options, live.session)) !== null
    },
    { of: 'jwt' },
  )
}
