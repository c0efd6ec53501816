/** Sign-out at the provider, and sign-outs that the provider tells: RP-Initiated, Back-Channel and Front-Channel Logout 1.0 of OpenID Connect. */
import { type Plugin, redirectTo } from 'authkernel/kernel'
import { createHints, hintCookie, hintTable, type Hints } from './hints.ts'
import { leave, posted, returned, returns, withHints } from './leave.ts'
import { checkProviders, resolveOptions, type SingleLogoutOptions } from './options.ts'
import { backChannel, frontChannel, refusal, tokenTable } from './receive.ts'
import { texts } from './texts.ts'

export { LogoutRefused } from './errors.ts'
export type { LogoutHintRow } from './hints.ts'
export type { LogoutOfProvider, SingleLogoutOptions } from './options.ts'
export type { LogoutTokenRow } from './receive.ts'

declare module 'authkernel/kernel' {
  interface Events {
    /** A provider ended the session `sid` there, or without one all sessions of `sub`. Told once for each logout, whether there were sessions or not. */
    providerLogout: { provider: string; sub: string | undefined; sid: string | undefined; channel: 'back' | 'front' }
  }
}

// BCL section 2.5: a token is small.
const maxBytes = 65_536

/** Throws AuthError for options of the wrong shape. Refused at compile: `backChannel` where sessions cannot be ended from elsewhere. */
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
      kernel.messages(texts)
      kernel.decorate('oauth', (_inner, view) => (checkProviders(options, view), {}))
      kernel.decorate('session', (inner, view) => {
        hints = createHints(view.records.has('logoutHint') ? undefined : cookie)
        return withHints(inner, hints)
      })
      kernel.hook('signOut', ({ ctx }) => leave(ctx, hints, resolved))
      kernel.route({
        method: 'GET',
        path: '/signed-out',
        handler: async (ctx) => redirectTo(await returned(ctx, ctx.url.searchParams.get('state') ?? '')),
      })
      kernel.page(
        'singleLogout',
        async (ctx, { html, say }, { state = '' }) => {
          const request = await posted(ctx, hints, resolved, state)
          if (!request) return redirectTo(`${ctx.origin}/`)
          const { endpoint, parameters } = request
          const fields = Object.entries(parameters).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)
          const button = html`<button type="submit">${say('single-logout.continue')}</button>`
          return {
            title: say('single-logout.title'),
            lead: say('single-logout.lead'),
            body: html`<form id="single-logout" method="post" action="${endpoint}">${fields}${button}</form>`,
            scripts: ["document.getElementById('single-logout').submit()"],
            forms: [new URL(endpoint).origin],
          }
        },
        { path: '/signing-out' },
      )
      if (resolved.receives) {
        kernel.records('logoutToken', tokenTable)
        kernel.route({
          method: 'POST',
          path: '/backchannel-logout/:provider',
          csrf: 'bearer',
          body: { bytes: maxBytes },
          handler: (ctx) => backChannel(ctx, resolved),
          failure: (_ctx, error) => refusal(error),
        })
      }
      if (resolved.frames)
        kernel.route({
          method: 'GET',
          path: '/frontchannel-logout/:provider',
          handler: (ctx) => frontChannel(ctx, resolved),
          failure: (_ctx, error) => refusal(error),
        })
    },
  }
}
