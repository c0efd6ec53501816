/** Sessions as opaque tokens in Redis, with an idle and an absolute end. Redis sees hashes of tokens only. */
import {
  AccessDenied,
  type AnyContext,
  type Context,
  type Plugin,
  randomHex,
  type Session,
  type SessionAttributes,
  type SessionInfo,
  type SessionSelector,
  type SessionStrategy,
  sha256,
  toHex,
  type User,
} from 'authkernel/kernel'
import type { Redis } from 'ioredis'

declare module 'authkernel/kernel' {
  interface SessionStrategies {
    redis: SessionStrategy
  }
}
interface Kept {
  user: User
  attributes: SessionAttributes
  /** Milliseconds. */
  begun: number
  seen: number
}
export interface RedisSessionOptions {
  redis: Redis
  /** Seconds. */
  idle?: number
  /** Seconds. */
  absolute?: number
  /** Seconds between two writes of the last use. */
  every?: number
  prefix?: string
}

export function redisSessionPlugin({ redis, idle = 1800, absolute = 43_200, every = 60, prefix = 'auth' }: RedisSessionOptions): Plugin {
  const keyOf = (ns: string, id: string): string => `${prefix}:${ns}:session:${id}`
  const setOf = (ns: string, userId: string): string => `${prefix}:${ns}:user:${userId}`
  const endOf = ({ begun, seen }: Kept): number => Math.min(seen + idle * 1000, begun + absolute * 1000)
  const parse = (text: string | null): Kept | null => (text === null ? null : (JSON.parse(text) as Kept))

  const idOf = async (ctx: Context): Promise<string | null> => {
    const token = ctx.cookie(ctx.cookies.sessionToken.name)
    // Nothing but our own shape is looked up.
    return token !== undefined && /^[0-9a-f]{64}$/.test(token) ? toHex(await sha256(token)) : null
  }
  const write = (ctx: AnyContext, id: string, kept: Kept, change: boolean): Promise<string | null> => {
    const px = Math.max(1, endOf(kept) - ctx.now.getTime())
    const key = keyOf(ctx.settings.namespace, id)
    // XX: a session that was ended meanwhile does not come back.
    return change ? redis.set(key, JSON.stringify(kept), 'PX', px, 'XX') : redis.set(key, JSON.stringify(kept), 'PX', px)
  }
  const cookie = (ctx: Context, token: string, kept: Kept): void => {
    const { name, options } = ctx.cookies.sessionToken
    ctx.setCookie(name, token, { ...options, expires: new Date(endOf(kept)) })
  }
  async function find(ctx: Context): Promise<{ id: string; kept: Kept } | null> {
    const id = await idOf(ctx)
    const kept = id === null ? null : parse(await redis.get(keyOf(ctx.settings.namespace, id)))
    if (id === null || !kept || endOf(kept) <= ctx.now.getTime()) return null
    if (!ctx.store || kept.user.id === undefined) return { id, kept }
    // A stored user may have changed, or be gone.
    const user = await ctx.store.getUser(kept.user.id)
    return user && { id, kept: { ...kept, user } }
  }
  async function show(ctx: Context, update?: { data: unknown }): Promise<Session | null> {
    const found = await find(ctx)
    if (!found) return null
    const now = ctx.now.getTime()
    const kept = { ...found.kept, seen: now }
    if (ctx.canSetCookies && (update || now - found.kept.seen >= every * 1000)) {
      if ((await write(ctx, found.id, kept, true)) === null) return null
      cookie(ctx, ctx.cookie(ctx.cookies.sessionToken.name) ?? '', kept)
    }
    const { id, name = null, email = null, image = null } = kept.user
    const session = { user: { ...(id !== undefined && { id }), name, email, image }, expires: new Date(endOf(kept)).toISOString() }
    const shown = await ctx.ask('session', { session, ...(update && { newSession: update.data, trigger: 'update' as const }) })
    if (shown) await ctx.emit('session', { session: shown })
    return shown
  }
  async function forget(ctx: AnyContext, ids: readonly string[]): Promise<number> {
    const keys = ids.map((id) => keyOf(ctx.settings.namespace, id))
    return keys.length === 0 ? 0 : redis.del(...keys)
  }
  async function list(ctx: AnyContext, userId: string): Promise<SessionInfo[]> {
    const ids = await redis.smembers(setOf(ctx.settings.namespace, userId))
    const all = await Promise.all(ids.map(async (id) => ({ id, kept: parse(await redis.get(keyOf(ctx.settings.namespace, id))) })))
    return all
      .flatMap(({ id, kept }) => (kept ? [{ id, kept }] : []))
      .sort((a, b) => b.kept.begun - a.kept.begun)
      .map(({ id, kept }) => ({
        id,
        userId,
        expires: new Date(endOf(kept)),
        createdAt: new Date(kept.begun),
        lastUsed: new Date(kept.seen),
        attributes: kept.attributes,
      }))
  }
  async function idsOf(ctx: AnyContext, which: SessionSelector): Promise<string[] | undefined> {
    if ('id' in which) {
      if (which.userId === undefined) return [which.id]
      return (await list(ctx, which.userId)).flatMap(({ id }) => (id === which.id ? [id] : []))
    }
    return 'userId' in which ? (await list(ctx, which.userId)).flatMap(({ id }) => (id === which.except ? [] : [id])) : undefined
  }

  const strategy: SessionStrategy = {
    abilities: new Set(['attributes', 'list', 'revoke:id', 'revoke:user']),
    read: (ctx) => show(ctx),
    user: async (ctx) => (await find(ctx))?.kept.user ?? null,
    id: idOf,
    attributes: async (ctx) => (await find(ctx))?.kept.attributes ?? null,
    async issue(ctx, { user, session }, attributes) {
      const former = await find(ctx)
      if (session === 'keep' && former && former.kept.user.id === user.id) {
        cookie(ctx, ctx.cookie(ctx.cookies.sessionToken.name) ?? '', former.kept)
        return { id: former.id }
      }
      if (session === 'renew' && !former) throw new AccessDenied('The session has ended.')
      if (former) await forget(ctx, [former.id])
      const token = randomHex(ctx.runtime, 32)
      const id = toHex(await sha256(token))
      const now = ctx.now.getTime()
      const kept: Kept = { user, attributes, begun: session === 'renew' ? (former?.kept.begun ?? now) : now, seen: now }
      await write(ctx, id, kept, false)
      if (user.id !== undefined) {
        const set = setOf(ctx.settings.namespace, user.id)
        await redis
          .multi()
          .sadd(set, id)
          .pexpire(set, absolute * 1000)
          .exec()
      }
      cookie(ctx, token, kept)
      return { id }
    },
    list,
    update: (ctx, data) => show(ctx, { data }),
    async end(ctx) {
      const { name, options } = ctx.cookies.sessionToken
      ctx.deleteCookie(name, options)
      const found = await find(ctx)
      if (!found) return null
      await forget(ctx, [found.id])
      return { sessionId: found.id, userId: found.kept.user.id ?? '' }
    },
    async revoke(ctx, which) {
      const ids = await idsOf(ctx, which)
      return ids && forget(ctx, ids)
    },
  }
  return { name: 'session-redis', setup: (kernel) => kernel.sessionStrategy('redis', () => strategy) }
}
