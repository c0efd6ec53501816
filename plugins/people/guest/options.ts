/** Options of `guestPlugin`. */
import { assertOptions, AuthError, type Awaitable, type Context, type User } from 'authkernel/kernel'

/** What `guestPlugin` takes. */
export interface GuestOptions {
  /**
   * Hands over what a guest has, for example a basket; called once, before the guest is deleted. When it throws, the error is logged, the user is
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

/** Throws AuthError that names the option. */
export function resolveOptions(options: GuestOptions): ResolvedOptions {
  assertOptions('Plugin "guest"', options, { convert: true, idle: true, max: true })
  const { convert, idle = 30 * 86_400, max = 20 } = options
  if (!(idle >= 3600 && idle <= 400 * 86_400)) throw new AuthError('Plugin "guest": `idle` must be 3600 to 34560000 seconds.')
  if (!Number.isInteger(max) || max < 1) throw new AuthError('Plugin "guest": `max` must be a whole number of at least 1.')
  return { convert, idle, max }
}
