/** Our own Set-Cookie headers, for frameworks that want names, values and attributes. */
import type { CookieOptions } from 'authkernel/kernel'

/** A cookie to set; the value is as it goes onto the wire. */
export interface SetCookie {
  name: string
  value: string
  options: CookieOptions & { path: string }
}

/** The cookies of a response. Knows what the kernel writes, and no more. */
export function cookiesOf(headers: Headers): SetCookie[] {
  return headers.getSetCookie().map((line) => {
    const [pair = '', ...attributes] = line.split(/;\s*/)
    const at = pair.indexOf('=')
    const said = new Map(attributes.map((attribute) => split(attribute)))
    const options: SetCookie['options'] = { path: said.get('path') ?? '/' }
    const [maxAge, expires, domain, sameSite] = ['max-age', 'expires', 'domain', 'samesite'].map((name) => said.get(name))
    if (maxAge !== undefined) options.maxAge = Number(maxAge)
    if (expires !== undefined) options.expires = new Date(expires)
    if (domain !== undefined) options.domain = domain
    if (sameSite !== undefined) options.sameSite = sameSite.toLowerCase() as 'lax' | 'strict' | 'none'
    // Said even when false: SvelteKit's own defaults are others.
    for (const [flag, name] of flags) options[name] = said.has(flag)
    return { name: pair.slice(0, at), value: pair.slice(at + 1), options }
  })
}

const flags = [
  ['httponly', 'httpOnly'],
  ['secure', 'secure'],
  ['partitioned', 'partitioned'],
] as const

function split(attribute: string): [string, string] {
  const at = attribute.indexOf('=')
  return at === -1 ? [attribute.toLowerCase(), ''] : [attribute.slice(0, at).toLowerCase(), attribute.slice(at + 1)]
}
