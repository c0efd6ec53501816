/** Times of sealed values: when they were made, and whether they count now. */
import type { JWT } from '../contract/data.ts'
import type { Runtime } from '../contract/services.ts'
import { randomUUID } from './crypto.ts'

// Nodes of one host may disagree a little; more is not an honest token.
const maxAhead = 60
// The last second of the calendar of JavaScript (ECMA-262 21.4.1.1).
const lastSecond = 8.64e12

/** JSON of a payload with the times of now. */
export function textOfClaims(payload: JWT, seconds: number | null, runtime: Runtime): string {
  const now = Math.floor(runtime.now() / 1000)
  const claims: JWT = { ...payload, iat: now }
  if (seconds !== null) claims.exp = now + seconds
  claims.jti = randomUUID(runtime)
  return JSON.stringify(claims)
}

/**
 * The claims when they count now, else null. `exp` is required, unless `endless`, and exact without a `tolerance` in seconds. `nbf` counts. `iat` is not
 * from the future, unless `endless`: clocks of hosts differ.
 */
export function acceptClaims(claims: unknown, milliseconds: number, endless: boolean, tolerance = 0): JWT | null {
  if (typeof claims !== 'object' || claims === null) return null
  const { exp = endless ? Infinity : undefined, nbf = 0, iat = 0 } = claims as Record<string, unknown>
  if (typeof exp !== 'number' || typeof nbf !== 'number' || typeof iat !== 'number') return null
  // JSON knows numbers that no date can be made of: 1e999 is Infinity.
  if (Math.abs(iat) > lastSecond || (exp > lastSecond && !endless)) return null
  const now = Math.floor(milliseconds / 1000)
  return exp > now - tolerance && nbf <= now + tolerance && (endless || iat <= milliseconds / 1000 + maxAhead) ? (claims as JWT) : null
}
