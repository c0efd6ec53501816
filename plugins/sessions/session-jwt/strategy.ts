/** Issuing, reading and ending sessions that are in the cookie. */
import {
  type Awaitable,
  type Context,
  type Events,
  type JWT,
  JWTSessionError,
  outdatedKey,
  type Session,
  type SessionStrategy,
  SignOutError,
  type User,
} from 'authkernel/kernel'
import type { Settled } from './settled.ts'
import { anchors, clear, decodeWith, endedAs, expiry, notEnded, write } from './token.ts'

// The last second of the calendar of JavaScript (ECMA-262 21.4.1.1).
const lastSecond = 8.64e12

export function createStrategy(options: Settled): SessionStrategy & { revocable: boolean } {
  return {
    revocable: options.revocable === true,
    read: (ctx) => access(ctx, options),
    update: (ctx, data) => access(ctx, options, { data }),

    async user(ctx) {
      const token = await current(ctx, options)
      if (!token?.sub) return null
      if (ctx.store?.supports('getUser')) return ctx.store.getUser(token.sub)
      return { ...personOf(ctx, token), id: token.sub }
    },

    async subject(ctx) {
      const value = ctx.chunkedCookie(ctx.cookies.sessionToken.name)
      return (value && (await open(ctx, options, value))?.sub) || null
    },

    async issue(ctx, login) {
      const { user, account, profile, isNewUser, trigger } = login
      const previous = login.session === 'keep' ? await current(ctx, options) : null
      const token: JWT = { name: user.name, email: user.email, picture: user.image, ...(user.id !== undefined && { sub: user.id }) } as JWT
      if (ctx.store) show(ctx.store.shownFields, user, token)
      const changed = await ctx.ask('jwt', { token, user, account, ...(profile && { profile }), isNewUser, trigger })
      if (changed === null) {
        clear(ctx)
        return null
      }
      const kept = { ...changed, ...anchors(ctx, options, previous) }
      await write(ctx, options, kept)
      return { id: String(kept['sid'] ?? kept.sub ?? '') }
    },

    async end(ctx): Promise<Events['signOut'] | null> {
      const value = ctx.chunkedCookie(ctx.cookies.sessionToken.name)
      if (value === undefined) return null
      clear(ctx)
      const token = await open(ctx, options, value)
      if (!token) {
        ctx.logger.error(
          new SignOutError('The session token of a sign-out could not be opened: it is expired, altered, or from another secret.'),
        )
        return null
      }
      if (options.revocable) await ctx.once.take(`ended ${await endedAs(token, value)}`, options.tokenAge)
      return { token }
    },
  }
}

/** One access: the jwt and session hooks, and a new cookie when it is due. */
async function access(ctx: Context, options: Settled, update?: { data: unknown }): Promise<Session | null> {
  const value = ctx.chunkedCookie(ctx.cookies.sessionToken.name)
  if (value === undefined) return null
  let reason: unknown
  const opening = open(ctx, options, value, (error) => (reason = error))
  // On Node there is nothing to wait for: see docs/speed.md.
  const opened = isLater(opening) ? await opening : opening
  if (!opened) {
    const message = 'The session token could not be opened: it is expired, altered, or from another secret.'
    ctx.logger.error(new JWTSessionError(message, reason instanceof Error ? reason : {}))
  }
  const validity = opened !== null && stillValid(ctx, options, opened, value)
  const token = (isLater(validity) ? await validity : validity) ? opened : null
  if (!token) {
    clear(ctx)
    return null
  }
  // A role that changed is in the token from the next update on.
  if (update && token.sub && ctx.store?.shownFields.length && ctx.store.supports('getUser')) {
    const user = await ctx.store.getUser(token.sub)
    if (user) show(ctx.store.shownFields, user, token)
  }
  // Hosts change the token in place, so what it was is kept as text.
  const asked = update !== undefined || ctx.has('hook', 'jwt')
  // Dropping an old secret must sign nobody out.
  const outdated = token[outdatedKey as never] === true
  const before = asked ? JSON.stringify(token) : ''
  const answer = asked ? await ctx.ask('jwt', { token, ...(update && { trigger: 'update', session: update.data }) }) : token
  if (answer === null) {
    clear(ctx)
    return null
  }
  const renews =
    ctx.canSetCookies &&
    (update !== undefined || outdated || age(ctx, token) >= options.updateAge || (asked && JSON.stringify(answer) !== before))
  const next = renews ? { ...answer, ...anchors(ctx, options, token) } : answer
  const expires = renews ? expiry(ctx, options, next) : endOf(ctx, options, token)

  const plain: Session = { user: personOf(ctx, next), expires: expires.toISOString() }
  const session = ctx.has('hook', 'session')
    ? await ctx.ask('session', { session: plain, token: next, ...(update && { newSession: update.data, trigger: 'update' }) })
    : plain
  if (renews) await write(ctx, options, next)
  // Every check is told, one that the host answers with nobody too (row 156).
  if (ctx.has('on', 'session')) await ctx.emit('session', { session: session as Session, token: next })
  return session
}

/** The token of this browser when it counts, without any trace in log or cookies. */
async function current(ctx: Context, options: Settled): Promise<JWT | null> {
  const value = ctx.chunkedCookie(ctx.cookies.sessionToken.name)
  const token = value === undefined ? null : await open(ctx, options, value)
  return token && (await stillValid(ctx, options, token, value ?? '')) ? token : null
}

function stillValid(ctx: Context, { absoluteMaxAge, revocable }: Settled, token: JWT, value: string): Awaitable<boolean> {
  // A token from before the cap was configured has no beginning: it ends now rather than never.
  if (absoluteMaxAge !== undefined && !(ctx.now.getTime() < (Number(token['sst']) + absoluteMaxAge) * 1000)) return false
  return !revocable || notEnded(ctx, token, value)
}

function open(ctx: Context, { decode }: Settled, value: string, failed?: (error: unknown) => void): Awaitable<JWT | null> {
  const { name } = ctx.cookies.sessionToken
  return decode ? decodeWith(decode, ctx, name, value, failed) : ctx.open(name, value)
}

function endOf(ctx: Context, options: Settled, token: JWT): Date {
  const end = options.tokenAge !== options.maxAge && token.iat !== undefined ? token.iat + options.maxAge : token.exp
  // A host's own token, or its callback, may say what is no date.
  return Math.abs(end ?? Infinity) <= lastSecond ? new Date((end as number) * 1000) : expiry(ctx, options, token)
}

/** Seconds since the token was issued; a host's own token may not say. */
function age(ctx: Context, token: JWT): number {
  return token.iat === undefined ? Infinity : ctx.now.getTime() / 1000 - token.iat
}

// What the token does not say is undefined, hence absent for clients, as with Auth.js; null stays null.
function personOf({ settings, store }: Context, token: JWT): User {
  const { sub, name, email, picture } = token
  const person = { ...(settings.sessionUserId !== false && sub !== undefined && { id: sub }), name, email, image: picture } as User
  if (store?.shownFields.length) show(store.shownFields, token, person)
  return person
}

/** Copies the fields that a session shows. */
function show(names: readonly string[], from: object, to: object): void {
  for (const name of names) {
    const value = (from as Record<string, unknown>)[name]
    if (value !== undefined) Object.assign(to, { [name]: value })
  }
}

function isLater<T>(value: Awaitable<T>): value is PromiseLike<T> {
  return typeof (value as { then?: unknown } | null)?.then === 'function'
}
