/** Values in words that hold no secret: shapes and names instead of contents. */

const mostNames = 30

/** What a handler of a hook answered. */
export function answerOf(answer: unknown): string {
  if (answer === undefined) return 'no answer'
  if (answer === null || typeof answer === 'boolean') return String(answer)
  if (typeof answer === 'string') return URL.canParse(answer, 'http://relative.invalid') ? urlOf(answer) : 'a text'
  if (answer instanceof Response) return `a response with status ${answer.status}`
  if (Array.isArray(answer)) return `a list of ${answer.length}`
  if (typeof answer === 'object') return `{ ${describeNames(Object.keys(answer))} }`
  return `a ${typeof answer}`
}

/** What a store answered: how much, not what. */
export function foundOf(answer: unknown): string {
  if (answer === undefined || answer === null) return 'nothing'
  if (typeof answer === 'number' || typeof answer === 'boolean') return String(answer)
  const rows = (answer as { rows?: unknown }).rows ?? answer
  return Array.isArray(rows) ? `${rows.length} rows` : 'one row'
}

/** Address without values of parameters. Of a path, parts that may be a token are left out. */
export function urlOf(address: string): string {
  const relative = !/^[a-z][a-z\d+.-]*:/i.test(address)
  if (!URL.canParse(address, 'http://relative.invalid')) return 'an address'
  const { protocol, origin, pathname, searchParams } = new URL(address, 'http://relative.invalid')
  if (origin === 'null') return `${protocol}…`
  const names = [...new Set(searchParams.keys())].map((name) =>
    name === 'error' ? `error=${cleanName(searchParams.get(name) ?? '')}` : cleanName(name),
  )
  return `${relative ? '' : origin}${describePath(pathname)}${names.length > 0 ? `?${names.slice(0, mostNames).join('&')}` : ''}`
}

/** A path without parts that may be a token. */
export function describePath(pathname: string): string {
  return pathname
    .split('/')
    .map((part) => (part.length > 30 ? '…' : cleanName(part)))
    .join('/')
    .slice(0, 200)
}

/** Names of cookies or fields, bounded. */
export function describeNames(names: readonly string[]): string {
  const more = names.length > mostNames ? ` and ${names.length - mostNames} more` : ''
  return `${names.slice(0, mostNames).map(cleanName).join(', ')}${more}`
}

/** A name that strangers may choose: short, and without line breaks. */
function cleanName(name: string): string {
  const short = name.length > 60 ? `${name.slice(0, 60)}…` : name
  return short.replace(/[\p{Cc}\p{Cs}\u2028\u2029]/gu, '\uFFFD')
}
