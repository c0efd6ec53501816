/** HTML as a value: everything put into a template is escaped unless it is HTML already. */

/** Markup that is safe to send. */
export interface Html {
  readonly markup: string
}
type Part = Html | string | number | null | undefined | false | readonly Part[]

/** `` html`<p>${name}</p>` ``: texts are escaped, lists are joined, null, undefined and false are nothing. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  return { markup: strings.reduce((text, string, i) => text + render(parts[i - 1]) + string) }
}

/** Text as it may stand in HTML and in a quoted attribute. */
export function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;')
}

function render(part: Part): string {
  if (part === null || part === undefined || part === false) return ''
  if (typeof part === 'string' || typeof part === 'number') return escape(String(part))
  return 'markup' in part ? part.markup : part.map(render).join('')
}
