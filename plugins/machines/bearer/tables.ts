/** The records of codes and app sessions. */
import type { RecordSpec, Row, SessionAttributes, StampOfAccess } from 'authkernel/kernel'

/** A row of `appSession`: one app of one user, from sign-in to sign-out. It is the family of its refresh tokens. */
export interface AppSessionRow {
  userId: string
  clientId: string
  scopes: string[]
  /** Access tokens are keyed hashes under it, so that none is stored. Sealed. */
  key: string
  /** Of the refresh token that counts; compared when it is raised. */
  generation: number
  /** SHA-256 of that refresh token. */
  hash: string
  /** Thumbprint of the key that both tokens are bound to (RFC 9449 section 6); null: they are bearer tokens. */
  jkt: string | null
  /** When it was raised. */
  rotated: Date
  /** Of the sign-in, as `indexedName` makes them: what ends sessions by the provider's names finds it. */
  provider: string
  sub: string | null
  sid: string | null
  attributes: SessionAttributes | null
  /** Of the app. */
  address: string | null
  started: Date
  /** The absolute end. */
  ends: Date
  /** The nearer of the absolute end and the idle one. */
  expires: Date
}
export type AppSession = Row<AppSessionRow>

/** A row of `appCode`; its id is a keyed hash of the code. */
export interface AppCodeRow {
  userId: string
  clientId: string
  redirectUri: string
  challenge: string
  /** Thumbprint of the key that the app promised to prove (RFC 9449 section 10); null: none. */
  jkt: string | null
  scopes: string[]
  attributes: SessionAttributes | null
  /** The state of the user's access when the code was made. */
  access: StampOfAccess | null
  /** Too late after that. The row stays for a while, so that a second use is noticed. */
  until: Date
  /** The app session that it gave; empty: none yet. */
  session: string
  expires: Date
}

declare module 'authkernel/kernel' {
  interface Records {
    appSession: AppSessionRow
    appCode: AppCodeRow
  }
}

export const appSessionTable: RecordSpec<AppSessionRow> = {
  id: 'given',
  fields: {
    userId: { type: 'string' },
    clientId: { type: 'string', max: 100 },
    scopes: { type: 'json' },
    key: { type: 'text', sealed: true, unreadable: 'absent' },
    generation: { type: 'integer' },
    hash: { type: 'string', max: 64, secret: true },
    jkt: { type: 'string', max: 43, optional: true },
    rotated: { type: 'date' },
    provider: { type: 'string', max: 128 },
    sub: { type: 'string', max: 200, optional: true },
    sid: { type: 'string', max: 200, optional: true },
    attributes: { type: 'json', optional: true },
    address: { type: 'string', max: 64, optional: true },
    started: { type: 'date' },
    ends: { type: 'date' },
    expires: { type: 'date' },
  },
  index: [
    ['userId', 'started'],
    ['provider', 'sid', 'started'],
    ['provider', 'sub', 'started'],
  ],
  owner: 'user',
  expires: 'expires',
}

export const appCodeTable: RecordSpec<AppCodeRow> = {
  id: 'given',
  fields: {
    userId: { type: 'string' },
    clientId: { type: 'string', max: 100 },
    redirectUri: { type: 'text' },
    challenge: { type: 'string', max: 43, secret: true },
    jkt: { type: 'string', max: 43, optional: true },
    scopes: { type: 'json' },
    attributes: { type: 'json', optional: true },
    access: { type: 'json', optional: true },
    until: { type: 'date' },
    session: { type: 'string', max: 32 },
    expires: { type: 'date' },
  },
  index: [['userId']],
  owner: 'user',
  expires: 'expires',
}
