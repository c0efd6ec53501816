/** Sessions in a store; the cookie holds a random token only (D6, D38, D44, D45). */
import {
  type AdapterSession,
  type AdapterUser,
  AuthError,
  type Context,
  type Plugin,
  randomUUID,
  sha256,
  toBase64Url,
  type ResolvedConfig,
  type Session,
  type SessionOptions,
  type SessionStrategy,
  type Store,
  unanswered,
  type User,
} from 'authkernel/kernel'

/** Lifetimes in seconds; each defaults to the option of the same name in `session`. */
export interface DatabaseSessionOptions extends Pick<SessionOptions, 'maxAge' | 'updateAge' | 'absoluteMaxAge' | 'generateSessionToken'> {
  /** Steps forward only when the strategy is `database`; the preset's way of offering both. */
  fallback?: boolean | undefined
}
type Settled = { maxAge: number; updateAge: number } & Pick<SessionOptions, 'absoluteMaxAge' | 'generateSessionToken'>
type Found = { session: AdapterSession; user: AdapterUser } | null

const methods = [
  'createUser',
  'getUser',
  'getUserByEmail',
  'getUserByAccount',
  'updateUser',
  'linkAccount',
  'createSession',
  'getSessionAndUser',
  'updateSession',
  'deleteSession',
] as const

/** Provides the service `session`; needs a store. Refused at compile: `absoluteMaxAge` with an adapter that keeps no `createdAt`. */
export function databaseSessionPlugin(options: DatabaseSessionOptions = {}): Plugin {
  return {
    name: 'session-database',
    setup(kernel) {
      const settled = settle(kernel.config, options)
      const strategy = createStrategy(settled)
      kernel.provide('session', (view) => {
        if (options.fallback && view.strategy !== 'database') return undefined
        const store = view.service('store')
        if (settled.absoluteMaxAge !== undefined && store && !store.keepsCreatedAt) {
          throw new AuthError(
            'Plugin "session-database": `session.absoluteMaxAge` needs an adapter that keeps `createdAt` of sessions, and this one does not say so. ' +
              'Use an adapter of authkernel, or leave the option out.',
          )
        }
        return strategy
      })
    },
  }
}

function settle({ session }: ResolvedConfig, options: DatabaseSessionOptions): Settled {
  return {
    maxAge: options.maxAge ?? session.maxAge,
    updateAge: options.updateAge ?? session.updateAge,
    absoluteMaxAge: options.absoluteMaxAge ?? session.absoluteMaxAge,
    generateSessionToken: options.generateSessionToken ?? session.generateSessionToken,
  }
}

function createStrategy(options: Settled): SessionStrategy {
  // D44: one look per request, whoever asks.
  const looks = new WeakMap<Context, Promise<Found>>()
  const look = (ctx: Context, token: string): Promise<Found> => {
    let found = looks.get(ctx)
    if (!found) looks.set(ctx, (found = find(ctx, options, token)))
    return found
  }

  async function access(ctx: Context, update?: { data: unknown }): Promise<Session | null> {
    const token = ctx.chunkedCookie(ctx.cookies.sessionToken.name)
    if (token === undefined) return null
    const found = await look(ctx, token)
    if (!found) {
      clear(ctx)
      return null
    }
    const { user } = found
    const expires = ctx.canSetCookies ? await extend(ctx, options, found.session) : found.session.expires
    // What the adapter does not say is undefined, hence absent for clients, as with Auth.js; null stays null.
    const { id, name, email, image } = user
    const person = { ...(ctx.settings.sessionUserId !== false && { id }), name, email, image } as User
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
    if (ctx.canSetCookies) remember(ctx, token, expires)
    // Every check is told, one that the host answers with nobody too (row 156).
    if (ctx.has('on', 'session')) await ctx.emit('session', { session: session as Session })
    return session
  }

  return {
    methods,
    storedUsers: true,
    read: (ctx) => access(ctx),
    update: (ctx, data) => access(ctx, { data }),

    async user(ctx) {
      const token = tokenOf(ctx)
      return token === undefined ? null : ((await look(ctx, token))?.user ?? null)
    },

    async subject(ctx) {
      const token = tokenOf(ctx)
      // The token itself belongs into no other cookie.
      return token === undefined ? null : toBase64Url(await sha256(token))
    },

    async issue(ctx, login) {
      const former = tokenOf(ctx)
      const found = former === undefined ? null : await looks.get(ctx)
      if (login.session === 'keep' && former !== undefined && found) {
        remember(ctx, former, found.session.expires)
        return { id: former }
      }
      const { id: userId } = login.user
      if (userId === undefined) throw new AuthError('Plugin "session-database": a session needs a user with an id.')
      const sessionToken = options.generateSessionToken?.() ?? randomUUID(ctx.runtime)
      const createdAt = ctx.now
      const expires = new Date(Math.min(createdAt.getTime() + options.maxAge * 1000, capOf(options, createdAt)))
      const store = storeOf(ctx)
      await store.createSession({ sessionToken, userId, expires, ...(store.keepsCreatedAt && { createdAt }) })
      remember(ctx, sessionToken, expires)
      // A session that was planted or left behind must not outlive the sign-in (fixation).
      if (former !== undefined && found !== null) await store.deleteSession(former)
      return { id: sessionToken }
    },

    async end(ctx) {
      const token = tokenOf(ctx)
      if (token === undefined) return null
      clear(ctx)
      // What the adapter says of the session, nothing included (row 168).
      return { session: (await storeOf(ctx).deleteSession(token)) as AdapterSession | null | undefined }
    },

    async revoke(ctx, who) {
      const store = storeOf(ctx)
      await ('id' in who ? store.deleteSession(who.id) : store.deleteSessionsByUserId(who.userId))
    },
  }
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
  return null
}

/** Moves the expiry at most once per `updateAge` (rows 117 to 119). */
async function extend(ctx: Context, options: Settled, session: AdapterSession): Promise<Date> {
  const now = ctx.runtime.now()
  const due = session.expires.getTime() - options.maxAge * 1000 + options.updateAge * 1000 <= now
  if (!due) return session.expires
  const expires = new Date(Math.min(now + options.maxAge * 1000, capOf(options, session.createdAt)))
  await storeOf(ctx).updateSession({ sessionToken: session.sessionToken, expires })
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

function tokenOf(ctx: Context): string | undefined {
  return ctx.chunkedCookie(ctx.cookies.sessionToken.name)
}

function remember(ctx: Context, token: string, expires: Date): void {
  const { name, options } = ctx.cookies.sessionToken
  // A jwt of before, in chunks, would be read first.
  ctx.deleteCookie(name, options)
  ctx.setCookie(name, token, { ...options, expires })
}

function clear(ctx: Context): void {
  const { name, options } = ctx.cookies.sessionToken
  ctx.deleteCookie(name, options)
}

function storeOf(ctx: Context): Store {
  return ctx.store as Store
}
