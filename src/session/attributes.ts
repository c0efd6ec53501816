/** What is kept of a session beside its token: made from a login, by the kernel alone. */
import type { Facts } from '../contract/context.ts'
import type { ProviderFlow } from '../contract/flow.ts'
import type { Login } from '../contract/login.ts'
import type { SessionAttributes } from '../contract/session.ts'

/** `before`: of the session that the login renews. `namesIn`: of the provider's type. */
export function attributesOf(
  login: Login,
  { address, userAgent, at }: Facts,
  before: SessionAttributes | null,
  namesIn?: ProviderFlow<never>['namesIn'],
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
