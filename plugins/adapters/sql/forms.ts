/** Fields in the form in which another product keeps them. */
import { fromBase64, isDate, toBase64, toBase64Url } from 'authkernel/kernel'

/**
 * How a column holds its field. `flag`: whether there is a date, as a boolean. `instant`: seconds, as a date. `blank`: no text, as ''.
 * `base64url`: bytes in that alphabet.
 */
export type Form = 'flag' | 'instant' | 'blank' | 'base64url'

/** What is written for a value of the field. */
export function toColumn(form: Form, value: unknown): unknown {
  if (form === 'flag') return value !== null && value !== undefined && value !== false
  if (form === 'blank') return value ?? ''
  if (value === null || value === undefined) return null
  return form === 'instant' ? new Date(Number(value) * 1000) : toBase64Url(fromBase64(String(value)))
}

/** What was read, as the field has it. The moment of a flag is not known: it is the beginning of time. */
export function toField(form: Form, value: unknown): unknown {
  if (value === null) return null
  if (form === 'flag') return value === true ? new Date(0) : null
  if (form === 'blank') return value === '' ? null : value
  if (form === 'instant') return isDate(value) ? Math.floor(value.getTime() / 1000) : null
  try {
    return toBase64(fromBase64(String(value)))
  } catch {
    return value
  }
}
