/** Sessions as tickets in a map: a session strategy as anybody may write one. docs/writing-a-session-strategy.md shows this file. */
import { type Context, type Plugin, randomUUID, type User } from 'authkernel/kernel'

interface Ticket {
  user: User
  until: number
}

export function ticketSessionPlugin({ maxAge = 3600 }: { maxAge?: number } = {}): Plugin {
  return {
    name: 'session-tickets',
    setup(kernel) {
      const tickets = new Map<string, Ticket>()
      const numberOf = (ctx: Context): string => ctx.cookie(ctx.cookies.sessionToken.name) ?? ''
      const find = (ctx: Context): Ticket | undefined => {
        const ticket = tickets.get(numberOf(ctx))
        return ticket && ticket.until > ctx.now.getTime() ? ticket : undefined
      }

      kernel.provide('session', {
        async read(ctx) {
          const ticket = find(ctx)
          if (!ticket) return null
          const { name = null, email = null, image = null } = ticket.user
          const expires = new Date(ticket.until).toISOString()
          const session = await ctx.ask('session', { session: { user: { name, email, image }, expires } })
          if (session) await ctx.emit('session', { session })
          return session
        },
        user: (ctx) => find(ctx)?.user ?? null,
        issue(ctx, { user, session }) {
          const { name, options } = ctx.cookies.sessionToken
          const former = numberOf(ctx)
          // One more account of somebody who is signed in: the session goes on.
          if (session === 'keep' && find(ctx)) return { id: former }
          // Never the value that the browser came with: somebody else may have planted it.
          tickets.delete(former)
          const id = randomUUID(ctx.runtime)
          tickets.set(id, { user, until: ctx.now.getTime() + maxAge * 1000 })
          ctx.setCookie(name, id, { ...options, maxAge })
          return { id }
        },
        update: () => null,
        end(ctx) {
          const { name, options } = ctx.cookies.sessionToken
          const ticket = find(ctx)
          tickets.delete(numberOf(ctx))
          ctx.deleteCookie(name, options)
          return ticket ? { token: { name: ticket.user.name ?? null } } : null
        },
        revoke(_ctx, who) {
          for (const [id, { user }] of tickets) if ('id' in who ? id === who.id : user.id === who.userId) tickets.delete(id)
        },
      })
    },
  }
}
