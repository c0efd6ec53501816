/** Errors of `authkernel/kernel` alone: those of services that plugins call, and of requests from other sites. */
import { AuthError, type ErrorRow } from './base.ts'
import { MissingCSRF } from './index.ts'

/**
 * What a failed request did at the provider. `refused`: the provider said that the token is no longer good (`invalid_grant`). `unused`: it was
 * certainly not sent, or the provider did not act on it. `unknown`: a one-time token may have been used up.
 */
export type OAuthOutcome = 'refused' | 'unused' | 'unknown'

/** A request of the service `oauth` failed. `cause` holds `provider`, and `error` and `description` when the provider said them; never a token. */
export class OAuthRequestError extends AuthError {
  static override type = 'OAuthRequestError'
  static override row: ErrorRow = { page: 'error', status: 502 }
  readonly outcome: OAuthOutcome
  /** Error code of RFC 6749 section 5.2, when the provider gave one. */
  readonly code: string | undefined
  /** Seconds to wait, when the provider said so. */
  readonly retryAfter: number | undefined
  /** A token that was to be verified is wrong. False: the request failed, or the keys of the provider could not be had. */
  readonly invalidToken: boolean
  /** The token is wrong in its form or its signature, whatever its claims say. */
  readonly invalidSignature: boolean

  constructor(
    message: string,
    {
      outcome,
      code,
      retryAfter,
      invalidToken = false,
      invalidSignature = false,
      ...cause
    }: {
      outcome: OAuthOutcome
      code?: string | undefined
      retryAfter?: number | undefined
      invalidToken?: boolean | undefined
      invalidSignature?: boolean | undefined
    } & Record<string, unknown>,
  ) {
    super(message, { cause: { ...cause, ...(code !== undefined && { error: code }) } })
    this.outcome = outcome
    this.code = code
    this.retryAfter = retryAfter
    this.invalidToken = invalidToken
    this.invalidSignature = invalidSignature
  }
}

/** The service `mail` could not hand a mail over. `cause.err` says why, `cause.template` which one. Its message has neither address nor values. */
export class MailNotSent extends AuthError {
  static override type = 'MailNotSent'
  static override row: ErrorRow = { page: 'error', status: 502 }
}

/** A POST from another site, whatever token it carries: 403, never a redirect. */
export class CrossSiteRequest extends MissingCSRF {
  static override type = 'MissingCSRF'
}
