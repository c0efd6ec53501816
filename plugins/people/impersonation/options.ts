/** Options of `impersonationPlugin`. */
import type { Awaitable, Context, User } from 'authkernel/kernel'

/** What `impersonationPlugin` takes. */
export interface ImpersonationOptions {
  /**
   * Whether `admin` may act as `user`; asked at the start and at every use, with what is stored at that moment. Anything but true is no. Say here that
   * nobody acts as an equal or higher role.
   */
  can: (question: { admin: User; user: User; ctx: Context }) => Awaitable<boolean>
  /** How many seconds ago the administrator may have proved who they are; default 300. */
  proofAge?: number | undefined
}
