/** The sign-in methods that a server offers, as its forms describe them. */
import type { Client } from 'authkernel/client'
import type { Machine } from './machine.ts'

/** One input of a form. */
export interface MethodField {
  readonly name: string
  /** In English, as the server says it; `label.<label>` of the texts translates it. */
  readonly label: string
  /** Attributes of the input besides `name` and `id`: `type`, `autocomplete`, `required` … */
  readonly attributes: Readonly<Record<string, string | number | boolean>>
}
/** What one types first: an address, a username, a phone number. */
export type IdentifierKind = 'email' | 'name' | 'phone'
/** One sign-in method. */
export interface Method {
  readonly id: string
  /** Name of the provider. */
  readonly name: string
  readonly type: string
  /** Text of its button, in English; undefined: "Sign in with {name}". */
  readonly submit: string | undefined
  readonly fields: readonly MethodField[]
  /** The field that the form begins with, where it is an address, a name or a number. */
  readonly identifier: { readonly name: string; readonly kind: IdentifierKind } | undefined
}

// Not of an input: code, styles, and what would send the form elsewhere.
const refusedAttributes = /^(?:on.*|style|class|id|name|label|form.*|src.*|href)$/i

/** The sign-in methods that the server offers, and the address of its routes. Methods without a form for users are left out. Throws AuthClientError. */
export async function readMethods(client: Client): Promise<{ methods: Method[]; base: string }> {
  const providers = Object.values(await client.getProviders())
  const [first] = providers
  const methods = providers
    .filter(({ form }) => !form?.hidden)
    .map(({ id, name, type, form }): Method => {
      const fields = Object.entries(form?.fields ?? {}).map(([field, { label = field, ...given }]) => ({
        name: field,
        label,
        attributes: Object.fromEntries(
          Object.entries(given).filter(
            (entry): entry is [string, string | number | boolean] => entry[1] !== undefined && !refusedAttributes.test(entry[0]),
          ),
        ),
      }))
      return { id, name, type, submit: form?.submit, fields, identifier: identifierOf(fields) }
    })
  return { methods, base: first ? first.signinUrl.slice(0, -`/signin/${first.id}`.length) : '' }
}

/** Whether a text could be of a kind. Says nothing about whether an account has it. */
export function couldBe(kind: IdentifierKind, text: string): boolean {
  if (kind === 'email') return text.includes('@')
  return kind === 'phone' ? /^\+?[\d\s().-]+$/.test(text) : true
}

/** Label of the one field for several kinds, as a key of the texts. */
export function identifierLabel(methods: readonly Method[]): `identifier.${string}` {
  const kinds = (['email', 'name', 'phone'] as const).filter((kind) => methods.some(({ identifier }) => identifier?.kind === kind))
  return `identifier.${kinds.join('-')}`
}

/** Text of the button of a method. */
export function methodLabel(machine: Machine<unknown>, { type, submit, name }: Method): string {
  const { texts } = machine.get()
  if (`submit.${type}` in texts) return machine.say(`submit.${type}`, { name })
  return submit ?? machine.say('signIn.with', { name })
}

/** Label of a field in the language of the page. */
export function fieldLabel(machine: Machine<unknown>, label: string): string {
  const text = machine.say(`label.${label}`)
  return text === `label.${label}` ? label : text
}

function identifierOf(fields: readonly MethodField[]): Method['identifier'] {
  const first = fields.find(({ attributes }) => attributes['type'] !== 'hidden')
  if (!first) return undefined
  const { name, attributes } = first
  const type = String(attributes['type'] ?? 'text')
  const purpose = String(attributes['autocomplete'] ?? '').split(/\s+/)
  if (type === 'email' || (type !== 'text' && purpose.includes('email'))) return { name, kind: 'email' }
  if (type === 'tel') return { name, kind: 'phone' }
  if (type !== 'text') return undefined
  if (purpose.includes('username') || /^(?:user ?name|user|login|identifier)$/i.test(name)) return { name, kind: 'name' }
  if (purpose.includes('email') || /^e?mail$/i.test(name)) return { name, kind: 'email' }
  return /^(?:phone|tel)$/i.test(name) ? { name, kind: 'phone' } : undefined
}
