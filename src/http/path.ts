/** The path of a request below the base path (rows 3 to 6, D23, D61). */

/** First segments of the paths that name a provider or none. */
const ownProviderPaths: ReadonlySet<string> = new Set(['signin', 'callback'])

// Neither escapes nor empty segments, and no last segment "undefined".
const plain = /^(?:\/(?!undefined$)[^/%]+)+$/

/**
 * Path below the base path in its canonical form, or undefined: outside of it, or with escapes that are no UTF-8.
 * `providerPaths` of a snapshot: first segments of its paths that name a provider or none.
 * Canonical: no empty segments, and no escapes where none is needed (RFC 3986 section 6.2.2).
 */
export function pathBelow(
  basePath: string,
  pathname: string,
  { providerPaths = ownProviderPaths }: { readonly providerPaths?: ReadonlySet<string> } = {},
): string | undefined {
  const rest = restBelow(basePath, pathname)
  // Most requests: nothing to clean.
  if (rest !== undefined && plain.test(rest)) return rest
  const segments = rest
    ?.split('/')
    .filter((segment) => segment !== '')
    .map(canonicalSegment)
  if (!segments || segments.includes(undefined)) return undefined
  // The literal id "undefined" is what clients send for no provider (row 6).
  if (segments.length === 2 && segments[1] === 'undefined' && providerPaths.has(segments[0] ?? '')) segments.pop()
  return `/${segments.join('/')}`
}

/** Whether a path was written as `pathBelow` reads it. One slash at its end is accepted: servers with `trailingSlash` redirect to it. */
export function isCanonical(basePath: string, pathname: string, path: string): boolean {
  const rest = restBelow(basePath, pathname) ?? ''
  const written = rest.endsWith('/') ? rest.slice(0, -1) : rest
  const own = path === '/' ? '' : path
  return written === own || written === `${own}/undefined`
}

/** Whether a path is the base path or below it, in whatever spelling. */
export function isBelow(basePath: string, pathname: string): boolean {
  return restBelow(basePath, pathname) !== undefined
}

function restBelow(basePath: string, pathname: string): string | undefined {
  const base = basePath === '/' ? '' : basePath
  if (!pathname.startsWith(base)) return undefined
  const rest = pathname.slice(base.length)
  // "/authors" is not below "/auth".
  return rest === '' || rest.startsWith('/') ? rest : undefined
}

function canonicalSegment(segment: string): string | undefined {
  if (!segment.includes('%')) return segment
  try {
    decodeURIComponent(segment)
  } catch {
    return undefined
  }
  return segment.replace(/%[0-9a-f]{2}/gi, (escape) => {
    const character = String.fromCharCode(Number.parseInt(escape.slice(1), 16))
    return /[\w.~-]/.test(character) ? character : escape.toUpperCase()
  })
}
