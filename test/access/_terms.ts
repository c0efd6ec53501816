/** A plugin that parks a login, as terms of use would: one more click before the session. */
import type { Login, Plugin } from 'authkernel/kernel'

/** `POST /terms` completes the login that waits. `parks` says which logins wait. */
export function termsPlugin(parks: (login: Login) => boolean): Plugin {
  return {
    name: 'terms',
    setup(kernel) {
      kernel.hook('login', ({ login, ctx }) => (parks(login as Login) ? ctx.park(login, { to: '/terms' }) : undefined))
      kernel.route({
        method: 'POST',
        path: '/terms',
        handler: async (ctx) => {
          const parked = await ctx.parked()
          return parked ? ctx.resume(parked) : ctx.page('signIn')
        },
      })
    },
  }
}
