/** The records: invitations, requests of the waitlist, who came in by an invitation, and passes for mails that are opened in another browser. */
import { type RecordSpec, type Row, sha256, toHex } from 'authkernel/kernel'

/** A row of `admissionInvitation`. */
export interface InvitationRow {
  /** Digest of the code. */
  code: string
  /** The only address that it applies to, in canonical form; null: for any. */
  email: string | null
  note: string | null
  /** How many users it lets in. */
  uses: number
  /** How many more. */
  left: number
  /** Id of the user who made it; null: the host's own code. */
  by: string | null
  created: Date
  expires: Date
}
/** A row of `admissionRequest`. */
export interface RequestRow {
  email: string
  /** `declined` rows stay until they expire, so that a second request changes nothing. */
  state: 'waiting' | 'declined'
  /** Language of the mails. */
  lang: string | null
  created: Date
  expires: Date
}
/** A row of `admittedUser`: by which invitation a user came in. */
export interface AdmittedRow {
  userId: string
  invitationId: string
  /** Who made the invitation, a stored user or null. */
  by: string | null
  at: Date
}
/** A row of `admissionPass`: a code was shown when a mail to this address was requested. The mail may be opened in a browser without the code. */
export interface PassRow {
  invitationId: string
  expires: Date
}

declare module 'authkernel/kernel' {
  interface Records {
    admissionInvitation: InvitationRow
    admissionRequest: RequestRow
    admittedUser: AdmittedRow
    admissionPass: PassRow
  }
}

const id = { type: 'string', max: 64 } as const
const email = { type: 'string', max: 254 } as const
const date = { type: 'date' } as const

export const invitationTable: RecordSpec<InvitationRow> = {
  fields: {
    code: id,
    email: { ...email, optional: true },
    note: { type: 'string', max: 200, optional: true },
    uses: { type: 'integer' },
    left: { type: 'integer' },
    by: { type: 'string', optional: true },
    created: date,
    expires: date,
  },
  unique: [['code']],
  index: [['created'], ['email', 'created']],
  expires: 'expires',
}
export const requestTable: RecordSpec<RequestRow> = {
  fields: { email, state: { type: 'string', max: 16 }, lang: { type: 'string', max: 35, optional: true }, created: date, expires: date },
  unique: [['email']],
  index: [['state', 'created']],
  expires: 'expires',
}
export const admittedTable: RecordSpec<AdmittedRow> = {
  fields: { userId: { type: 'string' }, invitationId: id, by: { type: 'string', optional: true }, at: date },
  unique: [['userId']],
  owner: 'user',
}
export const passTable: RecordSpec<PassRow> = {
  id: 'given',
  fields: { invitationId: id, expires: date },
  expires: 'expires',
}

/** The id of the pass of an address. */
export async function passId(address: string): Promise<string> {
  return toHex(await sha256(address))
}

/** An invitation as administrators see it. Its code was shown once. */
export interface Invitation {
  id: string
  /** Null: for any address. */
  email: string | null
  note: string | null
  uses: number
  left: number
  by: string | null
  created: Date
  expires: Date
}
/** A request of the waitlist. */
export interface WaitlistRequest {
  id: string
  email: string
  state: 'waiting' | 'declined'
  created: Date
}

export function toInvitation({ id: rowId, email: address, note, uses, left, by, created, expires }: Row<InvitationRow>): Invitation {
  return { id: rowId, email: address, note, uses, left, by, created, expires }
}

export function toRequest({ id: rowId, email: address, state, created }: Row<RequestRow>): WaitlistRequest {
  return { id: rowId, email: address, state, created }
}
