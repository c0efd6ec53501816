/** What the sign-in page calls its providers, fields and buttons: in the language of the page, and each by a name of its own. */
import type { InputAttributes, Provider, ProviderForm } from 'authkernel/kernel'
import { isHidden } from './ui/fields.ts'
import type { Language } from './ui/languages.ts'
import { withoutBidi } from './ui/site.ts'

/** One provider in words. */
export interface Wording {
  name: string
  /** The form's fields, labels and placeholders in the language of the page. */
  fields: Readonly<Record<string, InputAttributes>>
  button: string
}

/** Words for all forms of a page, in order. */
export function createWordings(language: Language, all: readonly (readonly [Provider, ProviderForm])[]): Wording[] {
  const labels = new Set<string>()
  return all.map(([provider, form]) => {
    const name = withoutBidi(translateText(language, provider.name))
    const fields = Object.entries(form.fields ?? {}).map(([key, attributes]) => [key, createField(key, attributes)] as const)
    for (const [, attributes] of fields) if (!isHidden(attributes)) labels.add(attributes.label)
    return { name, fields: Object.fromEntries(fields), button: buttonText(language, provider, form, name, all) }

    // Two fields called "Email" cannot be told apart, above all with a screen reader: the later one names its provider.
    function createField(key: string, attributes: InputAttributes): InputAttributes & { label: string } {
      const text = translateText(language, attributes.label ?? key)
      const label = isHidden(attributes) || !labels.has(text) ? text : (language.find('signIn.labelOf', { label: text, name }) ?? text)
      return {
        ...attributes,
        label,
        ...(attributes.placeholder !== undefined && { placeholder: translateText(language, attributes.placeholder) }),
      }
    }
  })
}

function buttonText(
  language: Language,
  { id, name }: Provider,
  { submit }: ProviderForm,
  providerName: string,
  all: readonly (readonly [Provider, ProviderForm])[],
): string {
  // A text that several forms want for their buttons does not tell them apart.
  const own = all.filter(([, form]) => form.submit === submit).length === 1 ? submit : undefined
  return (
    language.find(`signIn.submit.${id}`) ??
    (own !== undefined ? translateText(language, own) : undefined) ??
    language.find(`signIn.submit:${name}`) ??
    language.find('signIn.submit', { name: providerName }) ??
    providerName
  )
}

/** What a provider or a type wrote in English. */
function translateText(language: Language, text: string): string {
  return language.find(`text:${text}`) ?? text
}
