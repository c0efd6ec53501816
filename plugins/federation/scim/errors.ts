/** What SCIM clients are told about requests that cannot be served (RFC 7644 section 3.12). */
import { AuthError, type ErrorRow, HttpError } from 'authkernel/kernel'

/** The `scimType` of an error: RFC 7644 table 9, and RFC 9865 for cursors. */
export type ScimErrorType =
  | 'invalidFilter'
  | 'tooMany'
  | 'uniqueness'
  | 'mutability'
  | 'invalidSyntax'
  | 'invalidPath'
  | 'noTarget'
  | 'invalidValue'
  | 'invalidVers'
  | 'sensitive'
  | 'invalidCursor'
  | 'expiredCursor'
  | 'invalidCount'

const errorSchema = 'urn:ietf:params:scim:api:messages:2.0:Error'

/** A rejection in SCIM's own form. `message` is sent to the client as `detail`: it contains no secret, and no value of another organization. */
export class ScimError extends HttpError {
  readonly scimType: ScimErrorType | undefined

  constructor(status: number, message: string, scimType?: ScimErrorType, headers?: Record<string, string>) {
    super(status, message, headers)
    this.scimType = scimType
  }
}

/** A field of the portal that cannot be used; the page shows the message of the type. */
export class DirectoryInput extends AuthError {
  static override type = 'DirectoryInput'
  static override row: ErrorRow = { page: 'error', status: 400, visible: true }
}

/** The body of an error message. */
export function toErrorBody(status: number, detail: string, scimType?: ScimErrorType): Record<string, unknown> {
  return { schemas: [errorSchema], status: String(status), ...(scimType && { scimType }), detail }
}

/** Wrong value of one attribute. */
export function wrongValue(attribute: string, what: string): ScimError {
  return new ScimError(400, `The attribute "${attribute}" ${what}`, 'invalidValue')
}

/** Whether another plugin rejected with an error of one of these types. Plugins import no classes of each other. */
export function isOfType(error: unknown, ...types: readonly string[]): boolean {
  return error instanceof AuthError && types.includes(error.type)
}

/** What a client receives of an error: what other plugins reject, such as a full organization, with the status that they give it. Undefined: the server failed. */
export function toHttpError(error: unknown): HttpError | undefined {
  if (error instanceof HttpError) return error
  return error instanceof AuthError && error.status >= 400 && error.status < 500 ? new ScimError(error.status, error.message) : undefined
}
