/**
 * Errors as they may be logged: what went wrong, never a token, a secret or what a provider echoed of them (D10). Those of the service also say whether
 * a token that works once may have been used up.
 */
import { AuthError, CallbackRouteError, NetworkError, type OAuthOutcome, OAuthRequestError, redactText } from 'authkernel/kernel'
import { OAuthCallbackError } from 'authkernel/errors'
import { redactError, type JsonObject } from 'authkernel/kernel/protocols'
import { AuthorizationResponseError, ResponseBodyError, WWWAuthenticateChallengeError } from 'oauth4webapi'
import { Refusal, type Secrets, TokenRefusal } from './errors.ts'
import type { OAuthProvider } from './provider.ts'

const maxText = 300

// RFC 6749 section 5.2, RFC 9449 section 5 and 8: the server looked at the request and did not act on it.
const unactedErrors = new Set([
  'invalid_client',
  'invalid_request',
  'invalid_scope',
  'unauthorized_client',
  'unsupported_grant_type',
  'temporarily_unavailable',
  'use_dpop_nonce',
  'invalid_dpop_proof',
])

// Of the errors of jose these two are about published keys.
const keyFaults = new Set(['ERR_JWKS_INVALID', 'ERR_JWK_INVALID', 'ERR_JWKS_TIMEOUT'])

const maxWait = 3_600

/** What a failing callback ends in (rows 192, 276). */
export function callbackFailure(provider: OAuthProvider, error: unknown, secrets: Secrets): AuthError {
  if (error instanceof AuthError) return error
  if (error instanceof AuthorizationResponseError) return refusedByProvider(provider, error.cause, secrets)
  const facts = error instanceof ResponseBodyError ? errorFacts(error.error, error.error_description, secrets) : {}
  return new CallbackRouteError(`Signing in with provider "${provider.id}" failed.`, {
    cause: { err: withoutSecrets(error, secrets), provider: provider.id, ...facts },
  })
}

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
    return new OAuthRequestError(message, { outcome: refusalStatus(error) === 429 ? 'unused' : 'unknown', ...facts })
  const code = typeof error.error === 'string' ? redactText(error.error, secrets, maxText) : undefined
  const description = typeof error.error_description === 'string' ? redactText(error.error_description, secrets, maxText) : undefined
  const wait = Number(error.response.headers.get('retry-after') ?? Number.NaN)
  return new OAuthRequestError(message, {
    ...facts,
    outcome: oauthOutcome(code, error.response.status),
    code,
    ...(description !== undefined && { description }),
    ...(wait >= 0 && { retryAfter: Math.min(wait, maxWait) }),
  })
}

/** User or provider rejected: `error=access_denied` (row 192). */
export function refusedByProvider(provider: OAuthProvider, params: URLSearchParams, secrets: Secrets): AuthError {
  const facts = errorFacts(params.get('error'), params.get('error_description'), secrets)
  return new OAuthCallbackError(`Provider "${provider.id}" answered with an error.`, { cause: { provider: provider.id, ...facts } })
}

/** A copy without `cause`: the library's errors carry whole responses there. */
export function withoutSecrets(error: unknown, secrets: Secrets): Error {
  const copy = redactError(error, secrets)
  const more = describeMismatch((error as { cause?: unknown } | null)?.cause)
  if (more !== '') copy.message += redactText(more, secrets, maxText)
  return copy
}

// The usual mistake of a new configuration: the issuer or the client id is nearly right.
function describeMismatch(cause: unknown): string {
  const { claim, expected, claims } = Object(cause) as { claim?: unknown; expected?: unknown; claims?: unknown }
  if (claim !== 'iss' && claim !== 'aud') return ''
  return `: expected ${JSON.stringify(expected)}, got ${JSON.stringify((Object(claims) as JsonObject)[claim])}`
}

function errorFacts(error: unknown, description: unknown, secrets: Secrets): { error?: string; description?: string } {
  return {
    ...(typeof error === 'string' && { error: redactText(error, secrets, maxText) }),
    ...(typeof description === 'string' && { description: redactText(description, secrets, maxText) }),
  }
}

/** Whether the token itself is wrong. Otherwise its keys could not be had, and it may be right. */
function isSignatureFault(error: unknown): boolean {
  const { code } = Object(error) as { code?: unknown }
  return typeof code === 'string' && code.startsWith('ERR_J') && !keyFaults.has(code)
}

function oauthOutcome(code: string | undefined, status: number): OAuthOutcome {
  if (status === 429) return 'unused'
  if (code === undefined) return 'unknown'
  if (code === 'invalid_grant') return status < 500 ? 'refused' : 'unknown'
  return status === 503 || (status < 500 && unactedErrors.has(code)) ? 'unused' : 'unknown'
}

function refusalStatus(error: unknown): number | undefined {
  return error instanceof Refusal ? error.status : undefined
}
