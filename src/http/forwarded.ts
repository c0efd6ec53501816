/** What proxies write. */

/** The value that the outermost trusted proxy wrote: the first with `true`, the n-th from the right with n hops. */
export function forwarded(headers: Headers, name: string, hops: number | true): string | undefined {
  if (hops === 0) return undefined
  const values = (headers.get(name) ?? '').split(',').map((value) => value.trim())
  const value = hops === true ? values[0] : values[Math.max(0, values.length - hops)]
  return value === '' ? undefined : value
}
