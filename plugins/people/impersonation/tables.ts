/** The record of impersonations, and who acts. */
import { type Context, type CookieHandle, createCookie, type RecordSpec } from 'authkernel/kernel'

/** A row of `impersonation`. */
export interface ImpersonationRow {
  /** Whom the administrator acts as. */
  userId: string
  adminId: string
  reason: string
  /** Cookies that open the session of the administrator. */
  cookies: string
  until: Date
  /** Until then the own session can be restored. */
  expires: Date
}
/** Who acts, as clients see it. */
export interface Actor {
  id: string
  name: string | null
  reason: string
  /** ISO 8601: when it ends. */
  until: string
}
declare module 'authkernel/kernel' {
  interface Records {
    impersonation: ImpersonationRow
  }
}
// Where hosts add theirs: TypeScript loses one of two augmentations that come by different modules.
declare module 'authkernel' {
  interface Session {
    /** There when an administrator acts as the user of this session. */
    actor?: Actor
  }
  interface PluginSessionFields {
    actor: 'impersonation'
  }
}

/** Id of the provider that such sessions begin with. */
export const provider = 'impersonation'
/** Kind of such sessions: what tells them from all others, also where the record is lost or this plugin is not in use. */
export const kind = 'acting'

export const impersonationTable: RecordSpec<ImpersonationRow> = {
  id: 'given',
  fields: {
    userId: { type: 'string' },
    adminId: { type: 'string' },
    reason: { type: 'string', max: 500 },
    cookies: { type: 'text', sealed: true, unreadable: 'absent' },
    until: { type: 'date' },
    expires: { type: 'date' },
  },
  index: [['userId']],
  owner: 'user',
  expires: 'expires',
}

/** Seconds that the own session waits. */
export const cookieAge = 86_400
/** Names the record, sealed: the acting session ends by itself, and the own one can be restored after it. */
export const returnCookie: CookieHandle = /* @__PURE__ */ createCookie('impersonation', { maxAge: cookieAge })

/** Id of the record that the browser may return by; undefined: none. */
export async function readReturnId(ctx: Context): Promise<string | undefined> {
  const id = (await returnCookie.open<{ id?: unknown }>(ctx))?.id
  return typeof id === 'string' ? id : undefined
}
