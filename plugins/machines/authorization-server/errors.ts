/** Errors that a browser can meet, and the rejections of RFC 6749 that programs get. */
import { SignInError } from 'authkernel/errors'
import { AuthError } from 'authkernel/kernel'

/** The client or its redirect URI is unknown: the browser is led nowhere. */
export class ClientRequestRefused extends AuthError {
  static override type = 'ClientRequestRefused'
  static override row = { page: 'error' as const, status: 400, visible: true }
}

/** A request of a program that is rejected with an error code (RFC 6749 section 5.2, RFC 7591 section 3.2.2). */
export class OAuthRefusal extends AuthError {
  static override type = 'OAuthRefusal'
  static override row = { page: 'error' as const, status: 400 }
  /** The value of `error`. */
  readonly code: string
  /** Headers of the response. */
  readonly headers: Readonly<Record<string, string>>
  constructor(
    code: string,
    description: string,
    status: 400 | 401 | 403 | 409 | 429 | 503 = 400,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(description)
    this.code = code
    this.status = status
    this.headers = headers
  }
}

/** The proof of the session is older than `proofAge` of `organizationClients`: `auth.stepUp.require(request)`, or a new sign-in, renews it. */
export class ClientProofRequired extends SignInError {
  static override type = 'StepUpRequired'
  static override row = { page: 'signIn' as const, status: 403, visible: true }
}
