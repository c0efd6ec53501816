/** Marks on the sign-in page the method that this browser used last. */
import { assertOptions, AuthError, createCookie, type HookHandler, type Plugin } from 'authkernel/kernel'
import { messages } from './messages.ts'

/** What `lastUsedPlugin` takes. */
export interface LastUsedOptions {
  /** Days that the browser remembers the method; default 365, at most 400 (RFC 6265bis section 5.5). */
  days?: number | undefined
}

/**
 * Marks the sign-in method that this browser used last. The cookie contains the id of the provider, and nothing about the user. It stays after a sign-out.
 * Throws AuthError for options of the wrong shape.
 */
export function lastUsedPlugin(options: LastUsedOptions = {}): Plugin {
  assertOptions('Plugin "last-used"', options, { days: true })
  const { days = 365 } = options
  if (!(days > 0 && days <= 400)) throw new AuthError('Plugin "last-used": `days` must be a number above 0 and at most 400.')
  const cookie = createCookie('last-used', { path: 'base', maxAge: days * 86_400 })
  return {
    name: 'last-used',
    requires: ['pages'],
    setup(kernel) {
      kernel.cookie(cookie)
      kernel.messages(messages)
      const remember: HookHandler<'login'> = ({ login, ctx }) => {
        cookie.set(ctx, login.account.provider)
        return undefined
      }
      // After all other steps: a sign-in that ends at the second factor is none.
      kernel.hook('login', remember, { last: true })
      kernel.slot('signIn', 'form', async (ctx, { html, say }, form) => {
        if (form === undefined || cookie.get(ctx) !== form || (await ctx.providers()).length < 2) return undefined
        return { html: html`<p class="hint">${say('last-used.label')}</p>` }
      })
    },
  }
}
