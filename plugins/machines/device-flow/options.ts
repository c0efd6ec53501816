/** Options of `deviceFlowPlugin`, with their defaults, and their checks. */
import { type AnyContext, assertOptions, AuthError, type Awaitable } from 'authkernel/kernel'

/** What `deviceFlowPlugin` takes. */
export interface DeviceFlowOptions {
  /** Ids of the apps of bearerPlugin that may use it. */
  apps: readonly string[]
  /** What a device gets at most; default: the scopes of its app. Keep it small: the user who approves may have been tricked. */
  scopes?: readonly string[] | undefined
  /** Demands a fresh proof of the user who approves: `maxAge` in seconds, default 300; `mfa` for two factors. Default: none. */
  stepUp?: { maxAge?: number | undefined; level?: 'mfa' | undefined } | undefined
  /** Where an address is, in words, for the page; default: nothing. */
  place?: ((question: { address: string; ctx: AnyContext }) => Awaitable<string | undefined>) | undefined
}
/** With the defaults in place. */
export interface ResolvedOptions extends Pick<DeviceFlowOptions, 'scopes' | 'place'> {
  apps: ReadonlySet<string>
  stepUp: { maxAge: number; level: 'mfa' | undefined } | undefined
}

/** Throws AuthError that names the option. */
export function resolveOptions(options: DeviceFlowOptions): ResolvedOptions {
  assertOptions('Plugin "device-flow"', options, { apps: true, scopes: true, stepUp: true, place: true })
  const { apps, scopes, stepUp, place } = options
  assertOptions('Plugin "device-flow"', stepUp, { maxAge: true, level: true }, 'stepUp')
  const refuse = (what: string): never => {
    throw new AuthError(`Plugin "device-flow": ${what}`)
  }
  if (!Array.isArray(apps) || apps.length === 0) refuse('`apps` is missing. List the ids of the apps that may use it.')
  const { maxAge = 300, level } = stepUp ?? {}
  if (!(maxAge >= 10 && maxAge <= 86_400)) refuse('`stepUp.maxAge` must be 10 to 86400 seconds.')
  return { apps: new Set(apps), scopes, place, stepUp: stepUp && { maxAge, level } }
}
