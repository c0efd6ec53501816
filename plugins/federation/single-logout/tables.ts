/** Records of ID tokens that wait for a sign-out, and of logout tokens that came. */
import type { RecordSpec } from 'authkernel/kernel'

declare module 'authkernel/kernel' {
  interface Records {
    logoutHint: LogoutHintRow
    logoutToken: LogoutTokenRow
  }
}

/** One row of the record that keeps the ID token of a session until sign-out. */
export interface LogoutHintRow extends Record<string, unknown> {
  userId: string
  idToken: string
  expires: Date
}

/** Its id is the id of the session, or of a sign-out that goes on. */
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

/** A token that came. Its id is made of provider and `jti`. */
export interface LogoutTokenRow extends Record<string, unknown> {
  token: string
  at: Date
  expires: Date
}

export const logoutTokenTable: RecordSpec<LogoutTokenRow> = {
  fields: { token: { type: 'string', max: 64 }, at: { type: 'date' }, expires: { type: 'date' } },
  expires: 'expires',
  id: 'given',
}
