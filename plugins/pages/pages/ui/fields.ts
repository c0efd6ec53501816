/** Inputs of a form: each with a label, an id that tests and styles of hosts may rely on, and attributes that were looked at. */
import type { InputAttributes } from 'authkernel/kernel'
import { type Content, drawAttributes, type Html, markup } from './html.ts'

// What an input may be; buttons and files are not fields of a sign-in.
const types = /^(checkbox|color|date|datetime-local|email|hidden|month|number|password|radio|range|search|tel|text|time|url|week)$/
// What a browser may fill in, when the provider does not say (WCAG 2.2, 1.3.5).
const purposes: Readonly<Record<string, string>> = {
  email: 'email',
  username: 'username',
  user: 'username',
  login: 'username',
  password: 'current-password',
  otp: 'one-time-code',
  totp: 'one-time-code',
}

/** Whether there is something to type or tick. */
export function hasInputs(fields: Readonly<Record<string, InputAttributes>> | undefined): boolean {
  return Object.values(fields ?? {}).some((attributes) => !isHidden(attributes))
}

/** Whether a field only travels along. */
export function isHidden(attributes: InputAttributes): boolean {
  return inputTypeOf(attributes) === 'hidden'
}

/** One field, worded already. `email` fills in the address; `scripted` marks the input for the script of a passkey form. */
export function drawField(name: string, id: string, options: InputAttributes, email?: string, scripted = false): Html {
  const { label = name, type: _type, placeholder, value, ...rest } = options
  const type = inputTypeOf(options)
  const filled = email !== undefined && (name === 'email' || type === 'email') ? email.slice(0, 320) : value
  if (type === 'hidden') return markup`<input type="hidden" name="${name}"${drawAttributes({ value: filled })}>`
  const check = type === 'checkbox' || type === 'radio'
  const drawnAttributes = drawAttributes({
    ...autocompleteOf(name, type, rest),
    ...(placeholder !== undefined && { placeholder }),
    ...rest,
    ...(filled !== undefined && { value: filled }),
    ...(scripted && { 'data-form-field': true }),
  })
  const input = markup`<input name="${name}" id="${id}" type="${type}"${drawnAttributes}>`
  const caption: Content = markup`<label class="section-header" for="${id}">${label}</label>`
  return markup`<div class="field${check && ' check'}">${check ? [input, caption] : [caption, input]}</div>`
}

/** Hidden inputs; undefined values are left out. */
export function hiddenInputs(values: Readonly<Record<string, string | undefined>>): Content {
  return Object.entries(values).map(([name, value]) => value !== undefined && markup`<input type="hidden" name="${name}" value="${value}">`)
}

function inputTypeOf({ type }: InputAttributes): string {
  const wanted = String(type ?? 'text').toLowerCase()
  return types.test(wanted) ? wanted : 'text'
}

function autocompleteOf(name: string, type: string, attributes: Readonly<Record<string, unknown>>): Record<string, string> {
  const known = Object.keys(attributes).some((key) => key.toLowerCase() === 'autocomplete')
  const key = Object.hasOwn(purposes, name.toLowerCase()) ? name.toLowerCase() : type
  const value = Object.hasOwn(purposes, key) ? purposes[key] : undefined
  return known || value === undefined ? {} : { autocomplete: value }
}
