/** Options of `twoFactorPlugin`, with their defaults, and their checks. */
import { assertOptions, AuthError, type Awaitable, type User } from 'authkernel/kernel'
import type { TrustedDevices } from './devices.ts'
import type { Factor } from './factors.ts'

/** What `twoFactorPlugin` takes. */
export interface TwoFactorOptions {
  /** Kinds that users may use; default `[totp()]`. */
  factors?: readonly Factor[] | undefined
  /** Who must have a factor: they enrol one at the next sign-in. Default: no user. */
  required?: ((user: User) => Awaitable<boolean>) | undefined
  /** The name of the site in authenticator apps; default: its host. */
  issuer?: string | undefined
  /** Browsers that are not asked again for a while: `true`, or `{ days, max }`. Default false. */
  trustedDevices?: boolean | Partial<TrustedDevices> | undefined
  /** Seconds after which factors may be changed only once they were proved again; default 300. */
  maxAge?: number | undefined
}
/** With the defaults in place. */
export interface Options {
  factors: readonly Factor[]
  isRequired(user: User): Awaitable<boolean>
  issuer: string | undefined
  trustedDevices: TrustedDevices | undefined
  maxAge: number
}

/** Throws AuthError that names the option. */
export function resolveOptions(given: TwoFactorOptions, defaults: readonly Factor[]): Options {
  assertOptions('Plugin "two-factor"', given, { factors: true, required: true, issuer: true, trustedDevices: true, maxAge: true })
  if (typeof given.trustedDevices === 'object')
    assertOptions('Plugin "two-factor"', given.trustedDevices, { days: true, max: true }, 'trustedDevices')
  const { factors = defaults, required = () => false, issuer, trustedDevices = false, maxAge = 300 } = given
  const refuse = (what: string): never => {
    throw new AuthError(`Plugin "two-factor": ${what}`)
  }
  if (!Array.isArray(factors) || !factors.some((factor) => factor.kind === 'totp' || factor.kind === 'passkey'))
    refuse('`factors` must have totp() or passkey(): an email code alone is no second factor.')
  if (typeof required !== 'function') refuse('`required` must be a function of the user.')
  if (!(maxAge >= 30 && maxAge <= 3600)) refuse('`maxAge` must be 30 to 3600 seconds.')
  const { days = 30, max = 10 } = typeof trustedDevices === 'object' ? trustedDevices : {}
  if (!(days > 0 && days <= 365) || !Number.isInteger(max) || max < 1)
    refuse('`trustedDevices` must have `days` of 1 to 365 and a whole `max`.')
  return { factors, isRequired: required, issuer, maxAge, trustedDevices: trustedDevices === false ? undefined : { days, max } }
}
