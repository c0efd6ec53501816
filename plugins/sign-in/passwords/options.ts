/** Options of `passwordsPlugin`, with their defaults, and what is refused. */
import { AuthError, type Awaitable, type User } from 'authkernel/kernel'
import type { ForeignHash } from './foreign.ts'
import { type Breached, pwned } from './pwned.ts'

/** What `passwordsPlugin` takes. */
export interface PasswordsOptions {
  /** Formats of other products that stored hashes may have; default none. */
  verify?: readonly ForeignHash[] | undefined
  /** Asked when a password is chosen, beside the list that is built in; default `pwned()`. False: the list alone. */
  breached?: Breached | false | undefined
  /** Whether people may register with a password; default true. */
  signUp?: boolean | undefined
  /** Who is always asked for a second factor: eight characters are enough for them, else 15. Default: nobody. */
  secondFactor?: ((user: User) => Awaitable<boolean>) | undefined
  /** Default: argon2id where `@node-rs/argon2` is installed, else scrypt. */
  algorithm?: 'argon2id' | 'scrypt' | undefined
}
/** With the defaults in place. */
export interface Options {
  verify: readonly ForeignHash[]
  breached: Breached | false
  signUp: boolean
  secondFactor(user: User): Awaitable<boolean>
  algorithm: 'argon2id' | 'scrypt' | undefined
}

/** Throws AuthError that names the option. */
export function resolveOptions(given: PasswordsOptions): Options {
  const { verify = [], breached = pwned(), signUp = true, secondFactor = () => false, algorithm } = given
  const refuse = (what: string): never => {
    throw new AuthError(`Plugin "passwords": ${what}`)
  }
  if (
    !Array.isArray(verify) ||
    verify.some((one: Partial<ForeignHash>) => typeof one?.owns !== 'function' || typeof one.verify !== 'function')
  )
    refuse('`verify` must be a list such as [betterAuthHash()].')
  if (breached !== false && typeof breached !== 'function') refuse('`breached` must be pwned(), a function of your own, or false.')
  if (typeof signUp !== 'boolean') refuse('`signUp` must be true or false.')
  if (typeof secondFactor !== 'function') refuse('`secondFactor` must be a function of the user.')
  if (algorithm !== undefined && algorithm !== 'argon2id' && algorithm !== 'scrypt') refuse("`algorithm` must be 'argon2id' or 'scrypt'.")
  return { verify, breached, signUp, secondFactor, algorithm }
}
