/** How the search of the site ranks: words that mean the same, and guides before reference. The functions run in the browser, so each has all that it needs. */

/** Options of MiniSearch for a query. */
export const searchOptions: {
  prefix: boolean
  fuzzy: number
  boost: Record<string, number>
  processTerm: typeof expandTerm
  boostDocument: typeof rankPage
} = {
  prefix: true,
  fuzzy: 0.15,
  boost: { title: 6, text: 1, titles: 2 },
  processTerm: expandTerm,
  boostDocument: rankPage,
}

/** The words to look for instead of one that a reader types. */
export function expandTerm(term: string): string | string[] {
  const word = term.toLowerCase()
  const synonyms: Record<string, string[]> = {
    '2fa': ['2fa', 'factor', 'totp'],
    mfa: ['2fa', 'mfa', 'factor', 'totp'],
    totp: ['totp', '2fa', 'factor'],
    authenticator: ['authenticator', '2fa', 'totp'],
    otp: ['otp', 'codes', '2fa'],
    rbac: ['rbac', 'role', 'roles', 'permissions'],
    permission: ['permission', 'permissions', 'roles', 'rbac'],
    permissions: ['permissions', 'permission', 'roles', 'rbac'],
    sso: ['sso', 'saml', 'single'],
    saml: ['saml', 'sso'],
    passwordless: ['passwordless', 'magic', 'passkeys'],
    webauthn: ['webauthn', 'passkeys', 'passkey'],
    passkey: ['passkey', 'passkeys'],
    remember: ['remember', 'maxage', 'sessions'],
    forgot: ['forgot', 'reset'],
    forgotten: ['forgot', 'reset'],
    signup: ['sign-up', 'sign', 'registration'],
    register: ['register', 'registration', 'sign-up'],
    login: ['login', 'sign-in', 'sign'],
    signin: ['sign-in', 'sign', 'login'],
    logout: ['logout', 'sign-out', 'signed'],
    signout: ['sign-out', 'logout'],
    cors: ['cors', 'origin', 'spa'],
    spa: ['spa', 'cors'],
    oauth: ['oauth', 'provider', 'providers'],
    oidc: ['oidc', 'openid'],
    social: ['social', 'providers'],
    multitenant: ['multi-tenancy', 'tenants', 'tenant'],
    teams: ['teams', 'organizations'],
    jwt: ['jwt', 'token'],
    m2m: ['keys', 'credentials', 'machine'],
    ratelimit: ['limits', 'rate'],
    throttle: ['throttle', 'limits', 'rate'],
    captcha: ['captcha', 'turnstile'],
    gdpr: ['erase', 'export', 'deletion'],
    scim: ['scim', 'directory'],
    middleware: ['middleware', 'proxy', 'guard'],
    prisma: ['prisma', 'adapters', 'sql'],
    drizzle: ['drizzle', 'adapters', 'sql'],
    expo: ['expo', 'mobile', 'native'],
  }
  return Object.hasOwn(synonyms, word) ? synonyms[word]! : word
}

/** Guides first, then plugins, then reference: the id of a section is its address. */
export function rankPage(id: string): number {
  if (/\/(?:quick-start|tasks\/|concepts\/|migrate\/)/.test(id)) return 2
  if (/\/(?:reference|api|playground|providers\/\w|differences|rows|speed|writing-|architecture|style|licenses|conformance)/.test(id))
    return 0.3
  return 1
}
