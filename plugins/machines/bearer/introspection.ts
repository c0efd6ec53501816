/** What resource servers learn of access tokens, where jwtPlugin answers them. */
import type { AnyContext, Kernel } from 'authkernel/kernel'
import { readOwner, scopesOf } from './app-sessions.ts'
import { liveClaims, liveToken } from './authenticate.ts'
import { issuerOf, type ResolvedOptions } from './options.ts'

// Written here, because the types of a plugin that is absent are absent too.
interface IntrospectionQuestion {
  token: string
  audiences: readonly string[]
  ctx: AnyContext
}
interface IssuedToken {
  claims: Readonly<Record<string, unknown>>
  ctx: AnyContext
}

/** Adds handlers of hooks of jwtPlugin, which may be absent. */
export function addIntrospection(kernel: Kernel, options: ResolvedOptions): void {
  kernel.hook(
    'introspect',
    async ({ token, audiences, ctx }: IntrospectionQuestion) => {
      const aud = options.audience ?? (ctx.request ? issuerOf(ctx, options) : '')
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
    async ({ claims, ctx }: IssuedToken) => {
      if (claims['ses'] === undefined) return true
      const live = await liveClaims(ctx, claims)
      return live !== null && (await readOwner(ctx, options, live.session)) !== null
    },
    { of: 'jwt' },
  )
}
