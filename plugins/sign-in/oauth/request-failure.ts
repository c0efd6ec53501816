/** What a failed request did at the provider: whether a token that works once may have been used up. */
import { NetworkError, type OAuthOutcome, OAuthRequestError, redactText } from 'authkernel/kernel'
import { ResponseBodyError, WWWAuthenticateChallengeError } from 'oauth4webapi'
import { Refusal, withoutSecrets } from './failure.ts'
import { TokenRefusal } from './refusal.ts'
import type { OAuthProvider, Secrets } from './types.ts'

// RFC 6749 section 5.2, RFC 9449 section 5 and 8: the server looked at the request and did not act on it.
const unacted = new Set([
  'invalid_client',
  'invalid_request',
  'invalid_scope',
  'unauthorized_client',
  'unsupported_grant_type',
  'temporarily_unavailable',
  'use_dpop_nonce',
  'invalid_dpop_proof',
])
const maxText = 300
const maxWait = 3_600

/** The error of the service. `known`: what came of the request, where the caller knows it. */
export function failedRequest(provider: OAuthProvider, error: unknown, secrets: Secrets, known?: OAuthOutcome): OAuthRequestError {
  const err = withoutSecrets(error, secrets)
  const invalidSignature = isSignatureFault(error)
  const facts = { provider: provider.id, err, invalidToken: error instanceof TokenRefusal || invalidSignature, invalidSignature }
  const message = `A request to provider "${provider.id}" failed: ${err.message}`
  if (known) return new OAuthRequestError(message, { outcome: known, ...facts })
  if (error instanceof NetworkError) return new OAuthRequestError(message, { outcome: error.unsent ? 'unused' : 'unknown', ...facts })
  if (error instanceof WWWAuthenticateChallengeError) return new OAuthRequestError(message, { outcome: 'unused', ...facts })
  if (!(error instanceof ResponseBodyError))
    return new OAuthRequestError(message, { outcome: statusOf(error) === 429 ? 'unused' : 'unknown', ...facts })
  const code = typeof error.error === 'string' ? redactText(error.error, secrets, maxText) : undefined
  const description = typeof error.error_description === 'string' ? redactText(error.error_description, secrets, maxText) : undefined
  const wait = Number(error.response.headers.get('retry-after') ?? Number.NaN)
  return new OAuthRequestError(message, {
    ...facts,
    outcome: outcomeOf(code, error.response.status),
    code,
    ...(description !== undefined && { description }),
    ...(wait >= 0 && { retryAfter: Math.min(wait, maxWait) }),
  })
}

// Of the errors of jose these two are about published keys.
const keyFaults = new Set(['ERR_JWKS_INVALID', 'ERR_JWK_INVALID', 'ERR_JWKS_TIMEOUT'])

/** Whether the token itself is wrong. Otherwise its keys could not be had, and it may be right. */
function isSignatureFault(error: unknown): boolean {
  const { code } = Object(error) as { code?: unknown }
  return typeof code === 'string' && code.startsWith('ERR_J') && !keyFaults.has(code)
}

function outcomeOf(code: string | undefined, status: number): OAuthOutcome {
  if (status === 429) return 'unused'
  if (code === undefined) return 'unknown'
  if (code === 'invalid_grant') return status < 500 ? 'refused' : 'unknown'
  return status === 503 || (status < 500 && unacted.has(code)) ? 'unused' : 'unknown'
}

function statusOf(error: unknown): number | undefined {
  return error instanceof Refusal ? error.status : undefined
}
