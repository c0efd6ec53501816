/** Options of `guestPlugin`. */
import type { Awaitable, Context, User } from 'authkernel/kernel'

/** What `guestPlugin` takes. */
export interface GuestOptions {
  /**
   * Hands over what a guest has, for example a basket; called once, before the guest is deleted. When it throws, the error is logged, the person is
   * signed in all the same, and the user of the guest stays.
   */
  convert?: ((message: { guest: User; user: User; ctx: Context }) => Awaitable<void>) | undefined
  /** Seconds without a visit after which a guest is gone; default 2592000 (30 days). */
  idle?: number | undefined
  /** New guests per client address and hour; default 20. */
  max?: number | undefined
}
/** The options with their defaults. */
export interface ResolvedOptions {
  convert: GuestOptions['convert']
  idle: number
  max: number
}
