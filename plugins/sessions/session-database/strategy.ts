/** Reading, issuing and ending sessions that are rows of a store. */
import {
  AccessDenied,
  type AdapterSession,
  type AdapterUser,
  AuthError,
  type Context,
  lazily,
  randomUUID,
  type Session,
  type SessionCookie,
  sha256,
  type Store,
  type StrategyWork,
  toBase64Url,
  unanswered,
  type User,
} from 'authkernel/kernel'
import type { Keeping } from './facts.ts'
import { createKept, idOf, type Kept, tokenOf } from './kept.ts'
import type { Settled } from './settled.ts'

// Sessions of other browsers; a read needs none of it.
const others = /* @__PURE__ */ lazily(() => import('./others.ts'))

type Found = { session: AdapterSession; user: AdapterUser } | null

/** `cookie`: its form, where it is not the token itself. */
export function createStrategy(options: Settled, keeping: Keeping, cookie: SessionCookie | undefined): StrategyWork {
  const kept = createKept(keeping)
  // D44: one look per request, whoever asks.
  const looked = Symbol('look')
  type Looking = Context & { [looked]?: Promise<Found> }
  const look = (ctx: Looking, token: string): Promise<Found> => (ctx[looked] ??= find(ctx, options, token))

  async function access(ctx: Context, update?: { data: unknown }): Promise<Session | null> {
    // As `tokenOf`: every function counts in a session read.
    const value = ctx.chunkedCookie(ctx.cookies.sessionToken.name)
    const token = value === undefined || !cookie ? value : await cookie.open(ctx, value)
    if (token === undefined) return null
    const found = await look(ctx, token)
    if (!found) {
      clear(ctx)
      return null
    }
    const { user } = found
    const isDue = ctx.canSetCookies && dueAt(options, found.session) <= ctx.runtime.now()
    const expires = isDue ? await extend(ctx, options, found.session, kept) : found.session.expires
    // What the adapter does not say is undefined, hence absent for clients, as with Auth.js; null stays null.
    const { id, name, email, image } = user
    const person = (ctx.settings.sessionUserId === false ? { name, email, image } : { id, name, email, image }) as User
    if (ctx.store?.shownFields.length) show(ctx.store.shownFields, user, person)
    let session: Session | null = { user: person, expires: expires.toISOString() }
    if (ctx.has('hook', 'session')) {
      // The columns of the stored row, which no client sees unless the host says so; `createdAt` of our adapters is none of the host's.
      const { sessionToken: _secret, createdAt, ...columns } = found.session
      const own = createdAt === undefined || ctx.store?.keepsCreatedAt ? columns : { ...columns, createdAt }
      const whole = { ...own, ...session }
      const message = { session: whole, user, ...(update && { newSession: update.data, trigger: 'update' as const }) }
      const answer = await ctx.ask('session', Object.defineProperty(message, unanswered, { value: unanswered }))
      session = (answer as unknown) === unanswered ? withoutColumns(whole, own) : answer
    }
    if (ctx.canSetCookies) put(ctx, cookie ? await cookie.write(ctx, token) : token, expires)
    // Every check is told, one that the host answers with nobody too (row 156).
    if (ctx.has('on', 'session')) await ctx.emit('session', { session: session as Session })
    return session
  }

  return {
    read: (ctx) => access(ctx),
    update: (ctx, data) => access(ctx, { data }),

    async user(ctx) {
      const token = await tokenOf(ctx, cookie)
      return token === undefined ? null : ((await look(ctx, token))?.user ?? null)
    },

    async subject(ctx) {
      const token = await tokenOf(ctx, cookie)
      // The token itself belongs into no other cookie.
      return token === undefined ? null : toBase64Url(await sha256(token))
    },

    async id(ctx) {
      const token = await tokenOf(ctx, cookie)
      return token === undefined ? null : idOf(token)
    },

    async issue(ctx, login, attributes) {
      const former = await tokenOf(ctx, cookie)
      const found = former === undefined ? null : await (login.session === 'renew' ? look(ctx, former) : (ctx as Looking)[looked])
      if (login.session === 'keep' && former !== undefined && found) {
        await remember(ctx, cookie, former, found.session.expires)
        return { id: await idOf(former) }
      }
      const { id: userId } = login.user
      if (userId === undefined) throw new AuthError('Plugin "session-database": a session needs a user with an id.')
      if (login.session === 'renew' && found?.user.id !== userId) throw new AccessDenied('The session to renew has ended. Sign in again.')
      const token = options.generateSessionToken?.() ?? randomUUID(ctx.runtime)
      const [session, id] = [begun(ctx, options, token, userId, login.session === 'renew' && found ? found : null), await idOf(token)]
      // First what finds a session: one that nothing finds could not be ended from elsewhere.
      await kept?.start(ctx, { id, userId, token, attributes, expires: session.expires })
      await storeOf(ctx).createSession(session)
      await remember(ctx, cookie, token, session.expires)
      // A session that was planted or left behind must not outlive the sign-in (fixation).
      if (former !== undefined && found !== null) await drop(ctx, former)
      return { id }
    },

    async attributes(ctx) {
      const token = await tokenOf(ctx, cookie)
      return token === undefined || !kept || !(await look(ctx, token)) ? null : kept.attributes(ctx, await idOf(token))
    },

    list: async (ctx, userId) => (await others()).listSessions(ctx, userId, kept, options.maxAge),
    revoke: async (ctx, which) => (await others()).revokeSessions(ctx, which, kept, cookie),

    async end(ctx) {
      const token = await tokenOf(ctx, cookie)
      clear(ctx)
      if (token === undefined) return null
      if (kept) await kept.end(ctx, await idOf(token))
      // What the adapter says of the session, nothing included (row 168).
      return { session: (await storeOf(ctx).deleteSession(token)) as AdapterSession | null | undefined }
    },
  }

  async function drop(ctx: Context, token: string): Promise<void> {
    await storeOf(ctx).deleteSession(token)
    // A cookie was just written anew.
    if (kept?.findable) await kept.end(ctx, await idOf(token))
  }
}

