/** Support staff see the app as another user: laid over their own session, which stays as it is and is back the moment they stop. */
import {
  AccessDenied,
  type AdapterUser,
  type Awaitable,
  type Context,
  HttpError,
  type Plugin,
  redirectTo,
  type Session,
  subjectOf,
} from 'authkernel/kernel'

declare module 'authkernel' {
  interface Session {
    supporter?: { name: string | null; email: string | null }
  }
}
declare module 'authkernel/kernel' {
  interface Events {
    supportStarted: { admin: string; target: string }
    supportStopped: { admin: string; target: string }
  }
}
export interface SupportOptions {
  /** Asked at the start and at every read: who is no administrator any more sees their own session again. */
  may(admin: Session, target: AdapterUser): Awaitable<boolean>
  seconds?: number
}

export function supportPlugin({ may, seconds = 3600 }: SupportOptions): Plugin {
  return {
    name: 'support',
    requires: ['store:getUser'],
    setup(kernel) {
      const cookie = kernel.cookie('support', { maxAge: seconds })

      async function active(ctx: Context): Promise<{ admin: string; session: Session; target: AdapterUser } | undefined> {
        const open = await cookie.open<{ subject: string; admin: string; target: string }>(ctx)
        // Bound to the person who began it, not to the holder of the cookie.
        if (!open || (await subjectOf(ctx)) !== open.subject) return undefined
        const [session, target] = [await ctx.session.read(ctx), await ctx.store?.getUser(open.target)]
        return session && target && (await may(session, target)) ? { admin: open.admin, session, target } : undefined
      }

      kernel.hook('authenticate', async ({ ctx }): Promise<Session | undefined> => {
        const found = await active(ctx)
        if (!found) return undefined
        const { id, name, email, image = null } = found.target
        const { name: by = null, email: at = null } = found.session.user ?? {}
        const session = {
          user: { id, name: name ?? null, email, image },
          expires: found.session.expires,
          supporter: { name: by, email: at },
        }
        // What the host's handlers add to a session; the kernel does not ask them about an answer of `authenticate`.
        return (await ctx.ask('session', { session, user: found.target })) ?? undefined
      })

      kernel.route({
        method: 'POST',
        path: '/support/start',
        async handler(ctx) {
          const { userId } = await ctx.body()
          const [subject, session] = [await subjectOf(ctx), await ctx.session.read(ctx)]
          const target = typeof userId === 'string' ? await ctx.store?.getUser(userId) : null
          if (subject === null || !session || !target || !(await may(session, target))) throw new AccessDenied('support: not allowed.')
          const admin = (await ctx.session.user(ctx))?.id ?? subject
          cookie.set(ctx, await cookie.seal(ctx, { subject, admin, target: target.id }, seconds))
          await ctx.emit('supportStarted', { admin, target: target.id })
          return redirectTo(await ctx.callbackUrl())
        },
      })
      kernel.route({
        method: 'POST',
        path: '/support/stop',
        async handler(ctx) {
          const found = await active(ctx)
          cookie.delete(ctx)
          if (found) await ctx.emit('supportStopped', { admin: found.admin, target: found.target.id })
          return redirectTo(await ctx.callbackUrl())
        },
      })
      // Flows ask the strategy who is here, and that is the administrator: an account must not be linked to them by mistake.
      kernel.hook('request', async ({ ctx }) => {
        const writes = ctx.request.method !== 'GET' && !['/support/stop', '/signout'].includes(ctx.route?.path ?? '')
        if (!writes && ctx.route?.flow === undefined) return undefined
        if (cookie.get(ctx) === undefined || !(await active(ctx))) return undefined
        throw new HttpError(409, 'Stop acting as another user first: POST /support/stop.')
      })
      kernel.hook('signOut', ({ ctx }) => void cookie.delete(ctx))
    },
  }
}
