/** Our own Set-Cookie headers, for frameworks that want names, values and attributes. */
import type { CookieOptions } from 'authkernel/kernel'
import { parseSetCookie } from 'cookie-es'

/** A cookie to set; the value is as it goes onto the wire. */
export interface SetCookie {
  name: string
  value: string
  options: CookieOptions & { path: string }
}

/** The cookies of a response. */
export function cookiesOf(headers: Headers): SetCookie[] {
  return headers.getSetCookie().flatMap((line) => {
    const cookie = parseSetCookie(line, { decode: false })
    if (!cookie) return []
    const { name, value, path = '/', maxAge, expires, domain, sameSite, httpOnly = false, secure = false, partitioned = false } = cookie
    // Flags are said even when false: SvelteKit's own defaults are others.
    const options: SetCookie['options'] = { path, httpOnly, secure, partitioned }
    if (maxAge !== undefined) options.maxAge = maxAge
    if (expires) options.expires = expires
    if (domain !== undefined) options.domain = domain
    if (typeof sameSite === 'string') options.sameSite = sameSite
    return [{ name, value, options }]
  })
}
