/** Sign-out at the provider, and sign-outs that the provider tells: RP-Initiated, Back-Channel and Front-Channel Logout 1.0 of OpenID Connect. */
import type { Plugin } from 'authkernel/kernel'
import { createHints, hintCookie, type Hints } from './hints.ts'
import { messages } from './messages.ts'
import { checkProviders, resolveOptions, type SingleLogoutOptions } from './options.ts'
import { addPage } from './pages.ts'
import { addRoutes } from './routes.ts'
import { leaveProvider, returns, withHints } from './sign-out.ts'
import { hintTable, logoutTokenTable } from './tables.ts'

export { LogoutRefused } from './errors.ts'
export type { LogoutOfProvider, SingleLogoutOptions } from './options.ts'
export type { LogoutHintRow, LogoutTokenRow } from './tables.ts'

declare module 'authkernel/kernel' {
  interface Events {
    /** A provider ended the session `sid` there, or without one all sessions of `sub`. Told once for each logout, whether there were sessions or not. */
    providerLogout: { provider: string; sub: string | undefined; sid: string | undefined; channel: 'back' | 'front' }
  }
}

/** Throws AuthError for options of the wrong shape. Rejected at compile: `backChannel` where sessions cannot be ended from elsewhere. */
export function singleLogoutPlugin(options: SingleLogoutOptions = {}): Plugin<void> {
  const resolved = resolveOptions(options)
  return {
    name: 'single-logout',
    requires: [
      'oauth',
      'session:attributes',
      ...(resolved.ends ? (['session:revoke:attribute'] as const) : []),
      ...(resolved.receives ? (['records'] as const) : []),
    ],
    setup(kernel) {
      let hints: Hints
      const cookie = kernel.cookie(hintCookie)
      kernel.declareEvent('providerLogout')
      kernel.pending(returns)
      kernel.records('logoutHint', hintTable, { optional: true })
      kernel.messages(messages)
      kernel.decorate('oauth', (_inner, view) => (checkProviders(options, view), {}))
      kernel.decorate('session', (inner, view) => {
        hints = createHints(view.records.has('logoutHint') ? undefined : cookie)
        return withHints(inner, hints)
      })
      kernel.hook('signOut', ({ ctx }) => leaveProvider(ctx, hints, resolved))
      addPage(kernel, () => hints, resolved)
      if (resolved.receives) kernel.records('logoutToken', logoutTokenTable)
      addRoutes(kernel, resolved)
    },
  }
}
