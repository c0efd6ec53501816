/** The box that says what went wrong, on pages where one can try again. */
import { errorText } from './errors.ts'
import { type Html, markup } from './html.ts'
import { icons } from './icons.ts'
import type { Speaker } from './locale.ts'

/** Text of an error code; `detail` is the `code` of CredentialsSignin. Screen readers announce it. */
export function alert(speaker: Speaker, code: string, detail?: string): Html {
  const { text } = errorText(speaker, code, detail)
  // Being asked to sign in is no failure.
  const notice = code === 'SessionRequired'
  const icon = notice ? icons.key : icons.alert
  return markup`<div class="error${notice && ' notice'}" role="${notice ? 'status' : 'alert'}">${icon}<p>${text}</p></div>`
}
