/** Options of `passwordsPlugin`, with their defaults, and what is rejected. */
import { assertOptions, AuthError, type Awaitable, type User } from 'authkernel/kernel'
import type { ForeignHash } from './foreign.ts'
import type { Hasher } from './hash.ts'
import { type BreachCheck, pwned } from './known-passwords.ts'

/** What `passwordsPlugin` takes. */
export interface PasswordsOptions {
  /** Formats of other products that stored hashes may have; default none. */
  verify?: readonly ForeignHash[] | undefined
  /** Asked when a password is chosen, beside the list that is built in; default `pwned()`. False: the list alone. */
  breached?: BreachCheck | false | undefined
  /** Whether visitors may register with a password; default true. */
  signUp?: boolean | undefined
  /**
   * Fewest characters of a new password that alone signs in: 8 to 64, default 15 (NIST SP 800-63B-4 section 3.1.1.2). Below 15 guessing gets easier; the
   * breached list and the limits stay.
   */
  minLength?: number | undefined
  /** Who is always asked for a second factor: eight characters are enough for them, else `minLength`. Default: no user. */
  secondFactor?: ((user: User) => Awaitable<boolean>) | undefined
  /** Default: argon2id where `@node-rs/argon2` is installed, else scrypt. */
  algorithm?: 'argon2id' | 'scrypt' | undefined
}
/** With the defaults in place. */
export interface Options {
  verify: readonly ForeignHash[]
  breached: BreachCheck | false
  signUp: boolean
  minLength: number
  secondFactor(user: User): Awaitable<boolean>
  algorithm: 'argon2id' | 'scrypt' | undefined
}

/** Throws AuthError that names the option. */
export function resolveOptions(given: PasswordsOptions): Options {
  assertOptions('Plugin "passwords"', given, {
    verify: true,
    breached: true,
    signUp: true,
    minLength: true,
    secondFactor: true,
    algorithm: true,
  })
  const { verify = [], breached = pwned(), signUp = true, minLength = 15, secondFactor = () => false, algorithm } = given
  const refuse = (what: string): never => {
    throw new AuthError(`Plugin "passwords": ${what}`)
  }
  if (
    !Array.isArray(verify) ||
    verify.some((one: Partial<ForeignHash>) => typeof one?.owns !== 'function' || typeof one.verify !== 'function')
  )
    refuse('`verify` must be a list such as [betterAuthHash()].')
  if (breached !== false && typeof breached !== 'function') refuse('`breached` must be pwned(), a custom function, or false.')
  if (typeof signUp !== 'boolean') refuse('`signUp` must be true or false.')
  if (!Number.isInteger(minLength) || minLength < 8 || minLength > 64) refuse('`minLength` must be a whole number from 8 to 64.')
  if (typeof secondFactor !== 'function') refuse('`secondFactor` must be a function of the user.')
  if (algorithm !== undefined && algorithm !== 'argon2id' && algorithm !== 'scrypt') refuse("`algorithm` must be 'argon2id' or 'scrypt'.")
  return { verify, breached, signUp, minLength, secondFactor, algorithm }
}

/** Made once per plugin. */
export interface Parts {
  options: Options
  hasher: Hasher
}
