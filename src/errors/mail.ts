/** The service `mail` could not hand a mail over. */
import { AuthError, type ErrorRow } from './base.ts'

/** `cause.err` says why, `cause.template` which one. Its message has neither address nor values. */
export class MailNotSent extends AuthError {
  static override type = 'MailNotSent'
  static override row: ErrorRow = { page: 'error', status: 502 }
}
