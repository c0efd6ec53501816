/** Errors that owners and visitors of the portal see. Texts are in `messages.ts`. */
import { redactText, AccessDenied, AuthError, type ErrorRow } from 'authkernel/kernel'

/** A value that cannot be taken. The message names it. */
export class PortalInput extends AuthError {
  static override type = 'PortalInput'
  static override row: ErrorRow = { page: 'error', status: 400, visible: true }
}
/** The link was opened before, was revoked or is over, or its sender may not send links any more. */
export class PortalLinkInvalid extends AuthError {
  static override type = 'PortalLinkInvalid'
  static override row: ErrorRow = { page: 'error', status: 403, visible: true }
}
/** The proof of the owner is too old to send a link. */
export class PortalStepUp extends AccessDenied {
  static override type = 'PortalStepUp'
  static override row: ErrorRow = { page: 'error', status: 403, visible: true }
}

/** Messages of these errors name fields, and are for administrators. */
export function describeError(error: AuthError): string {
  const text = redactText(error.message.replace(/^[\w.]+: /, '')).slice(0, 600)
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}
