/** ID tokens, kept until the sign-out: in records by the id of the session, else in a sealed cookie that is bound to it. */
import { type Context, type CookieHandle, createCookie, type RecordTable } from 'authkernel/kernel'
import type { LogoutHintRow } from './tables.ts'

export const hintCookie: CookieHandle = /* @__PURE__ */ createCookie('logout-hint', { path: 'base', chunked: true })

/** Where ID tokens wait. */
export interface Hints {
  put(ctx: Context, id: string, hint: { userId: string; idToken: string }, seconds: number): Promise<void>
  /** Removes and answers it; undefined: there is none. */
  take(ctx: Context, id: string): Promise<{ userId: string; idToken: string } | undefined>
}

/** In records; with a cookie, in that. */
export function createHints(cookie: CookieHandle | undefined): Hints {
  return cookie ? createCookieHints(cookie) : inRecords
}

const inRecords: Hints = {
  async put(ctx, id, hint, seconds) {
    await hintRows(ctx).put({ id, ...hint, expires: new Date(ctx.runtime.now() + seconds * 1000) })
  },
  async take(ctx, id) {
    return (await hintRows(ctx).take(id)) ?? undefined
  },
}

function createCookieHints(cookie: CookieHandle): Hints {
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

function hintRows(ctx: Context): RecordTable<LogoutHintRow> {
  return ctx.records('logoutHint')
}
