/** The records of second factors. Each row names the user as `login.person` does, so that users without a row in `users` have factors too. */
import type { RecordSpec } from 'authkernel/kernel'

/** A factor of a user. */
export interface FactorRow {
  person: string
  userId: string | null
  kind: string
  /** Sealed: the secret of a TOTP factor. */
  secret: string | null
  /** False until the first right code. */
  confirmed: boolean
  /** The last time step that was accepted. */
  step: number
  created: Date
  /** Of a factor that was not confirmed. */
  expires: Date
}
/** What is counted for a user; its id is the SHA-256 of `person`. */
export interface StateRow {
  userId: string | null
  /** Raised when factors change: trusted devices of an older number count no longer. */
  generation: number
  /** Salt of the backup codes. */
  salt: string
  failures: number
  /** When the first of them happened. */
  since: Date
  /** No code counts before. */
  until: Date
  /** An administrator removed the factors: the address must be proved before new ones. */
  proveAddress: boolean
}
/** A backup code: its slow hash. */
export interface BackupCodeRow {
  person: string
  userId: string | null
  hash: string
}
/** A browser that is not asked for a while. */
export interface TrustedDeviceRow {
  person: string
  userId: string | null
  /** SHA-256 of the cookie's value. */
  hash: string
  generation: number
  /** `Firefox on Linux`: for the list. */
  label: string
  created: Date
  expires: Date
}
/** A code on its way by mail; its id is the one of the parked login, or of the user. */
export interface MailedCodeRow {
  person: string
  userId: string | null
  digest: string
  expires: Date
}

declare module 'authkernel/kernel' {
  interface Records {
    twoFactor: FactorRow
    twoFactorState: StateRow
    twoFactorBackupCode: BackupCodeRow
    twoFactorDevice: TrustedDeviceRow
    twoFactorMailedCode: MailedCodeRow
  }
}

const person = { type: 'string', max: 255 } as const
const userId = { type: 'string', optional: true } as const
const owner = { field: 'userId', of: 'user' } as const

export const factorTable: RecordSpec<FactorRow> = {
  fields: {
    person,
    userId,
    kind: { type: 'string', max: 32 },
    secret: { type: 'text', optional: true, sealed: true },
    confirmed: { type: 'boolean' },
    step: { type: 'integer', default: 0 },
    created: { type: 'date' },
    expires: { type: 'date' },
  },
  index: [['person', 'created']],
  owner,
  added: 'created',
  expires: 'expires',
}
export const stateTable: RecordSpec<StateRow> = {
  id: 'given',
  fields: {
    userId,
    generation: { type: 'integer' },
    salt: { type: 'string', max: 64, secret: true },
    failures: { type: 'integer' },
    since: { type: 'date' },
    until: { type: 'date' },
    proveAddress: { type: 'boolean' },
  },
  owner,
}
export const backupCodeTable: RecordSpec<BackupCodeRow> = {
  fields: { person, userId, hash: { type: 'string', max: 64, secret: true } },
  unique: [['person', 'hash']],
  owner,
  // They have no date, and a thief may have made new ones.
  added: null,
}
export const deviceTable: RecordSpec<TrustedDeviceRow> = {
  fields: {
    person,
    userId,
    hash: { type: 'string', max: 64, secret: true },
    generation: { type: 'integer' },
    label: { type: 'string', max: 100 },
    created: { type: 'date' },
    expires: { type: 'date' },
  },
  unique: [['hash']],
  index: [['person', 'created']],
  owner,
  added: 'created',
  expires: 'expires',
}
export const mailedCodeTable: RecordSpec<MailedCodeRow> = {
  id: 'given',
  fields: { person, userId, digest: { type: 'string', max: 64, secret: true }, expires: { type: 'date' } },
  owner,
  added: null,
  expires: 'expires',
}

/** Later than any date that matters, and within the range that every database holds. */
export const never: Date = new Date(Date.UTC(9999, 0, 1))
