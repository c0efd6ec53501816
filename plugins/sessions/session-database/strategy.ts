/** Reading, issuing and ending sessions that are rows of a store. */
import {
  AccessDenied,
  type AdapterSession,
  type AdapterUser,
  AuthError,
  type Context,
  lazily,
  marksHold,
  randomUUID,
  type Session,
  type SessionAttributes,
  type SessionCookie,
  type SessionMarks,
  sha256,
  type Store,
  type StrategyWork,
  toBase64Url,
  type User,
} from 'authkernel/kernel'
import { copyShownFields, noAnswer } from 'authkernel/kernel/strategies'
import { createAttributeStore, type AttributeStore, readSessionToken, sessionIdOf } from './attributes.ts'
import { looksMarked, markedToken, marksOf } from './marks.ts'
import type { DatabaseOptions, Keeping } from './options.ts'

// Sessions of other browsers; a read needs none of it.
const loadOtherSessions = /* @__PURE__ */ lazily(() => import('./other-sessions.ts'))

type FoundSession = { session: AdapterSession; user: AdapterUser; marks: SessionMarks } | null

/** `cookie`: its form, where it is not the token itself. */
export function createStrategy(options: DatabaseOptions, keeping: Keeping, cookie: SessionCookie | undefined): StrategyWork {
  const attributeStore = createAttributeStore(keeping)
  // Symbols of the context: one read of the store per request (D44).
  const foundSession = Symbol('found session')
  const issuedToken = Symbol('issued token')
  type RequestMemo = Context & { [foundSession]?: Promise<FoundSession>; [issuedToken]?: string }
  const findSessionOnce = (ctx: RequestMemo, token: string): Promise<FoundSession> =>
    (ctx[foundSession] ??= findSession(ctx, options, token))

  async function accessSession(ctx: Context, update?: { data: unknown }): Promise<Session | null> {
    const token = await readSessionToken(ctx, cookie)
    if (token === undefined) return null
    const found = await findSessionOnce(ctx, token)
    if (!found) {
      // A replica may not have it yet.
      if (!ctx.store?.replica) clearCookie(ctx)
      return null
    }
    const { user } = found
    const isDue = ctx.canSetCookies && dueAt(options, found) <= ctx.runtime.now()
    const expires = isDue ? await extendSession(ctx, options, found, attributeStore) : endOf(found)
    if (!expires) {
      ;(ctx as RequestMemo)[foundSession] = Promise.resolve(null)
      clearCookie(ctx)
      return null
    }
    // What the adapter does not say is undefined, hence absent for clients, as with Auth.js; null stays null.
    const { id, name, email, image } = user
    const shown = (ctx.settings.sessionUserId === false ? { name, email, image } : { id, name, email, image }) as User
    copyShownFields(ctx.store, user, shown)
    let session: Session | null = { user: shown, expires: expires.toISOString() }
    if (ctx.has('hook', 'session')) {
      // The columns of the stored row, which no client sees unless the host says so; `createdAt` of our adapters is none of the host's.
      const { sessionToken: _secret, createdAt, ...columns } = found.session
      const own = createdAt === undefined || ctx.store?.keepsCreatedAt ? columns : { ...columns, createdAt }
      const whole = { ...own, ...session }
      const message = { session: whole, user, ...(update && { newSession: update.data, trigger: 'update' as const }) }
      const answer = await ctx.ask('session', Object.defineProperty(message, noAnswer, { value: noAnswer }))
      session = (answer as unknown) === noAnswer ? withoutColumns(whole, own) : answer
    }
    if (ctx.canSetCookies) await writeToken(ctx, cookie, token, expires)
    // Each check fires the event, also one that the host's hook ends with null (row 156).
    if (ctx.has('on', 'session')) await ctx.emit('session', { session: session as Session })
    return session
  }

  return {
    read: (ctx) => accessSession(ctx),
    update: (ctx, data) => accessSession(ctx, { data }),

    async user(ctx) {
      const token = await readSessionToken(ctx, cookie)
      return token === undefined ? null : ((await findSessionOnce(ctx, token))?.user ?? null)
    },

    async subject(ctx) {
      const token = await countingToken(ctx, cookie)
      // The token itself belongs into no other cookie.
      return token === undefined ? null : toBase64Url(await sha256(token))
    },

    async id(ctx) {
      const token = await countingToken(ctx, cookie)
      return token === undefined ? null : sessionIdOf(token)
    },

    async kinds(ctx) {
      const token = await readSessionToken(ctx, cookie)
      return (token === undefined ? null : await findSessionOnce(ctx, token))?.marks.kinds ?? []
    },

    async issue(ctx, login, given, before) {
      const former = await readSessionToken(ctx, cookie)
      const found =
        former === undefined ? null : await (login.session === 'renew' ? findSessionOnce(ctx, former) : (ctx as RequestMemo)[foundSession])
      if (login.session === 'keep' && former !== undefined && found) {
        await writeToken(ctx, cookie, former, endOf(found))
        return { id: await sessionIdOf(former) }
      }
      const { id: userId } = login.user
      if (userId === undefined) throw new AuthError('Plugin "session-database": a session needs a user with an id.')
      if (login.session === 'renew' && found?.user.id !== userId) throw new AccessDenied('The session to renew has ended. Sign in again.')
      const renewed = login.session === 'renew' && found ? found : null
      const attributes = renewed ? withMarks(given, renewed.marks) : given
      const token = markedToken(attributes, randomToken(ctx, options))
      const [session, id] = [newSessionRow(ctx, options, { token, userId, until: attributes.until }, renewed), await sessionIdOf(token)]
      // First what guards and what finds a session: one that nothing finds could not be ended from elsewhere.
      await before?.(id)
      await attributeStore?.start(ctx, { id, userId, token, attributes, expires: session.expires })
      await storeOf(ctx).createSession(session)
      ;(ctx as RequestMemo)[issuedToken] = token
      // It may have been ended while the new one was made, which must not live on in its place.
      if (login.session === 'renew' && former !== undefined && !(await findSession(ctx, options, former))) {
        await removeSession(ctx, token)
        throw new AccessDenied('The session to renew has ended. Sign in again.')
      }
      await writeToken(ctx, cookie, token, session.expires)
      // A session that was planted or left behind must not outlive the sign-in (fixation).
      if (former !== undefined && (found !== null || looksMarked(former))) await removeSession(ctx, former)
      return { id }
    },

    async takeBack(ctx) {
      const token = (ctx as RequestMemo)[issuedToken]
      if (token !== undefined) await removeSession(ctx, token)
    },

    async isLive(ctx) {
      const token = await readSessionToken(ctx, cookie)
      return token !== undefined && (await findSession(ctx, options, token)) !== null
    },

    async attributes(ctx) {
      const token = await readSessionToken(ctx, cookie)
      return token === undefined || !attributeStore || !(await findSessionOnce(ctx, token))
        ? null
        : attributeStore.attributes(ctx, await sessionIdOf(token))
    },

    list: async (ctx, userId) => (await loadOtherSessions()).listSessions(ctx, userId, attributeStore, options.maxAge),
    revoke: async (ctx, which) => (await loadOtherSessions()).revokeSessions(ctx, which, attributeStore, cookie),

    async end(ctx) {
      const token = await readSessionToken(ctx, cookie)
      clearCookie(ctx)
      if (token === undefined) return null
      // What the adapter says of the session, nothing included (row 168).
      const session = (await storeOf(ctx).deleteSession(token)) as AdapterSession | null | undefined
      // The session first: while it lives it must be found.
      if (attributeStore) await attributeStore.end(ctx, await sessionIdOf(token))
      return { session }
    },
  }

  async function removeSession(ctx: Context, token: string): Promise<void> {
    await storeOf(ctx).deleteSession(token)
    // A cookie was just written anew.
    if (attributeStore?.findable) await attributeStore.end(ctx, await sessionIdOf(token))
  }
}

