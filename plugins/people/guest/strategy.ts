/**
 * The session strategy with guests: a session read says `guest`, and nothing else takes a guest for a user who is signed in. So a guest has no factor, key or
 * linked account, and a sign-in ends with the user that it finds. Every sign-in method ends in `issue`: there the guest is handed over.
 */
import { type Awaitable, type Context, type Row, type SessionAttributes, type SessionStrategy, type User } from 'authkernel/kernel'
import { reportUnguarded, withKind } from 'authkernel/kernel/strategies'
import { deleteGuest, idleEnd } from './guests.ts'
import type { ResolvedOptions } from './options.ts'
import { guestId, type GuestRow, kind, provider } from './tables.ts'

const day = 86_400_000

export function decorateSession(inner: SessionStrategy, { convert, idle }: ResolvedOptions): Partial<SessionStrategy> {
  /** Undefined: an ordinary session, or none. The session itself says that it is a guest's, also where its attributes were lost. */
  async function attributesOf(ctx: Context): Promise<SessionAttributes | null | undefined> {
    const attributes = (await inner.attributes?.(ctx)) ?? null
    return attributes?.provider === provider || (await inner.kinds?.(ctx))?.includes(kind) ? attributes : undefined
  }

  /** Undefined: an ordinary session, or none. Null: a guest who is gone. */
  async function guestOf(ctx: Context): Promise<Row<GuestRow> | null | undefined> {
    const attributes = await attributesOf(ctx)
    if (attributes === undefined) return undefined
    const row = attributes?.sub === undefined ? null : await ctx.records('guest').get(await guestId(attributes.sub))
    if (!row) reportUnguarded(ctx, kind, (await inner.id?.(ctx)) ?? '')
    return row && row.idleUntil > ctx.now ? row : null
  }

  /** For everything but a session read, a guest is signed out. */
  const hideGuest =
    <T>(ask: (ctx: Context) => Awaitable<T | null>): ((ctx: Context) => Promise<T | null>) =>
    async (ctx) =>
      (await attributesOf(ctx)) === undefined ? ask(ctx) : null

  async function showGuest(
    ctx: Context,
    ask: () => ReturnType<SessionStrategy['read']>,
  ): Promise<Awaited<ReturnType<SessionStrategy['read']>>> {
    const guest = await guestOf(ctx)
    if (guest === undefined) return ask()
    const session = guest && (await ask())
    if (!session) return null
    // Like the session itself: extended where cookies can be set, and at most once a day.
    const until = idleEnd(ctx, idle)
    if (ctx.canSetCookies && until.getTime() - guest.idleUntil.getTime() >= Math.min(day, idle * 500))
      await ctx.records('guest').update(guest.id, { idleUntil: until })
    return { ...session, guest: true }
  }

  async function handOver(ctx: Context, id: string, userId: string, user: User): Promise<void> {
    // One of several sign-ins gets what the guest has.
    if (!(await ctx.records('guest').take(id))) return
    const guest = (await ctx.store?.getUser(userId)) ?? { id: userId }
    try {
      await convert?.({ guest, user, ctx })
    } catch (error) {
      ctx.logger.error(error instanceof Error ? error : new Error(String(error)))
      return
    }
    await ctx.emit('guestConverted', { guest, user })
    // The sign-in is done: a plugin that keeps the user, or a store that fails, does not undo it.
    await deleteGuest(ctx, userId)
  }

  return {
    read: (ctx) => showGuest(ctx, () => inner.read(ctx)),
    update: (ctx, data) => showGuest(ctx, () => inner.update(ctx, data)),
    user: hideGuest((ctx) => inner.user(ctx)),
    ...(inner.subject && { subject: hideGuest((ctx) => inner.subject?.(ctx) ?? null) }),
    attributes: hideGuest((ctx) => inner.attributes?.(ctx) ?? null),
    async issue(ctx, login, attributes, before) {
      const guest = await guestOf(ctx)
      const begins = attributes.provider === provider
      const issued = await inner.issue(ctx, login, begins ? withKind(attributes, kind) : attributes, before)
      // The session of the guest has ended: now its record goes.
      if (guest && issued && !begins) await handOver(ctx, guest.id, guest.userId, login.user)
      return issued
    },
  }
}
