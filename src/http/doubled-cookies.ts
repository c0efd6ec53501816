/** Two cookies of one name in a request: a sub-domain beside this one may have planted one of them, and a browser does not say which. */
import { parseCookie, serializeCookie } from 'cookie-es'
import type { CookieOptions } from '../contract/data.ts'

const maxDomains = 4
const maxLines = 24

/** Whether the header has different values of `name` or of one of its chunks, or a whole value beside chunks. */
export function isDoubled(header: string, name: string): boolean {
  const all = valuesOf(header, name)
  return (all.has(name) && all.size > 1) || [...all.values()].some((values) => values.size > 1)
}

/**
 * Lines that expire what another place may have set under the name: for this host alone and for the domains above it, at `/` and at the base path. The
 * place of `options` is left out.
 */
export function expiredElsewhere(header: string, name: string, options: CookieOptions, host: string, basePath: string): string[] {
  // Browsers take such a name from this host at `/` alone.
  if (name.startsWith('__Host-')) return []
  const { expires: _expires, domain: ownDomain, path: ownPath = '/', ...rest } = options
  const own = `${(ownDomain ?? '').replace(/^\./, '')} ${ownPath}`
  const labels = /^[\d.]+$|:/.test(host) ? [] : host.split('.')
  const above = labels.map((_label, at) => labels.slice(at).join('.')).filter((domain) => domain.includes('.'))
  const places = ['', ...above.slice(0, maxDomains)].flatMap((domain) => [...new Set(['/', basePath])].map((path) => ({ domain, path })))
  return places
    .filter(({ domain, path }) => `${domain} ${path}` !== own)
    .flatMap(({ domain, path }) =>
      [...valuesOf(header, name).keys()].map((cookie) =>
        serializeCookie(cookie, '', { ...rest, path, maxAge: 0, ...(domain !== '' && { domain }) } as Parameters<
          typeof serializeCookie
        >[2]),
      ),
    )
    .slice(0, maxLines)
}

/** What came under the name and its chunks. */
function valuesOf(header: string, name: string): Map<string, Set<string>> {
  const isOwn = (key: string): boolean => key === name || (key.startsWith(`${name}.`) && /^\d{1,4}$/.test(key.slice(name.length + 1)))
  const found = Object.entries(parseCookie(header, { allowMultiple: true, filter: isOwn }))
  const all = found.map(([key, values]) => [key, new Set([values].flat().filter((value) => value !== undefined && value !== ''))] as const)
  return new Map(all.filter(([, values]) => values.size > 0) as [string, Set<string>][])
}
