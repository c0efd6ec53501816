/** What the sign-in page calls its providers, fields and buttons: in the language of the page, and each by a name of its own. */
import type { InputAttributes, Provider, ProviderForm } from 'authkernel/kernel'
import { isHidden } from './fields.ts'
import type { Speaker } from './locale.ts'
import { plain } from './site.ts'

/** One provider in words. */
export interface Wording {
  name: string
  /** The form's fields, labels and placeholders in the language of the page. */
  fields: Readonly<Record<string, InputAttributes>>
  button: string
}

/** Words for all forms of a page, in order. */
export function wordings(speaker: Speaker, all: readonly (readonly [Provider, ProviderForm])[]): Wording[] {
  const labels = new Set<string>()
  return all.map(([provider, form]) => {
    const name = plain(translated(speaker, provider.name))
    const fields = Object.entries(form.fields ?? {}).map(([key, given]) => [key, worded(key, given)] as const)
    for (const [, given] of fields) if (!isHidden(given)) labels.add(given.label)
    return { name, fields: Object.fromEntries(fields), button: button(speaker, provider, form, name, all) }

    // Two fields called "Email" are a riddle, above all for who hears the page: the later one says whose it is.
    function worded(key: string, given: InputAttributes): InputAttributes & { label: string } {
      const text = translated(speaker, given.label ?? key)
      const label = isHidden(given) || !labels.has(text) ? text : (speaker.find('signIn.labelOf', { label: text, name }) ?? text)
      return { ...given, label, ...(given.placeholder !== undefined && { placeholder: translated(speaker, given.placeholder) }) }
    }
  })
}

function button(
  speaker: Speaker,
  { id, name }: Provider,
  { submit }: ProviderForm,
  shown: string,
  all: readonly (readonly [Provider, ProviderForm])[],
): string {
  // A text that several forms want for their buttons tells nobody which is which.
  const own = all.filter(([, form]) => form.submit === submit).length === 1 ? submit : undefined
  return (
    speaker.find(`signIn.submit.${id}`) ??
    (own !== undefined ? translated(speaker, own) : undefined) ??
    speaker.find(`signIn.submit:${name}`) ??
    speaker.find('signIn.submit', { name: shown }) ??
    shown
  )
}

/** What a provider or a type wrote in English. */
function translated(speaker: Speaker, text: string): string {
  return speaker.find(`text:${text}`) ?? text
}
