/** What parked logins need at compile: a record, and cookies. */
import type { CookieHandle, PendingList } from '../contract/cookie.ts'
import type { RecordSpec } from '../contract/records.ts'
import { createCookie, createPending } from '../http/cookie-handle.ts'

/** A parked login in records. */
export interface ParkedRow extends Record<string, unknown> {
  by: string
  login: unknown
  data: unknown
  subject: string | null
  owner: string | null
  access: unknown
  expires: Date
}
/** The record of parked logins. */
export const parkedRecord: RecordSpec<ParkedRow> = {
  fields: {
    by: { type: 'string', max: 64 },
    login: { type: 'json', sealed: true, unreadable: 'absent' },
    data: { type: 'json', sealed: true, optional: true },
    subject: { type: 'text', sealed: true, optional: true },
    owner: { type: 'string', optional: true },
    access: { type: 'json', optional: true },
    expires: { type: 'date' },
  },
  owner: { field: 'owner', of: 'user' },
  expires: 'expires',
  id: 'given',
}
/** Seconds that a login may wait. */
export const maxSeconds = 3_600

/** Names of rows, for this browser. */
export const handles: PendingList<{ handle: string }> = /* @__PURE__ */ createPending<{ handle: string }>('parked', {
  seconds: maxSeconds,
  cookie: { path: 'base' },
})
/** Without records: whole logins. */
export const slots: readonly CookieHandle[] = ['parked-a', 'parked-b'].map((name) => createCookie(name, { path: 'base', chunked: true }))
/** Cookies that parked logins need. */
export const parkedCookies: readonly CookieHandle[] = [handles.cookie, ...slots]
