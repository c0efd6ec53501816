/** What is kept of a session beside its token: made from a login, and judged by its age where a change needs a fresh proof. */
import type { Facts } from '../contract/context.ts'
import type { ProviderFlow } from '../contract/flow.ts'
import type { Login } from '../contract/login.ts'
import type { Provider } from '../contract/provider.ts'
import type { SessionAttributes } from '../contract/session.ts'
import { sha256, toHex } from '../keys/crypto.ts'

/** `before`: of the session that the login renews. `namesIn`: of the provider's type. */
export function attributesOf(
  login: Login,
  { address, userAgent, at }: Facts,
  before: SessionAttributes | null,
  namesIn?: ProviderFlow<Provider>['namesIn'],
): SessionAttributes {
  const { account, profile, proof, session } = login
  const now = Math.floor(at / 1000)
  // A provider whose clock is ahead proves nothing about the future.
  const timeOf = (time?: number): number => Math.min(time ?? proof.authTime ?? now, now)
  const proved = timeOf()
  const { methods: times = {}, acr: acrTime, factors: factorsTime } = proof.times ?? {}
  const methods = Object.fromEntries(proof.amr.map((method) => [method, timeOf(times[method])]))
  // Each claim has its own time: a later proof by another method makes it no younger.
  const claimed = {
    ...(proof.acr !== undefined && { acr: proof.acr, acrTime: timeOf(acrTime) }),
    ...(proof.factors === 2 && { factorsTime: timeOf(factorsTime) }),
  }
  if (session === 'renew' && before) {
    const factors = before.factors === 2 || proof.factors === 2 ? 2 : 1
    const authTime = proof.amr.length > 0 ? proved : before.authTime
    // A provider may have begun another session for the step-up: its sign-out names that one.
    const said = { ...claimed, ...(proof.sid !== undefined && { sid: proof.sid }) }
    return { ...before, ...said, authTime, methods: { ...before.methods, ...methods }, factors }
  }
  const { sub = account.providerAccountId, sid } = { ...namesIn?.(account, profile), ...proof }
  const made: { -readonly [K in keyof SessionAttributes]: SessionAttributes[K] } = {
    provider: account.provider,
    sub,
    authTime: proved,
    methods,
    factors: proof.factors ?? 1,
    started: at,
    ...claimed,
  }
  if (sid !== undefined) made.sid = sid
  if (address !== undefined) made.address = address
  if (userAgent !== undefined) made.userAgent = userAgent
  return made
}

/** A provider's name for something, as it is indexed: itself, or its hash where a column would not hold it. */
export async function indexedName(name: string): Promise<string> {
  return /^[\x21-\x7e]{1,200}$/.test(name) ? name : `sha256:${toHex(await sha256(name))}`
}

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

/** Whether what a session proved is young enough. Judges each claim by its own time: a new proof by another method makes neither an old factor nor an old class fresh. */
export function isFreshProof(attributes: SessionAttributes | null | undefined, { maxAge, level, acr }: ProofDemand, now: Date): boolean {
  // Without a time nothing was proved: another user acts in the session, or it is doubted.
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
