/** The only place that knows the names, prefixes and flags of cookies. */
import type { CookieHandle } from '../contract/cookie.ts'
import type { CookieOption, CookieOptions, CookieSet, CookiesOptions } from '../contract/data.ts'
import type { Settings } from '../contract/config.ts'
import { merge } from '../options/config.ts'

type CookieNames = Pick<Settings, 'cookiePrefix' | 'sessionCookieName'>

/** The own cookies and those of plugins, with the host's overrides; build once per prefix. */
export function cookieSet(
  { cookiePrefix: prefix, sessionCookieName = 'session-token' }: CookieNames,
  secure: boolean,
  overrides: Partial<CookiesOptions> = {},
  declared: readonly CookieHandle['spec'][] = [],
): CookieSet {
  const cookie = (name: string, lead: '__Secure-' | '__Host-', extra?: CookieOptions): CookieOption => ({
    name: `${secure ? lead : ''}${prefix}.${name}`,
    options: { httpOnly: true, sameSite: 'lax', path: '/', secure, ...extra },
  })
  const own = {
    sessionToken: cookie(sessionCookieName, '__Secure-'),
    callbackUrl: cookie('callback-url', '__Secure-'),
    // __Host-: a sibling sub-domain must not be able to plant a token it knows.
    csrfToken: cookie('csrf-token', '__Host-'),
  }
  const others = declared.map(({ name, key, path = 'root', sameSite = 'lax', maxAge, prefix = 'host' }) => {
    const where = path === 'root' || path === 'base' ? '/' : path
    // Browsers take a name with __Host- from this host alone, so that no sibling sub-domain can plant a flow of its own: at `/`, and without a domain.
    const { domain, path: placed = where } = (overrides as Partial<CookieSet & Record<string, Partial<CookieOption>>>)[key]?.options ?? {}
    const lead = prefix === 'host' && placed === '/' && !domain ? '__Host-' : '__Secure-'
    return [key, cookie(name, lead, { path: where, sameSite, ...(maxAge !== undefined && { maxAge }) })] as const
  })
  return merge(overrides, { ...own, ...Object.fromEntries(others) }) as CookieSet
}

/** Sets by settings and protocol, each built once. */
export function createCookieSets(
  overrides: Partial<CookiesOptions>,
  declared: readonly CookieHandle['spec'][] = [],
): (settings: CookieNames, secure: boolean) => CookieSet {
  const sets = new WeakMap<object, readonly [plain: CookieSet, secure: CookieSet]>()
  return (settings, secure) => {
    let pair = sets.get(settings)
    if (!pair) {
      sets.set(settings, (pair = [cookieSet(settings, false, overrides, declared), cookieSet(settings, true, overrides, declared)]))
    }
    return pair[secure ? 1 : 0]
  }
}

// RFC 6265 token and attribute characters: a host's override must not be able to smuggle in attributes or headers.
const cookieName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const cookieAttribute = /^[\u0020-\u003A\u003C-\u007E]*$/

/** Says what browsers would reject of a set of cookies, or nothing. */
export function cookieFault(set: CookieSet): string | undefined {
  // An override for a cookie of a plugin that is not there has no name of its own.
  for (const [key, { name = '', options = {} }] of Object.entries(set as Record<string, Partial<CookieOption>>)) {
    if (name === '') continue
    if (!cookieName.test(name)) return `cookies.${key}.name has characters that a cookie name cannot have.`
    for (const field of ['domain', 'path'] as const) {
      if (!cookieAttribute.test(options[field] ?? ''))
        return `cookies.${key}.options.${field} has characters that a cookie attribute cannot have.`
    }
    if (name.startsWith('__Host-') && (options.domain || options.path !== '/' || !options.secure)) {
      return `cookies.${key} is named __Host-, which demands secure, path "/" and no domain: set \`useSecureCookies\`, or give it another name.`
    }
    if (name.startsWith('__Secure-') && !options.secure)
      return `cookies.${key} is named __Secure-, which demands secure: set \`useSecureCookies\`, or give it another name.`
  }
  return undefined
}