/** The token that the browser sent, unless it says itself that its session counts no more. */
async function countingToken(ctx: Context, cookie: SessionCookie | undefined): Promise<string | undefined> {
  const token = await readSessionToken(ctx, cookie)
  return token !== undefined && marksHold(ctx, marksOf(token, undefined)) ? token : undefined
}

/** The row of a new session. One that is renewed keeps its beginning and the columns of the host. */
function newSessionRow(
  ctx: Context,
  options: DatabaseOptions,
  { token: sessionToken, userId, until }: { token: string; userId: string; until: number | undefined },
  former: FoundSession,
): AdapterSession {
  const { keepsCreatedAt } = storeOf(ctx)
  const createdAt = (keepsCreatedAt && former?.session.createdAt) || ctx.now
  const expires = new Date(Math.min(ctx.now.getTime() + options.maxAge * 1000, capOf(options, createdAt), until ?? Infinity))
  const { id: _row, ...columns } = (former?.session ?? {}) as Record<string, unknown>
  return { ...columns, sessionToken, userId, expires, ...(keepsCreatedAt && { createdAt }) }
}

/** Rejected: a token of the host that would look as if it had marks. */
function randomToken(ctx: Context, { generateSessionToken }: DatabaseOptions): string {
  const token = generateSessionToken?.() ?? randomUUID(ctx.runtime)
  if (!looksMarked(token)) return token
  throw new AuthError(
    'Plugin "session-database": `session.generateSessionToken` returned a token that begins with "!". Use other characters.',
  )
}

