/** Options of `addressPlugin`, with their defaults, and what is rejected. */
import { assertOptions, AuthError, type Awaitable, type Context, type User } from 'authkernel/kernel'

/** What `addressPlugin` takes. */
export interface AddressOptions {
  /** Whether a user may have an address; default: any. Asked when the change is asked for, and again when it is done. */
  allow?: ((change: { user: User; to: string }, ctx: Context) => Awaitable<boolean>) | undefined
  /** Seconds after which a user proves again who they are before an address may be changed; default 300, 30 to 3600. */
  maxAge?: number | undefined
  /** Days in which the former address can take the change back; default 7, 1 to 30. */
  undoDays?: number | undefined
}
/** With the defaults in place. */
export interface ResolvedOptions {
  allow(change: { user: User; to: string }, ctx: Context): Awaitable<boolean>
  maxAge: number
  undoDays: number
}
/** Throws AuthError that names the option. */
export function resolveOptions(options: AddressOptions): ResolvedOptions {
  assertOptions('Plugin "address"', options, { allow: true, maxAge: true, undoDays: true })
  const { allow = () => true, maxAge = 300, undoDays = 7 } = options
  const refuse = (what: string): never => {
    throw new AuthError(`Plugin "address": ${what}`)
  }
  if (typeof allow !== 'function') refuse('`allow` must be a function that answers whether a user may have an address.')
  if (!(maxAge >= 30 && maxAge <= 3600)) refuse('`maxAge` must be 30 to 3600 seconds.')
  if (!(undoDays >= 1 && undoDays <= 30)) refuse('`undoDays` must be 1 to 30.')
  return { allow, maxAge, undoDays }
}
