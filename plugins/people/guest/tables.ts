/** The record of guests: who is one, and until when. */
import { type RecordSpec, sha256, toHex } from 'authkernel/kernel'

/** A row of `guest`. The request that takes it hands the data of the guest over, or deletes it. */
export interface GuestRow {
  userId: string
  idleUntil: Date
}
declare module 'authkernel/kernel' {
  interface Records {
    guest: GuestRow
  }
}
// Where hosts add theirs: TypeScript loses one of two augmentations that come by different modules.
declare module 'authkernel' {
  interface Session {
    /** There for a user who has not signed in. */
    guest?: true
  }
  interface PluginSessionFields {
    guest: 'guest'
  }
}
/** Id of the provider that such sessions begin with. */
export const provider = 'guest'
/** Kind of such sessions: what tells them from all others, also where the record is lost or this plugin is not in use. */
export const kind = 'guest'

export const guestTable: RecordSpec<GuestRow> = {
  id: 'given',
  // No `expires`: an expired row would be gone before its user is.
  fields: { userId: { type: 'string' }, idleUntil: { type: 'date' } },
  index: [['idleUntil'], ['userId']],
  owner: 'user',
}

/** The id of a guest's row. */
export async function guestId(userId: string): Promise<string> {
  return toHex(await sha256(userId))
}
