/** Hosts and networks of a request, as options, proxies and addresses write them. */

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

/** The value that the outermost trusted proxy wrote: the first with `true`, the n-th from the right with n hops. */
export function forwardedValue(headers: Headers, name: string, hops: number | true): string | undefined {
  if (hops === 0) return undefined
  const values = (headers.get(name) ?? '').split(',').map((value) => value.trim())
  const value = hops === true ? values[0] : values[Math.max(0, values.length - hops)]
  return value === '' ? undefined : value
}

/** A network, which limits count by, because one host has many addresses; and how many times the budget of the smallest one it has. */
export interface Network {
  /** The address, or the network in CIDR notation. */
  key: string
  /** Times the budget: 1, and 8 for the /48 of IPv6. */
  scale: number
}

/**
 * The networks of an address, smallest first. An IPv4 address stands for itself. An IPv6 address has the /64, which one host owns, and the /48, which one customer may own, with eight times the budget. IPv4-mapped addresses count as IPv4. What is no address shares one bucket.
 */
export function networksOf(address: string | undefined): Network[] {
  const plain = (address ?? '').trim()
  // Some proxies add the port.
  const v4 = /^(\d{1,3}(?:\.\d{1,3}){3})(?::\d+)?$/.exec(plain)?.[1]
  if (v4) return [{ key: v4, scale: 1 }]
  const groups = expandAddress(plain)
  if (!groups) return [{ key: 'unknown', scale: 1 }]
  const [a, b, c, d, e, f, high = 0, low = 0] = groups
  if (!a && !b && !c && !d && !e && f === 0xffff) return [{ key: `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`, scale: 1 }]
  const hex = groups.map((group) => group.toString(16))
  return [
    { key: `${hex.slice(0, 4).join(':')}::/64`, scale: 1 },
    { key: `${hex.slice(0, 3).join(':')}::/48`, scale: 8 },
  ]
}

/** The eight groups of an IPv6 address in any spelling, with brackets, port or zone or without; undefined: it is none. */
export function expandAddress(address: string): number[] | undefined {
  const host = (/^\[(.*)\](?::\d+)?$/.exec(address)?.[1] ?? address).split('%', 1)[0]!
  if (!host.includes(':') || !URL.canParse(`http://[${host}]`)) return undefined
  // The URL parser knows every spelling; the zeros it hides are put back.
  const [head = '', tail] = new URL(`http://[${host}]`).hostname.slice(1, -1).split('::')
  const parse = (text = ''): number[] => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)))
  const [left, right] = [parse(head), parse(tail)]
  return [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right]
}
