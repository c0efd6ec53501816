/** What a page is for a program: its forms, links and theme. Texts, order of attributes and looks are each library's own. */

interface Input {
  [attribute: string]: string
}
interface Form {
  action: string
  method: string
  id?: string
  inputs: Input[]
}
export interface PageFacts {
  forms: Form[]
  theme: string
  logos: string[]
  /** Whether the sign-in page says that something went wrong. */
  alert?: boolean
}

/** Reads what it needs with patterns: both libraries write plain, balanced HTML. */
export function forms(html: string): PageFacts {
  return {
    forms: [...html.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gis)].map(([, head = '', inside = '']) => formOf(attributes(head), inside)),
    theme: /<body[^>]*__next-auth-theme-(\w+)/.exec(html)?.[1] ?? '',
    logos: [...html.matchAll(/<img\b([^>]*)>/gi)]
      .map(([, head = '']) => attributes(head))
      .flatMap(({ class: name, src = '' }) => (name?.includes('logo') ? [src] : [])),
    ...(/<div class="signin"/.test(html) && { alert: /<div class="error[" ]/.test(html) }),
  }
}

function formOf({ action = '', method = 'GET', id }: Record<string, string>, inside: string): Form {
  return {
    action,
    method: method.toUpperCase(),
    ...(id !== undefined && { id }),
    inputs: [...inside.matchAll(/<input\b((?:[^>"']|"[^"]*"|'[^']*')*)>/gi)].map(([, head = '']) => known(attributes(head))),
  }
}

// What a program fills in a form by; hints for browsers and people differ.
function known(given: Record<string, string>): Input {
  const wanted = ['name', 'type', 'value', 'id', 'required', 'pattern', 'min', 'max', 'data-form-field', 'title']
  const input = Object.fromEntries(Object.entries(given).filter(([name]) => wanted.includes(name)))
  return input['type'] === 'hidden' ? { name: input['name'] ?? '', type: 'hidden', value: input['value'] ?? '' } : input
}

function attributes(head: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const [, name = '', quoted, single, bare] of head.matchAll(/([^\s=/>"']+)(?:=(?:"([^"]*)"|'([^']*)'|([^\s>]+)))?/g)) {
    found[name.toLowerCase()] = unescape(quoted ?? single ?? bare ?? '')
  }
  return found
}

function unescape(text: string): string {
  return text
    .replaceAll(/&#(?:x([\da-f]+)|(\d+));/gi, (_, hex?: string, dec?: string) =>
      String.fromCodePoint(hex ? Number.parseInt(hex, 16) : Number(dec)),
    )
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
}
