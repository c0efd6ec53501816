/** What a page is for a program: its forms, links and theme. Texts, order of attributes and looks are each library's own. */

interface Input {
  [attribute: string]: string
}
interface Form {
  action: string
  method: string
  id?: string
  inputs: Input[]
  buttons: string[]
}
export interface PageFacts {
  forms: Form[]
  links: string[]
  theme: string
  logos: string[]
  /** Whether a `.error` block, or one that announces itself, stands on the page. */
  alert: boolean
}

/** Reads what it needs with patterns: both libraries write plain, balanced HTML. */
export function forms(html: string): PageFacts {
  return {
    forms: [...html.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gis)].map(([, head = '', inside = '']) => formOf(attributes(head), inside)),
    links: [...html.matchAll(/<a\b([^>]*)>/gi)].map(([, head = '']) => attributes(head)['href'] ?? ''),
    theme: /__next-auth-theme-(\w+)/.exec(html)?.[1] ?? '',
    logos: [...html.matchAll(/<img\b([^>]*)>/gi)].map(([, head = '']) => attributes(head)).flatMap(({ class: name, src = '' }) => (name?.includes('logo') ? [src] : [])),
    alert: /class="[^"]*\b(?:error|alert)\b[^"]*"|role="alert"/.test(html.replace(/<style.*?<\/style>/gis, '')),
  }
}

function formOf({ action = '', method = 'GET', id }: Record<string, string>, inside: string): Form {
  return {
    action,
    method: method.toUpperCase(),
    ...(id !== undefined && { id }),
    inputs: [...inside.matchAll(/<input\b([^>]*)>/gi)].map(([, head = '']) => attributes(head)),
    buttons: [...inside.matchAll(/<button\b([^>]*)>/gi)].map(([, head = '']) => attributes(head)['id'] ?? ''),
  }
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
    .replaceAll(/&#(?:x([\da-f]+)|(\d+));/gi, (_, hex?: string, dec?: string) => String.fromCodePoint(hex ? Number.parseInt(hex, 16) : Number(dec)))
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
}
