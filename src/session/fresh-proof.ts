/** Whether what a session proved is young enough: one rule for all plugins, by method and time. */
import type { SessionAttributes } from '../contract/session.ts'

/** What a change needs. */
export interface ProofDemand {
  /** How many seconds ago the proof may be. */
  maxAge: number
  /** `mfa`: two factors, the second one proved within `maxAge`. Default: any proof. */
  level?: 'mfa' | undefined
  /** Authentication context classes, one of which was proved within `maxAge`. */
  acr?: readonly string[] | undefined
}

// Seconds: a later time is a clock that was moved, and proves nothing.
const skew = 60
// RFC 8176: what a second factor adds. A password, a mailed link or a mailed code that was proved again is no second factor.
const secondFactors: ReadonlySet<string> = new Set(['otp', 'hwk', 'swk', 'mfa', 'sms', 'fpt', 'face', 'pop'])

/** Judges each claim by its own time: a new proof by another method makes neither an old factor nor an old class fresh. */
export function isFreshProof(attributes: SessionAttributes | null | undefined, { maxAge, level, acr }: ProofDemand, now: Date): boolean {
  // A session without a time was proved by nobody: somebody acts in it, or it is doubted.
  if (!attributes || !(attributes.authTime > 0)) return false
  const seconds = Math.floor(now.getTime() / 1000)
  const isYoung = (at: number): boolean => at > 0 && at <= seconds + skew && seconds - at <= maxAge
  if (acr && !(attributes.acr !== undefined && acr.includes(attributes.acr) && isYoung(acrTimeOf(attributes)))) return false
  if (level === 'mfa') return attributes.factors === 2 && isYoung(factorsTimeOf(attributes))
  return isYoung(Math.max(attributes.authTime, ...Object.values(attributes.methods)))
}

// Sessions from before these times were kept.
function acrTimeOf({ acrTime, started }: SessionAttributes): number {
  return acrTime ?? Math.floor(started / 1000)
}

function factorsTimeOf({ factorsTime, methods }: SessionAttributes): number {
  return factorsTime ?? Math.max(0, ...Object.entries(methods).flatMap(([method, at]) => (secondFactors.has(method) ? [at] : [])))
}
