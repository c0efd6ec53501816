/** Errors of identity providers as codes that pages have a text for: what to fix, and where. */
import type { AuthError } from 'authkernel/kernel'

/** A cause that pages can explain. `sso.fix.<cause>` is its text. */
export type FailureCause =
  | 'replyUrl'
  | 'assignment'
  | 'entityId'
  | 'secretExpired'
  | 'secretWrong'
  | 'consent'
  | 'denied'
  | 'context'
  | 'nameId'
  | 'login'
  | 'proof'
  | 'unknownUser'
  | 'blocked'
  | 'scope'
  | 'failing'
  | 'refused'
  | 'discovery'
  | 'metadata'
  | OwnCheck

type OwnCheck =
  | 'signature'
  | 'audience'
  | 'recipient'
  | 'destination'
  | 'issuer'
  | 'time'
  | 'request'
  | 'replay'
  | 'encryption'
  | 'algorithm'
  | 'subject'
  | 'email'
  | 'domain'

/** What the identity providers write into `error_description`, into statuses and on their pages. Codes that say more come first. */
const patterns: readonly (readonly [FailureCause, RegExp])[] = [
  ['replyUrl', /AADSTS50011|AADSTS500112|redirect_uri_mismatch|redirect_uri|MSIS9224/i],
  ['assignment', /AADSTS50105|not assigned to|app_not_enabled_for_user|app_not_configured_for_user|MSIS9605/i],
  ['entityId', /AADSTS700016|AADSTS650056|AADSTS90002|AADSTS900023|app_not_configured|MSIS3020|MSIS0037/i],
  ['secretExpired', /AADSTS7000222/i],
  ['secretWrong', /AADSTS7000215|AADSTS7000218|invalid_client|unauthorized_client/i],
  ['consent', /AADSTS65001|AADSTS90094|consent_required|admin_policy_enforced/i],
  ['unknownUser', /AADSTS50020|AADSTS50034|AADSTS51004|AADSTS90072|UnknownPrincipal/i],
  ['blocked', /AADSTS5300\d|AADSTS50053|AADSTS50057/i],
  ['proof', /AADSTS50126|AADSTS5007[469]|AADSTS500121|AuthnFailed/i],
  ['context', /NoAuthnContext|AADSTS75011/i],
  ['nameId', /InvalidNameIDPolicy|MSIS7070/i],
  ['scope', /invalid_scope|AADSTS70011/i],
  ['denied', /access_denied|RequestDenied|AADSTS65004/i],
  ['login', /login_required|interaction_required|NoPassive/i],
  ['failing', /\bResponder\b|server_error|temporarily_unavailable/i],
  [
    'refused',
    /\bRequester\b|VersionMismatch|RequestUnsupported|UnsupportedBinding|InvalidAttrNameOrValue|invalid_request|unsupported_response_type/i,
  ],
]

/** Checks of the own side, where the identity provider answered. */
const checks: readonly OwnCheck[] = [
  'signature',
  'audience',
  'recipient',
  'destination',
  'issuer',
  'time',
  'request',
  'replay',
  'encryption',
  'algorithm',
  'subject',
  'email',
  'domain',
]

/** Null: there is no text for it. What the identity provider said counts, never the words of an own message. */
export function explainFailure({ type, cause }: AuthError): FailureCause | null {
  const { check, err, received, error: code, description, stated } = (cause ?? {}) as Readonly<Record<string, unknown>>
  const inner = err instanceof Error ? [err.message, ...Object.values((err as { cause?: object }).cause ?? {})] : []
  const said = [received, code, description, stated, ...inner].filter((one) => typeof one === 'string').join(' ')
  const found = patterns.find(([, pattern]) => pattern.test(said))?.[0]
  return found ?? checks.find((one) => one === check) ?? (type === 'InvalidCheck' ? 'request' : null)
}
