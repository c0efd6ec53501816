/** What browsers refuse of cookies: loaded with the checks of options. */
import type { CookieOption, CookieSet } from '../contract/data.ts'

// RFC 6265 token and attribute characters: a host's override must not be able to smuggle in attributes or headers.
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const attribute = /^[\u0020-\u003A\u003C-\u007E]*$/

/** Says what is wrong with a set of cookies, or nothing. */
export function cookieFault(set: CookieSet): string | undefined {
  // An override for a cookie of a plugin that is not there has no name of its own.
  for (const [key, { name = '', options = {} }] of Object.entries(set as Record<string, Partial<CookieOption>>)) {
    if (name === '') continue
    if (!token.test(name)) return `cookies.${key}.name has characters that a cookie name cannot have.`
    for (const field of ['domain', 'path'] as const) {
      if (!attribute.test(options[field] ?? ''))
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
