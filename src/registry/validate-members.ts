/** Members that only a compilation knows: cookies and pages of plugins, and the declarations of cookies. */
import type { CookieSpec } from '../contract/cookie.ts'
import type { CookieOptions, CookiesOptions, PagesOptions } from '../contract/data.ts'
import { AuthError } from '../errors/index.ts'
import { assertNames, type OptionNames } from '../options/plugin-options.ts'
import type { Compiled } from './snapshot.ts'

const cookies: OptionNames<CookiesOptions> = {
  sessionToken: true,
  callbackUrl: true,
  csrfToken: true,
  pkceCodeVerifier: true,
  state: true,
  nonce: true,
  webauthnChallenge: true,
}
const attributes: OptionNames<CookieOptions> = {
  maxAge: true,
  expires: true,
  domain: true,
  path: true,
  httpOnly: true,
  secure: true,
  partitioned: true,
  priority: true,
  sameSite: true,
  encode: true,
}
const pages: Readonly<Partial<Record<keyof PagesOptions, true>>> = {
  signIn: true,
  signOut: true,
  error: true,
  verifyRequest: true,
  verifyConfirm: true,
  newUser: true,
}
/** What other libraries and people call them. */
const otherPages: Readonly<Record<string, string>> = {
  login: 'It is called `pages.signIn`.',
  logout: 'It is called `pages.signOut`.',
  register: 'It is called `pages.newUser`.',
}
const spec: OptionNames<CookieSpec> & { name: true } = {
  name: true,
  path: true,
  prefix: true,
  sameSite: true,
  chunked: true,
  maxAge: true,
  key: true,
}
const words: Readonly<Record<string, readonly unknown[]>> = { prefix: ['host', 'secure'], sameSite: ['lax', 'strict', 'none'] }

/** Throws AuthError for a cookie or page that nothing has, for an unknown attribute, and for the declaration of a cookie that is misspelt. */
export function checkMembers({ config, draft }: Pick<Compiled, 'config'> & { draft: Compiled['draft'] }): void {
  const declared = [...draft.ownCookies.values()]
  for (const { value, owner } of declared) {
    const who = `Plugin "${owner}": the cookie "${value.spec.name}"`
    assertNames(who, value.spec, spec)
    for (const [name, known] of Object.entries(words)) {
      const given: unknown = value.spec[name as keyof CookieSpec]
      if (given !== undefined && !known.includes(given))
        throw new AuthError(
          `${who} has \`${name}: ${JSON.stringify(given)}\`. Known: ${known.map((one) => JSON.stringify(one)).join(', ')}.`,
        )
    }
    const { path } = value.spec
    if (path !== undefined && path !== 'base' && path !== 'root' && !String(path).startsWith('/'))
      throw new AuthError(`${who} has \`path: ${JSON.stringify(path)}\`. Write "base", "root", or a path that starts with "/".`)
  }
  const keys = Object.fromEntries(declared.map(({ value }) => [value.spec.key, true]))
  assertNames('createAuth', config.cookies, { ...cookies, ...keys }, 'cookies')
  for (const [key, cookie] of Object.entries(config.cookies as Record<string, { options?: object } | undefined>)) {
    if (cookie === undefined) continue
    assertNames('createAuth', cookie, { name: true, options: true }, `cookies.${key}`)
    if (cookie.options !== undefined) assertNames('createAuth', cookie.options, attributes, `cookies.${key}.options`)
  }
  const drawn = Object.fromEntries([...draft.parts.parts().pages.keys()].map((name) => [name, true]))
  assertNames('createAuth', config.pages, { ...pages, ...drawn }, 'pages', otherPages)
}
