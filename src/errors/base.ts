/**
 * Base class of every error of authkernel. The message says what is wrong, where, and what to do. It is for the log of the server; the browser never gets it.
 * What becomes of an error over HTTP is the `row` of its class, and nowhere else.
 */

/** `error`: the error page; `signIn`: the sign-in page (row 271). */
export type ErrorPage = 'error' | 'signIn'

/** Page and HTTP status of an error class. A subclass without a row has that of its parent. */
export interface ErrorRow {
  /** Where users are sent. */
  page: ErrorPage
  /** Of answers without a page, of the error page, and of `error.status`. */
  status: number
  /** Whether the browser may see the type; others show as `Configuration` (row 270). Its text is the message `error.<type>`. */
  visible?: boolean
}

/** Where further facts of an error are kept: the causing error and details for the log. */
export interface ErrorCause extends Record<string, unknown> {
  /** The error that led to this one. */
  err?: Error
}

/**
 * Base class of all errors of the library. Takes a message, an error, options, or a message and one of them:
 * `new AuthError('text', { cause: { err } })` (row 277).
 */
export class AuthError extends Error {
  /** Name of the error type. Use it instead of the class name, which minifiers change. */
  static type?: string
  static row: ErrorRow = { page: 'error', status: 500 }

  /** Name in logs and, when visible, in the `error` query parameter. */
  type: string
  /** Page that shows the error: the `page` of its row. */
  kind: ErrorPage
  override cause?: ErrorCause

  constructor(message?: string | Error | ErrorOptions, options?: Error | ErrorOptions) {
    super(typeof message === 'string' ? message : message instanceof Error ? message.message : undefined)
    const detail = typeof message === 'string' || message instanceof Error ? options : (message ?? options)
    // Auth.js writes details beside an error without a `cause` around them: `new CallbackRouteError(error, { provider: 'acme' })`.
    const facts = detail instanceof Error ? { err: detail } : toCause(detail?.cause ?? (message instanceof Error ? detail : undefined))
    const cause = message instanceof Error ? { ...facts, err: message } : facts
    if (cause) {
      this.cause = cause
      if (this.message === '' && cause.err) this.message = cause.err.message
    }
    this.type = new.target.type ?? new.target.name
    // A class of the host app is named in logs and keeps the type of its parent.
    this.name = Object.hasOwn(new.target, 'type') ? this.type : new.target.name
    this.kind = new.target.row.page
    Error.captureStackTrace?.(this, new.target)
  }

  /** For the error handling of frameworks; `statusCode` is the same for Fastify and h3. */
  get status(): number {
    return rowOf(this).status
  }
  // Frameworks write their own over it.
  set status(value: number) {
    Object.defineProperty(this, 'status', { value, writable: true, configurable: true })
  }
  get statusCode(): number {
    return rowOf(this).status
  }
  set statusCode(value: number) {
    Object.defineProperty(this, 'statusCode', { value, writable: true, configurable: true })
  }
}

/** The row of an error's class. */
export function rowOf(error: AuthError): ErrorRow {
  return (error.constructor as typeof AuthError).row
}

/** Name that a browser may see (row 270). */
export function visibleType(error: Error): string {
  return error instanceof AuthError && rowOf(error).visible ? error.type : 'Configuration'
}

function toCause(cause: unknown): ErrorCause | undefined {
  if (cause === undefined || cause === null) return undefined
  if (cause instanceof Error) return { err: cause }
  return typeof cause === 'object' ? (cause as ErrorCause) : { detail: cause }
}

/** Base of errors that end on the sign-in page. */
export class SignInError extends AuthError {
  static override row: ErrorRow = { page: 'signIn', status: 500 }
}

/** A request that is wrong before any flow began: the status and body to answer, and what to write into the log, if anything. */
export class HttpError extends Error {
  readonly status: number
  readonly headers: Record<string, string>
  readonly reason: AuthError | undefined
  constructor(status: number, message: string, headers: Record<string, string> = {}, reason?: AuthError) {
    super(message)
    this.status = status
    this.headers = headers
    this.reason = reason
  }
}
