/** What too many requests are answered with. */
import { AuthError, type ErrorRow } from 'authkernel/kernel'
import type { LimitRuleFull } from './rules.ts'

/** More requests than a rule permits. `cause.retryAfter` is in seconds, `cause.rule` the name of the rule. */
export class TooManyRequests extends AuthError {
  static override type = 'TooManyRequests'
  static override row: ErrorRow = { page: 'signIn', status: 429, visible: true }
}

/** The error with the fields of the answer: Retry-After (RFC 9110 section 10.2.3) and RateLimit (draft-ietf-httpapi-ratelimit-headers). */
export function tooMany({ name, max, seconds }: LimitRuleFull, retryAfter: number): TooManyRequests {
  const headers = {
    'Retry-After': String(retryAfter),
    'RateLimit-Policy': `"${name}";q=${max};w=${seconds}`,
    RateLimit: `"${name}";r=0;t=${retryAfter}`,
  }
  return new TooManyRequests(`Rule "${name}" of limitsPlugin permits ${max} in ${seconds} s.`, {
    cause: { rule: name, retryAfter, headers },
  })
}
