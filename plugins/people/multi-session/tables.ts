/** The record of sessions that wait in a browser while another one is used there. */
import { type Context, type CookieHandle, createCookie, type RecordSpec } from 'authkernel/kernel'

/** A row of `waitingSession`. */
export interface WaitingSessionRow {
  userId: string
  /** Cookies that open the session. */
  cookies: string
  expires: Date
}
declare module 'authkernel/kernel' {
  interface Records {
    waitingSession: WaitingSessionRow
  }
}

export const waitingSessionTable: RecordSpec<WaitingSessionRow> = {
  fields: { userId: { type: 'string' }, cookies: { type: 'text', sealed: true, unreadable: 'absent' }, expires: { type: 'date' } },
  index: [['userId']],
  owner: 'user',
  expires: 'expires',
}

export const cookieAge: number = 90 * 86_400
/** Ids of the rows, sealed. */
export const listCookie: CookieHandle = /* @__PURE__ */ createCookie('sessions', { maxAge: cookieAge })

export async function readIds(ctx: Context): Promise<string[]> {
  const ids = (await listCookie.open<{ ids?: unknown }>(ctx))?.ids
  return Array.isArray(ids) ? ids.filter((id): id is string => typeof id === 'string') : []
}
export async function storeIds(ctx: Context, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) listCookie.delete(ctx)
  else listCookie.set(ctx, await listCookie.seal(ctx, { ids: [...ids] }, cookieAge))
}
