/** ID tokens, kept until the sign-out: in records by the id of the session, else in a sealed cookie that is bound to it. */
import { type Context, type CookieHandle, createCookie, type RecordSpec, type RecordTable } from 'authkernel/kernel'

/** One row of the record that keeps the ID token of a session until sign-out. */
export interface LogoutHintRow extends Record<string, unknown> {
  userId: string
  idToken: string
  expires: Date
}

declare module 'authkernel/kernel' {
  interface Records {
    logoutHint: LogoutHintRow
  }
}

/** Its id is that of the session, or of a sign-out that goes on. */
export const hintTable: RecordSpec<LogoutHintRow> = {
  fields: {
    userId: { type: 'string', max: 200 },
    idToken: { type: 'text', sealed: true, unreadable: 'absent' },
    expires: { type: 'date' },
  },
  owner: 'user',
  expires: 'expires',
  id: 'given',
}
export const hintCookie: CookieHandle = /* @__PURE__ */ createCookie('logout-hint', { path: 'base', chunked: true })

/** Where ID tokens wait. */
export interface Hints {
  put(ctx: Context, id: string, hint: { userId: string; idToken: string }, seconds: number): Promise<void>
  /** Removes and answers it; undefined: there is none. */
  take(ctx: Context, id: string): Promise<{ userId: string; idToken: string } | undefined>
}

/** In records; with a cookie, in that. */
export function createHints(cookie: CookieHandle | undefined): Hints {
  return cookie ? inCookie(cookie) : inRecords
}

const inRecords: Hints = {
  async put(ctx, id, hint, seconds) {
    await table(ctx).put({ id, ...hint, expires: new Date(ctx.runtime.now() + seconds * 1000) })
  },
  async take(ctx, id) {
    return (await table(ctx).take(id)) ?? undefined
  },
}

function inCookie(cookie: CookieHandle): Hints {
  return {
    async put(ctx, id, hint, seconds) {
      cookie.set(ctx, await cookie.seal(ctx, { id, ...hint }, seconds), { expires: new Date(ctx.runtime.now() + seconds * 1000) })
    },
    async take(ctx, id) {
      const opened = await cookie.open<{ id: string; userId: string; idToken: string }>(ctx)
      cookie.delete(ctx)
      return opened?.id === id ? opened : undefined
    },
  }
}

function table(ctx: Context): RecordTable<LogoutHintRow> {
  return ctx.records('logoutHint')
}
