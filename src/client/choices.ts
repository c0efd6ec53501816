/** The forms of the server's sign-in methods, as a component draws them. Loaded by pages that have such a component. */
import type { PublicProvider } from 'authkernel'

/** One input of a form. */
export interface ChoiceField {
  name: string
  label: string
  /** Attributes of the input besides `name` and `id`: `type`, `autocomplete`, `required` … */
  attributes: Record<string, string | number | boolean>
}
/** One way to sign in. */
export interface Choice {
  id: string
  /** Name of the provider. */
  name: string
  type: string
  /** Text of its button. */
  label: string
  fields: ChoiceField[]
}

// Not of an input: code, styles, and what would send the form elsewhere.
const refusedAttributes = /^(?:on.*|style|class|id|name|label|form.*|src.*|href)$/i

/** A choice for each provider that has a form. */
export function readChoices(providers: Readonly<Record<string, PublicProvider>>, texts: { signInWith(name: string): string }): Choice[] {
  const shown = Object.values(providers).filter(({ form }) => !form?.hidden)
  return shown.map(({ id, name, type, form }) => ({
    id,
    name,
    type,
    label: form?.submit ?? texts.signInWith(name),
    fields: Object.entries(form?.fields ?? {}).map(([field, { label = field, ...given }]) => ({
      name: field,
      label,
      attributes: Object.fromEntries(
        Object.entries(given).filter(
          (entry): entry is [string, string | number | boolean] => entry[1] !== undefined && !refusedAttributes.test(entry[0]),
        ),
      ),
    })),
  }))
}
