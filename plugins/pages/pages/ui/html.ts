/** The one way markup is made: a tagged template that escapes every value, in text and in quoted attributes alike. */
import type { Content, Markup } from 'authkernel/kernel'

export type { Content }
/** Markup that needs no more escaping. Only this file makes it. */
export type Html = Markup

class Safe {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}
function trustMarkup(text: string): Html {
  // `Html` is opaque, so that no other code makes one.
  return new Safe(text) as unknown as Html
}

/** Markup with its values escaped. Attribute values must be quoted in the template. */
export function markup(strings: TemplateStringsArray, ...values: readonly Content[]): Html {
  let text = strings[0] ?? ''
  values.forEach((value, index) => (text += escapeContent(value) + (strings[index + 1] ?? '')))
  return trustMarkup(text)
}

/** Text of a `<style>` element, which knows no entities: rejected when it could end the element. */
export function styleText(css: string): Html {
  return trustMarkup(css.replaceAll('</', '<\\/').replaceAll('<!--', '<\\!--'))
}

/** Text of a `<script>` element: `</script` and `<!--` are the two ways out of it (HTML, "restrictions for contents of script elements"). */
export function scriptText(script: string): Html {
  return trustMarkup(script.replace(/<\/(script)/gi, '<\\/$1').replaceAll('<!--', '<\\!--'))
}

// Not attributes of an input: code (on*), styles (the CSP blocks them), and what would send the form elsewhere or confuse the page.
const refusedAttributes = /^(on.*|style|class|id|name|is|nonce|slot|form.*|src.*|href|action|method|target|popover.*|command.*|part)$/
const attributeName = /^[a-z][a-z0-9-]*$/
// `false` is a value here, not an absence.
const enumeratedAttributes = /^(aria-.*|data-.*|spellcheck|autocorrect|writingsuggestions|draggable|contenteditable)$/

/** Attributes from outside: names are checked (`autoComplete` counts as `autocomplete`), others are dropped; `true` is a bare attribute. */
export function drawAttributes(record: Readonly<Record<string, string | number | boolean | undefined>>): Content {
  return Object.entries(record).map(([key, value]) => {
    const name = key.toLowerCase()
    if (value === undefined || value === null || !attributeName.test(name) || refusedAttributes.test(name)) return undefined
    if (typeof value === 'boolean' && !enumeratedAttributes.test(name)) return value && trustMarkup(` ${name}`)
    return markup` ${trustMarkup(name)}="${String(value)}"`
  })
}

function escapeContent(value: Content): string {
  if (value === undefined || value === null || value === false) return ''
  if (value instanceof Safe) return value.text
  if (Array.isArray(value)) return (value as readonly Content[]).map(escapeContent).join('')
  return String(value).replace(/[&<>"'`]/g, (char) => entities[char] ?? '')
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;', '`': '&#96;' }
