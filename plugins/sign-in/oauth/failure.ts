/** Errors as they may be logged: what went wrong, never a token, a secret or what a provider echoed of them (D10). */
import { AuthError, CallbackRouteError, OAuthCallbackError, redactError, redactText } from 'authkernel/kernel'
import { AuthorizationResponseError, ResponseBodyError } from 'oauth4webapi'
import type { JsonObject, OAuthProvider, Secrets } from './types.ts'

export { Refusal } from './refusal.ts'

const maxText = 300

/** What a failing callback ends in (rows 192, 276). */
export function callbackFailure(provider: OAuthProvider, error: unknown, secrets: Secrets): AuthError {
  if (error instanceof AuthError) return error
  if (error instanceof AuthorizationResponseError) return refusedByProvider(provider, error.cause, secrets)
  const facts = error instanceof ResponseBodyError ? told(error.error, error.error_description, secrets) : {}
  return new CallbackRouteError(`Signing in with provider "${provider.id}" failed.`, {
    cause: { err: withoutSecrets(error, secrets), provider: provider.id, ...facts },
  })
}

/** The person or the provider said no: `error=access_denied` (row 192). */
export function refusedByProvider(provider: OAuthProvider, params: URLSearchParams, secrets: Secrets): AuthError {
  const facts = told(params.get('error'), params.get('error_description'), secrets)
  return new OAuthCallbackError(`Provider "${provider.id}" answered with an error.`, { cause: { provider: provider.id, ...facts } })
}

/** A copy without `cause`: the library's errors carry whole responses there. */
export function withoutSecrets(error: unknown, secrets: Secrets): Error {
  const copy = redactError(error, secrets)
  const more = comparison((error as { cause?: unknown } | null)?.cause)
  if (more !== '') copy.message += redactText(more, secrets, maxText)
  return copy
}

// The usual mistake of a new configuration: the issuer or the client id is nearly right.
function comparison(cause: unknown): string {
  const { claim, expected, claims } = Object(cause) as { claim?: unknown; expected?: unknown; claims?: unknown }
  if (claim !== 'iss' && claim !== 'aud') return ''
  return `: expected ${JSON.stringify(expected)}, got ${JSON.stringify((Object(claims) as JsonObject)[claim])}`
}

function told(error: unknown, description: unknown, secrets: Secrets): { error?: string; description?: string } {
  return {
    ...(typeof error === 'string' && { error: redactText(error, secrets, maxText) }),
    ...(typeof description === 'string' && { description: redactText(description, secrets, maxText) }),
  }
}
