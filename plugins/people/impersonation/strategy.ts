/**
 * The session strategy with impersonations: a session read says who acts, and nothing else learns whose session it is. So factors, addresses, passkeys,
 * accounts, keys and tokens of the user are out of reach, in routes and APIs alike, and a sign-in links nothing.
 */
import {
  type AnyContext,
  type Awaitable,
  type Context,
  type Kernel,
  type Row,
  type Session,
  type SessionAttributes,
  type SessionStrategy,
  type User,
} from 'authkernel/kernel'
import { contextBehind, reportUnguarded } from 'authkernel/kernel/strategies'
import type { ImpersonationOptions } from './options.ts'
import { type ImpersonationRow, kind, provider, returnCookie, readReturnId } from './tables.ts'

/** An impersonation that goes on. */
interface Live {
  row: Row<ImpersonationRow>
  admin: User
}

// Contexts in which this plugin itself looks.
const own = new WeakSet<Context>()
// Contexts in which the session of the administrator comes back.
const returning = new WeakSet<Context>()
// Found before, so that `actingIn` need not wait.
const acting = new WeakMap<AnyContext, { userId: string; adminId: string }>()

/** Who acts as whom, as far as a session of this context was looked at. */
export function actingIn(ctx: AnyContext): { userId: string; adminId: string } | undefined {
  return acting.get(ctx)
}

export function decorateSession(kernel: Kernel, inner: SessionStrategy, can: ImpersonationOptions['can']): Partial<SessionStrategy> {
  const states = new WeakMap<Context, Promise<Live | null | undefined>>()
  /** Undefined: an ordinary session, or none. Null: an impersonation that has ended. */
  const stateOf = (ctx: Context): Promise<Live | null | undefined> => {
    const known = states.get(ctx) ?? find(ctx)
    states.set(ctx, known)
    return known
  }

  /** Undefined: an ordinary session, or none. The session itself says that it is none, also where its attributes were lost. */
  async function attributesOf(ctx: Context): Promise<SessionAttributes | null | undefined> {
    const attributes = (await inner.attributes?.(ctx)) ?? null
    return attributes?.provider === provider || (await inner.kinds?.(ctx))?.includes(kind) ? attributes : undefined
  }

  async function find(ctx: Context): Promise<Live | null | undefined> {
    const attributes = await attributesOf(ctx)
    if (attributes === undefined) return undefined
    const row = attributes?.sid === undefined ? null : await ctx.records('impersonation').get(attributes.sid)
    if (!row) reportUnguarded(ctx, kind, (await inner.id?.(ctx)) ?? '')
    if (!row || row.until <= ctx.now) return null
    // The own session of the administrator: whatever ends it ends this one.
    const admin = await inner.user(await contextBehind(kernel, ctx, row.cookies))
    const user = await ctx.store?.getUser(row.userId)
    if (!user || admin?.id !== row.adminId || (await can({ admin, user, ctx })) !== true) return null
    acting.set(ctx, { userId: row.userId, adminId: row.adminId })
    return { row, admin }
  }

  /** For everything but a session read, an impersonated user is signed out. */
  const hideImpersonation =
    <T>(ask: (ctx: Context) => Awaitable<T | null>): ((ctx: Context) => Promise<T | null>) =>
    async (ctx) =>
      (await stateOf(ctx)) === undefined ? ask(ctx) : null

  async function readSession(ctx: Context): Promise<Session | null> {
    const state = await stateOf(ctx)
    if (state === undefined) return inner.read(ctx)
    const session = state && (await inner.read(ctx))
    if (!session) return null
    const { row, admin } = state
    const until = row.until.toISOString()
    const expires = session.expires < until ? session.expires : until
    return { ...session, expires, actor: { id: row.adminId, name: admin.name ?? null, reason: row.reason, until } }
  }

  /** Id of the record of the administrator's session that waits in this browser. */
  async function waitingIn(ctx: Context): Promise<string | undefined> {
    return (await attributesOf(ctx))?.sid ?? (await readReturnId(ctx))
  }

  /** After a sign-out, or a sign-in: the session of the administrator goes with it. */
  async function abandon(ctx: Context, id: string): Promise<void> {
    returnCookie.delete(ctx)
    const row = await ctx.records('impersonation').take(id)
    if (!row) return
    await inner.end(await contextBehind(kernel, ctx, row.cookies))
    await ctx.emit('impersonationEnded', { admin: { id: row.adminId }, user: { id: row.userId }, reason: row.reason })
  }

  return {
    read: readSession,
    // What a client sends with an update may be anything, a new address for example.
    update: async (ctx, data) => ((await stateOf(ctx)) === undefined ? inner.update(ctx, data) : readSession(ctx)),
    user: hideImpersonation((ctx) => inner.user(ctx)),
    ...(inner.subject && { subject: hideImpersonation((ctx) => inner.subject?.(ctx) ?? null) }),
    attributes: (ctx) => (own.has(ctx) ? (inner.attributes?.(ctx) ?? null) : hideImpersonation(() => inner.attributes?.(ctx) ?? null)(ctx)),
    // The session first, and then the record that guards it.
    async end(ctx) {
      const id = returning.has(ctx) ? undefined : await waitingIn(ctx)
      const ended = await inner.end(ctx)
      if (id !== undefined) await abandon(ctx, id)
      return ended
    },
    async issue(ctx, login, attributes, before) {
      const id = await waitingIn(ctx)
      const issued = await inner.issue(ctx, login, attributes, before)
      if (id !== undefined) await abandon(ctx, id)
      return issued
    },
  }
}

/** Ends the session in which a user acts, and leaves that of the administrator. */
export async function endAlone(ctx: Context): Promise<void> {
  returning.add(ctx)
  await ctx.session.end(ctx)
}

/** What is kept of the session, also of one in which a user acts. */
export async function attributesWithin(ctx: Context): Promise<SessionAttributes | null> {
  own.add(ctx)
  try {
    return (await ctx.session.attributes?.(ctx)) ?? null
  } finally {
    own.delete(ctx)
  }
}
