/** The record of impersonations, and who acts. */
import type { RecordSpec } from 'authkernel/kernel'

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
}

/** Id of the provider that such sessions begin with: what tells them from all others. */
export const provider = 'impersonation'

export const impersonationTable: RecordSpec<ImpersonationRow> = {
  id: 'given',
  fields: {
    userId: { type: 'string' },
    adminId: { type: 'string' },
    reason: { type: 'string', max: 500 },
    cookies: { type: 'text', sealed: true },
    until: { type: 'date' },
    expires: { type: 'date' },
  },
  index: [['userId']],
  owner: 'user',
  expires: 'expires',
}
