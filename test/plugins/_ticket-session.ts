/** Sessions as tickets in a map: a session strategy as a plugin author may write one. docs/writing-a-session-strategy.md shows this file. */
import {
  type Context,
  marksHold,
  type Plugin,
  randomUUID,
  type SessionAttributes,
  type SessionStrategy,
  type User,
} from 'authkernel/kernel'

declare module 'authkernel/kernel' {
  interface SessionStrategies {
    tickets: SessionStrategy
  }
}

interface Ticket {
  id: string
  user: User
  attributes: SessionAttributes
  until: number
}

export function ticketSessionPlugin({ maxAge = 3600 }: { maxAge?: number } = {}): Plugin {
  return {
    name: 'session-tickets',
    setup(kernel) {
      // By the number in the cookie, which opens a session; its id only names it.
      const tickets = new Map<string, Ticket>()
      const numberOf = (ctx: Context): string => ctx.cookie(ctx.cookies.sessionToken.name) ?? ''
      const find = (ctx: Context): Ticket | undefined => {
        const ticket = tickets.get(numberOf(ctx))
        // A session of a kind whose plugin is gone does not count, nor one past its fixed end.
        return ticket && ticket.until > ctx.now.getTime() && marksHold(ctx, ticket.attributes) ? ticket : undefined
      }

      kernel.sessionStrategy('tickets', () => ({
        abilities: new Set(['attributes', 'kinds', 'list', 'revoke:id', 'revoke:user']),
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
        id: (ctx) => find(ctx)?.id ?? null,
        attributes: (ctx) => find(ctx)?.attributes ?? null,
        kinds: (ctx) => find(ctx)?.attributes.kinds ?? [],
        async issue(ctx, { user, session }, attributes, before) {
          const { name, options } = ctx.cookies.sessionToken
          const former = find(ctx)
          // A signed-in person links one more account: the session stays.
          if (session === 'keep' && former) return { id: former.id }
          if (session === 'renew' && former?.user.id !== user.id) throw new Error('the session to renew has ended')
          const [number, id] = [randomUUID(ctx.runtime), randomUUID(ctx.runtime)]
          // Rows of plugins that guard the session are there before it.
          await before?.(id)
          // Never reuse the value that the browser sent: an attacker may have set it.
          tickets.delete(numberOf(ctx))
          tickets.set(number, { id, user, attributes, until: ctx.now.getTime() + maxAge * 1000 })
          ctx.setCookie(name, number, { ...options, maxAge })
          return { id }
        },
        update: () => null,
        end(ctx) {
          const { name, options } = ctx.cookies.sessionToken
          const ticket = find(ctx)
          tickets.delete(numberOf(ctx))
          ctx.deleteCookie(name, options)
          return ticket ? { sessionId: ticket.id, userId: ticket.user.id ?? '' } : null
        },
        list: (ctx, userId) =>
          [...tickets.values()]
            .filter(({ user, until }) => user.id === userId && until > ctx.now.getTime())
            .map(({ id, attributes, until }) => {
              return { id, userId, expires: new Date(until), createdAt: new Date(attributes.started), lastUsed: null, attributes }
            }),
        revoke(_ctx, which) {
          let count = 0
          for (const [number, { id, user }] of tickets) {
            const named = 'id' in which ? id === which.id : 'userId' in which && user.id === which.userId && id !== which.except
            if (named && tickets.delete(number)) count++
          }
          return count
        },
      }))
    },
  }
}
