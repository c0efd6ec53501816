/** What `verifyAccessToken` throws for a token that is not good here. */
import { AuthError, type ErrorRow } from '../errors/base.ts'

/** The token is not good here. `code` and `challenge` are what RFC 6750 section 3 and RFC 9449 section 7.1 answer. */
export class InvalidAccessToken extends AuthError {
  static override type = 'InvalidAccessToken'
  static override row: ErrorRow = { page: 'error', status: 401 }
  readonly code: 'invalid_token' | 'insufficient_scope' | 'invalid_dpop_proof'
  constructor(message: string, code: InvalidAccessToken['code'] = 'invalid_token', err?: unknown) {
    super(message, err instanceof Error ? { cause: { err } } : undefined)
    this.code = code
    if (code === 'insufficient_scope') this.status = 403
  }
  /** Value of `WWW-Authenticate`. */
  get challenge(): string {
    return `${this.code === 'invalid_dpop_proof' ? 'DPoP' : 'Bearer'} error="${this.code}"`
  }
}
