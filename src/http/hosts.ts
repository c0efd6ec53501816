/** Hosts and origins as options write them. */

/** Exact host[:port], or one leading `*.` for any number of labels; case does not count. */
export function hostMatches(pattern: string, host: string): boolean {
  const wanted = pattern.toLowerCase()
  const actual = host.toLowerCase()
  if (!wanted.startsWith('*.')) return wanted === actual
  return actual.endsWith(wanted.slice(1)) && actual.length > wanted.length - 1
}

/** Says what is wrong with a configured origin, or nothing. */
export function originFault(origin: string): string | undefined {
  if (origin === '') return undefined
  const url = URL.canParse(origin) ? new URL(origin) : undefined
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    return `origin "${origin}" (option \`origin\`, or AUTH_URL) is not an http(s) URL: write "https://app.example".`
  if (url.origin !== origin) return `origin "${origin}" must be scheme, host and port only: "${url.origin}".`
  return undefined
}
