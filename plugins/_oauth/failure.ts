/** Errors as they may be logged: what went wrong, never a token, a secret or what a provider echoed of them (D10). */
import { AuthError, CallbackRouteError, OAuthCallbackError } from 'authkernel/kernel'
import { AuthorizationResponseError, ResponseBodyError } from 'oauth4webapi'
import type { JsonObject, OAuthProvider, Secrets } from './types.ts'

const maxText = 300

/** Something a provider did that is refused. The message is ours. */
export class Refusal extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'Refusal'
  }
}

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
  const { name, message, stack, code, cause }: Error & { code?: unknown } = error instanceof Error ? error : new Error(String(error))
  const copy = new Error(clean(message + comparison(cause), secrets, maxText))
  copy.name = name
  // Frames only: the first lines repeat the message.
  copy.stack = `${name}: ${copy.message}\n${(stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .join('\n')}`
  return typeof code === 'string' ? Object.assign(copy, { code }) : copy
}

// The usual mistake of a new configuration: the issuer or the client id is nearly right.
function comparison(cause: unknown): string {
  const { claim, expected, claims } = Object(cause) as { claim?: unknown; expected?: unknown; claims?: unknown }
  if (claim !== 'iss' && claim !== 'aud') return ''
  return `: expected ${JSON.stringify(expected)}, got ${JSON.stringify((Object(claims) as JsonObject)[claim])}`
}

function told(error: unknown, description: unknown, secrets: Secrets): { error?: string; description?: string } {
  return {
    ...(typeof error === 'string' && { error: clean(error, secrets, maxText) }),
    ...(typeof description === 'string' && { description: clean(description, secrets, maxText) }),
  }
}

/** Foreign text for a log: no line breaks that forge entries, no escape codes, no known secret, no token-like run, bounded. */
function clean(text: string, secrets: Secrets, max: number): string {
  let result = text
  for (const secret of secrets) {
    // Shorter ones are words.
    if (secret.length < 6) continue
    result = result.replaceAll(secret, '[redacted]').replaceAll(encodeURIComponent(secret), '[redacted]')
  }
  result = result.replace(/eyJ[\w-]+\.[\w-]*(?:\.[\w-]*)*/g, '[redacted]')
  result = result.replace(/[\p{Cc}\u2028\u2029]/gu, ' ')
  return result.length > max ? `${result.slice(0, max)}…` : result
}
