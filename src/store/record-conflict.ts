/** A unique key that is taken. */
import { AuthError, type ErrorRow } from '../errors/base.ts'

/** Thrown when an id, or the values of a unique key, belong to another row. */
export class RecordConflict extends AuthError {
  static override type = 'RecordConflict'
  static override row: ErrorRow = { page: 'error', status: 409 }
  readonly record: string
  /** The fields of the key; `id` alone for the id. */
  readonly fields: readonly string[]

  constructor(record: string, fields: readonly string[]) {
    super(`A row of the record "${record}" with the same ${fields.join(' and ')} exists.`, { cause: { record, fields } })
    this.record = record
    this.fields = fields
  }
}
