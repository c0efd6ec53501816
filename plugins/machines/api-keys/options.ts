/** Options of `apiKeysPlugin`, with their defaults, and their checks. */
import { assertOptions, AuthError, type AnyContext, type Awaitable } from 'authkernel/kernel'
import type { ApiKey } from './tables.ts'

/** How often a key may be used. */
export interface KeyLimit {
  max: number
  /** Length of the window in seconds. */
  seconds: number
}
/** What `apiKeysPlugin` takes. */
export interface ApiKeysOptions {
  /** The beginning of every key, 2 to 16 of `a-z0-9`; default `ak`. Your own brand tells scanners whose key leaked. */
  prefix?: string | undefined
  /** The second part, for keys that were made without one; default `live`. */
  env?: string | undefined
  /** Scopes that keys may have; default: any text of at most 100 characters. */
  scopes?: readonly string[] | undefined
  /**
   * Whether the owner has a right that a key carries, asked at each use and when a key is made. Scopes that the owner lost are left out of
   * the session. Default: every scope.
   */
  can?: ((question: { key: ApiKey; scope: string; ctx: AnyContext }) => Awaitable<boolean>) | undefined
  /** Longest life of a key in seconds; default: no limit. */
  maxAge?: number | undefined
  /** Seconds that a rotated key lives on; default 86400 (24 hours). */
  overlap?: number | undefined
  /** Limit of keys that were made without one; default: none. */
  limit?: KeyLimit | undefined
  /** Live keys per owner; default 100. */
  max?: number | undefined
  /**
   * Highest age in seconds of the user's proof when a request makes or replaces a key; 1 to 3600, default 300. If the user has a second factor, that
   * factor must have been proved. Calls that name the owner need no proof.
   */
  proofAge?: number | undefined
  /** What a reset of the owner's password does to keys: `end` (default) revokes them, because an attacker who knew the password may have made one. */
  onPasswordReset?: 'end' | 'keep' | undefined
  /** Adds routes below `/api-keys` for the user who is signed in; default false. */
  routes?: boolean | undefined
  /** Adds a section to the account page, where users make, replace and revoke their keys; default false. */
  accountSection?: boolean | undefined
}
/** With the defaults in place. */
export interface ResolvedOptions extends ApiKeysOptions {
  prefix: string
  env: string
  overlap: number
  max: number
  proofAge: number
  onPasswordReset: 'end' | 'keep'
}

/** Throws AuthError that names the option. */
export function resolveOptions(options: ApiKeysOptions): ResolvedOptions {
  assertOptions('Plugin "api-keys"', options, {
    prefix: true,
    env: true,
    scopes: true,
    can: true,
    maxAge: true,
    overlap: true,
    limit: true,
    max: true,
    onPasswordReset: true,
    routes: true,
    accountSection: true,
    proofAge: true,
  })
  assertOptions('Plugin "api-keys"', options.limit, { max: true, seconds: true }, 'limit')
  const resolved = {
    ...options,
    prefix: options.prefix ?? 'ak',
    env: options.env ?? 'live',
    overlap: options.overlap ?? 86_400,
    max: options.max ?? 100,
    proofAge: options.proofAge ?? 300,
    onPasswordReset: options.onPasswordReset ?? ('end' as const),
  }
  const refuse = (what: string): never => {
    throw new AuthError(`Plugin "api-keys": ${what}`)
  }
  if (!/^[a-z0-9]{2,16}$/.test(resolved.prefix)) refuse('`prefix` must be 2 to 16 characters of a-z and 0-9.')
  if (!isEnv(resolved.env)) refuse('`env` must be 1 to 16 characters of a-z and 0-9.')
  if (!(resolved.overlap >= 0 && resolved.overlap <= 30 * 86_400)) refuse('`overlap` must be 0 to 2592000 seconds.')
  if (!['end', 'keep'].includes(resolved.onPasswordReset)) refuse('`onPasswordReset` must be "end" or "keep".')
  if (!Number.isInteger(resolved.max) || resolved.max < 1) refuse('`max` must be a whole number of at least 1.')
  if (!(resolved.proofAge >= 1 && resolved.proofAge <= 3600)) refuse('`proofAge` must be 1 to 3600 seconds.')
  if (options.limit && !isLimit(options.limit)) refuse('`limit` must have `max` and `seconds`, whole numbers of at least 1.')
  return resolved
}

export function isEnv(env: string): boolean {
  return /^[a-z0-9]{1,16}$/.test(env)
}

export function isLimit({ max, seconds }: KeyLimit): boolean {
  return Number.isInteger(max) && max >= 1 && Number.isInteger(seconds) && seconds >= 1
}