/** The row of a new session. One that is renewed keeps its beginning and the columns of the host. */
function begun(ctx: Context, options: Settled, sessionToken: string, userId: string, former: Found): AdapterSession {
  const { keepsCreatedAt } = storeOf(ctx)
  const createdAt = (keepsCreatedAt && former?.session.createdAt) || ctx.now
  const expires = new Date(Math.min(ctx.now.getTime() + options.maxAge * 1000, capOf(options, createdAt)))
  const { id: _row, ...columns } = (former?.session ?? {}) as Record<string, unknown>
  return { ...columns, sessionToken, userId, expires, ...(keepsCreatedAt && { createdAt }) }
}

/** Nobody had an opinion: the columns of the stored row go; what a handler put there without a word stays. */
function withoutColumns(whole: object, columns: object): Session {
  const kept = Object.entries(whole).filter(([name, value]) => !(name in columns) || value !== columns[name as never])
  return Object.fromEntries(kept) as unknown as Session
}

/** The session when it has not ended; one that has is deleted (row 116). */
async function find(ctx: Context, { absoluteMaxAge }: Settled, token: string): Promise<Found> {
  const store = ctx.store as Store
  const found = await store.getSessionAndUser(token)
  if (!found) return null
  const now = ctx.runtime.now()
  const { expires, createdAt } = found.session
  if (expires.getTime() > now && (absoluteMaxAge === undefined || capOf({ absoluteMaxAge }, createdAt) > now)) return found
  await store.deleteSession(token)
  await ctx.emit('noted', { name: 'session.expired', outcome: 'success', user: { id: found.session.userId }, sessionId: await idOf(token) })
  return null
}

/** When the expiry may move: at most once per `updateAge` (rows 117 to 119). */
function dueAt({ maxAge, updateAge }: Settled, { expires }: AdapterSession): number {
  return expires.getTime() - maxAge * 1000 + updateAge * 1000
}

async function extend(ctx: Context, options: Settled, session: AdapterSession, kept: Kept | undefined): Promise<Date> {
  const expires = new Date(Math.min(ctx.runtime.now() + options.maxAge * 1000, capOf(options, session.createdAt)))
  await storeOf(ctx).updateSession({ sessionToken: session.sessionToken, expires })
  if (kept) await kept.extend(ctx, await idOf(session.sessionToken), expires)
  return expires
}

/** When a session ends however often it is extended; one without a beginning ends now rather than never. */
function capOf({ absoluteMaxAge }: Pick<Settled, 'absoluteMaxAge'>, createdAt: Date | null | undefined): number {
  if (absoluteMaxAge === undefined) return Infinity
  return createdAt ? createdAt.getTime() + absoluteMaxAge * 1000 : 0
}

/** Adds the fields that a session shows. */
function show(names: readonly string[], user: AdapterUser, person: object): void {
  for (const name of names) Object.assign(person, { [name]: (user as unknown as Record<string, unknown>)[name] })
}

async function remember(ctx: Context, cookie: SessionCookie | undefined, token: string, expires: Date): Promise<void> {
  put(ctx, cookie ? await cookie.write(ctx, token) : token, expires)
}

function put(ctx: Context, value: string, expires: Date): void {
  const { name, options } = ctx.cookies.sessionToken
  // A jwt of before, in chunks, would be read first.
  ctx.deleteCookie(name, options)
  ctx.setCookie(name, value, { ...options, expires })
}

function clear(ctx: Context): void {
  const { name, options } = ctx.cookies.sessionToken
  ctx.deleteCookie(name, options)
}

function storeOf(ctx: Context): Store {
  return ctx.store as Store
}
