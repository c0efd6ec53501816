/** What failures mean: a wrong proof, a rejection, or a fault of a server. */
import { type AuthError } from 'authkernel/kernel'
import { overloadOf } from 'authkernel/kernel/protocols'
import { anonymous, type Fact, type Message, errorCode, optionalText } from './message.ts'

/** Facts of `signInFailed`. */
export function factsOfFailedSignIn({ provider, error, user: person, account, tried }: Message): Fact | Fact[] {
  const fault = error as AuthError
  const kind = refusals[fault.type] ?? (fault.cause?.['retryAfter'] === undefined || overloadOf(fault) !== undefined ? undefined : 'limit')
  const { type: method } = (account ?? {}) as { type?: string }
  const whom = (person as { id?: unknown } | undefined)?.id
  const storeFaults = storeFault(fault)
  const common = { reason: errorCode(fault), provider: optionalText(provider), method, actor: anonymous, typed: optionalText(tried) }
  const subject = whom === undefined || whom === null ? {} : { subject: { type: 'user', id: String(whom) } }
  if (kind) return { name: 'request.refused', outcome: 'denied', ...common, target: { kind } }
  if (fault.type === 'AccountNotLinked' || fault.type === 'OAuthAccountNotLinked')
    return { name: 'account.linkRefused', outcome: 'denied', ...common, ...subject }
  const name = isWrongFactor(fault) ? 'factor.failed' : 'signIn.failed'
  return [{ name, outcome: fault.status === 403 ? 'denied' : 'failure', ...common, ...subject }, ...storeFaults]
}

/** Facts of `refused`. */
export function factsOfRefusal({ reason, route, error }: Message): Fact | Fact[] {
  const fault = error as AuthError
  const kind = refusals[fault.type] ?? reasons[String(reason)] ?? optionalText(reason)
  const { method, path } = (route ?? {}) as { method?: string; path?: string }
  // A server that fails has not refused the request.
  const broken = reason === fault.type && fault.status >= 500
  if (broken)
    return [
      {
        name: fault.type === 'SignOutError' ? 'signOut.failed' : 'request.failed',
        outcome: 'failure',
        reason: errorCode(fault),
        actor: anonymous,
        target: { route: path && `${method} ${path}` },
      },
      ...storeFault(fault),
    ]
  return {
    name: kind === 'signal' ? 'signal.refused' : 'request.refused',
    outcome: 'denied',
    reason: errorCode(fault),
    actor: anonymous,
    target: { kind, route: path && `${method} ${path}` },
  }
}

const refusals: Readonly<Record<string, string>> = {
  TooManyRequests: 'limit',
  CaptchaRequired: 'captcha',
  CaptchaUnavailable: 'captcha',
  MissingCSRF: 'csrf',
  InvalidCheck: 'replay',
  SignalRefused: 'signal',
}
const reasons: Readonly<Record<string, string>> = { MissingCSRF: 'csrf', TooManyRequests: 'limit', UntrustedHost: 'host' }

const wrongFactors = new Set(['WrongSecondFactor', 'TooManySecondFactors'])
function isWrongFactor({ type }: AuthError): boolean {
  return wrongFactors.has(type)
}

/** A failure of the store, wherever in the chain of causes. */
function storeFault(fault: AuthError): Fact[] {
  let error: unknown = fault
  for (let depth = 0; depth < 5 && error instanceof Error; depth++) {
    const { type, cause } = error as AuthError
    const { method, err } = Object(cause) as { method?: unknown; err?: unknown }
    if (type === 'AdapterError')
      return [
        { name: 'store.fault', outcome: 'failure', reason: type, actor: { type: 'system' }, target: { method: optionalText(method) } },
      ]
    error = err
  }
  return []
}