/** A session stays of its kinds and keeps its end, whatever was kept of its attributes elsewhere. */
function withMarks(attributes: SessionAttributes, { kinds = [], until }: SessionMarks): SessionAttributes {
  const all = [...new Set([...(attributes.kinds ?? []), ...kinds])]
  return { ...attributes, ...(all.length > 0 && { kinds: all }), ...(until !== undefined && { until }) }
}

/** No handler answered: the columns of the stored row go; what a handler wrote into the message stays. */
function withoutColumns(whole: object, columns: object): Session {
  // `name` is a key of `columns`, as tested before it. What is left has the fields of a session, which handlers wrote.
  const shown = Object.entries(whole).filter(([name, value]) => !(name in columns) || value !== columns[name as never])
  // As above: the fields of a session, which handlers wrote.
  return Object.fromEntries(shown) as unknown as Session
}

/** The session when it has not ended; one that has is deleted (row 116), unless it may have been extended where a replica has not seen it. */
async function findSession(ctx: Context, { absoluteMaxAge }: DatabaseOptions, token: string): Promise<FoundSession> {
  const store = ctx.store as Store
  const found = await store.getSessionAndUser(token)
  if (!found) return null
  const now = ctx.runtime.now()
  const { expires, createdAt } = found.session
  const marks = marksOf(token, found.session.sessionToken)
  const ends = Math.min(expires.getTime(), marks.until ?? Infinity)
  if (ends > now && (absoluteMaxAge === undefined || capOf({ absoluteMaxAge }, createdAt) > now))
    return marksHold(ctx, marks) ? { session: found.session, user: found.user, marks } : null
  if (store.replica) return null
  await store.deleteSession(token)
  await ctx.emit('noted', {
    name: 'session.expired',
    outcome: 'success',
    user: { id: found.session.userId },
    sessionId: await sessionIdOf(token),
  })
  return null
}

/** When the expiry may move: at most once per `updateAge` (rows 117 to 119). */
function dueAt({ maxAge, updateAge }: DatabaseOptions, { session: { expires }, marks }: NonNullable<FoundSession>): number {
  // One with a fixed end is never extended.
  if (marks.until !== undefined) return Infinity
  return expires.getTime() - maxAge * 1000 + updateAge * 1000
}

/** Another product may have extended the row of a session with a fixed end. */
function endOf({ session: { expires }, marks: { until } }: NonNullable<FoundSession>): Date {
  return until !== undefined && until < expires.getTime() ? new Date(until) : expires
}

/** Null: the session was ended since it was read. */
async function extendSession(
  ctx: Context,
  options: DatabaseOptions,
  { session }: NonNullable<FoundSession>,
  attributeStore: AttributeStore | undefined,
): Promise<Date | null> {
  const expires = new Date(Math.min(ctx.runtime.now() + options.maxAge * 1000, capOf(options, session.createdAt)))
  const updated = await storeOf(ctx).updateSession({ sessionToken: session.sessionToken, expires })
  // Some published adapters answer nothing although they changed the row; they get no more calls than from Auth.js.
  if (!updated && ctx.app.services.records && !(await storeOf(ctx).getSessionAndUser(session.sessionToken))) return null
  if (attributeStore) await attributeStore.extend(ctx, await sessionIdOf(session.sessionToken), expires)
  return expires
}

/** When a session ends however often it is extended; one without a beginning ends now rather than never. */
function capOf({ absoluteMaxAge }: Pick<DatabaseOptions, 'absoluteMaxAge'>, createdAt: Date | null | undefined): number {
  if (absoluteMaxAge === undefined) return Infinity
  return createdAt ? createdAt.getTime() + absoluteMaxAge * 1000 : 0
}

async function writeToken(ctx: Context, cookie: SessionCookie | undefined, token: string, expires: Date): Promise<void> {
  const { name, options } = ctx.cookies.sessionToken
  const value = cookie ? await cookie.write(ctx, token) : token
  // A jwt of before, in chunks, would be read first.
  ctx.deleteCookie(name, options)
  ctx.setCookie(name, value, { ...options, expires })
}

function clearCookie(ctx: Context): void {
  const { name, options } = ctx.cookies.sessionToken
  ctx.deleteCookie(name, options)
}

function storeOf(ctx: Context): Store {
  return ctx.store as Store
}
