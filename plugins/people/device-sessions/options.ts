/** Options of `deviceSessionsPlugin`. */
import { assertOptions, AuthError, type User } from 'authkernel/kernel'

/** What `deviceSessionsPlugin` takes. */
export interface DeviceSessionsOptions {
  /**
   * Device Bound Session Credentials: browsers that can keep a key bind the session to it. `optional`: other browsers have plain sessions. `required`: a session that
   * was not bound within 60 seconds ends. Default: off. Experimental: the protocol is a draft of the W3C.
   */
  bind?: 'optional' | 'required' | undefined
  /** Seconds that the cookie of a bound session lives; default 300, at most 3600. */
  cookieAge?: number | undefined
  /** Seconds without a request after which a session ends; default: none. */
  idle?: number | undefined
  /** Seconds after which a session ends however it is used; default: none. */
  absolute?: number | undefined
  /** Sessions of one user at a time; the oldest end. Default: any number. */
  max?: number | undefined
  /** Whether users get a mail when a user signs in from a new browser; default true where mails can be sent. A function decides for each. */
  notice?: boolean | ((question: { user: User }) => boolean) | undefined
}
/** The options with their defaults. */
export interface ResolvedOptions {
  bind: 'optional' | 'required' | undefined
  cookieAge: number
  idle: number | undefined
  absolute: number | undefined
  max: number | undefined
  notice: (question: { user: User }) => boolean
}

/** Throws AuthError that names the option. */
export function resolveOptions(options: DeviceSessionsOptions): ResolvedOptions {
  assertOptions('Plugin "device-sessions"', options, { bind: true, cookieAge: true, idle: true, absolute: true, max: true, notice: true })
  const { bind, cookieAge = 300, idle, absolute, max, notice = true } = options
  const wrong = (what: string): AuthError => new AuthError(`Plugin "device-sessions": ${what}.`)
  if (bind !== undefined && bind !== 'optional' && bind !== 'required') throw wrong('`bind` must be "optional" or "required"')
  if (!(cookieAge >= 60 && cookieAge <= 3600)) throw wrong('`cookieAge` must be 60 to 3600 seconds')
  for (const [name, value] of Object.entries({ idle, absolute }))
    if (value !== undefined && !(value >= 60)) throw wrong(`\`${name}\` must be at least 60 seconds`)
  if (max !== undefined && !(Number.isInteger(max) && max >= 1)) throw wrong('`max` must be a whole number of at least 1')
  return { bind, cookieAge, idle, absolute, max, notice: typeof notice === 'function' ? notice : () => notice }
}
