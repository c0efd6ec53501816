/** Two cookies of one name in a request: a sub-domain beside this one may have planted one of them, and a browser does not say which. */
import { type CookieSerializeOptions, parseCookie, serializeCookie } from 'cookie-es'
import type { CookieOptions } from '../contract/data.ts'

const maxLines = 24
// Of a chunk: a dot and a number.
const maxSuffix = 5

/** Whether the header has different values of `name` or of one of its chunks, or a whole value beside chunks. */
export function isDoubled(header: string, name: string): boolean {
  if (!countCookies(header, name)) return false
  const all = valuesOf(header, name)
  return all.some(([key, values]) => values.size > 1 || (key === name && all.length > 1))
}

/**
 * Lines that expire what another place may have set under the name: for this host alone and for the domains above it, at `/` and at the base path. The
 * place of `options` is left out.
 */
export function expiredElsewhere(header: string, name: string, options: CookieOptions, host: string, basePath: string): string[] {
  // Browsers take such a name from this host at `/` alone.
  if (name.startsWith('__Host-')) return []
  const { expires: _expires, domain: ownDomain = '', path: ownPath = '/', ...rest } = options
  const labels = /^[\d.]+$|:/.test(host) ? [] : host.split('.')
  // No cookie is set for a top-level domain.
  const domains = ['', ...labels.map((_label, at) => labels.slice(at).join('.')).slice(0, -1)]
  return domains
    .flatMap((domain) => ['/', basePath].map((path) => ({ ...rest, maxAge: 0, path, domain }) as CookieSerializeOptions))
    .filter(({ domain, path }) => domain !== ownDomain.replace(/^\./, '') || path !== ownPath)
    .flatMap((place) => valuesOf(header, name).map(([cookie]) => serializeCookie(cookie, '', place)))
    .slice(0, maxLines)
}

/** Whether a name comes twice, or a whole value beside chunks: looked for without decoding, because a strange cookie must cost no more than a good one. */
function countCookies(header: string, name: string): boolean {
  const seen = new Set<string>()
  for (let at = header.indexOf(name); at !== -1; at = header.indexOf(name, at + name.length)) {
    const end = header.indexOf('=', at)
    const key = header.slice(at, end === -1 ? undefined : end).trim()
    if (key.length > name.length + maxSuffix) continue
    if (seen.has(key)) return true
    seen.add(key)
  }
  return seen.has(name) && seen.size > 1
}

/** What came under the name and its chunks. */
function valuesOf(header: string, name: string): [key: string, values: Set<unknown>][] {
  const filter = (key: string): boolean => key.startsWith(name) && /^(\.\d{1,4})?$/.test(key.slice(name.length))
  const found = Object.entries(parseCookie(header, { allowMultiple: true, filter }))
  return found
    .map(([key, values]): [string, Set<unknown>] => [key, new Set([values].flat().filter(Boolean))])
    .filter(([, { size }]) => size > 0)
}
