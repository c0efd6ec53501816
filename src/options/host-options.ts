/** Rejects options of a host that have a wrong shape, or that nothing knows, for hosts without TypeScript: an option without effect may be a protection. */
import type { AuthConfig, JWTOptions, SessionOptions } from '../contract/config.ts'
import { AuthError } from '../errors/index.ts'
import { didYouMean, findNearest } from '../errors/did-you-mean.ts'
import { type OptionNames, assertNames, themeNames } from './option-names.ts'

const shapes: Readonly<Record<string, readonly string[]>> = {
  object: 'session jwt callbacks events pages cookies theme logger limits deadlines experimental adapter runtime'.split(' '),
  'object or false': ['throttle'],
  list: ['providers', 'allowedHosts'],
  string: ['basePath', 'origin', 'redirectProxyUrl'],
  'string or list': ['secret'],
}

/** A copy without `null`, which says what undefined says: JSON has no other word. Throws AuthError with the name of the option of the wrong shape. */
export function checkShapes(config: AuthConfig): AuthConfig {
  if (kindOf(config) !== 'object') throw new AuthError(`createAuth takes an object of options, not ${describeValue(config)}.`)
  const given = Reflect.ownKeys(config).filter((name) => (config as Record<PropertyKey, unknown>)[name] !== null)
  const copy = Object.fromEntries(given.map((name) => [name, (config as Record<PropertyKey, unknown>)[name]])) as Record<string, unknown>
  for (const [shape, names] of Object.entries(shapes)) {
    const allowed = shape.split(' or ')
    const wrong = names.find((name) => copy[name] !== undefined && !allowed.includes(kindOf(copy[name])))
    if (wrong) throw new AuthError(`createAuth: \`${wrong}\` must be ${toPhrase(shape)}, not ${describeValue(copy[wrong])}.`)
  }
  checkHostNames(copy as AuthConfig)
  return copy as AuthConfig
}

function kindOf(value: unknown): string {
  if (value === false) return 'false'
  // Adapters and loggers may be functions with members.
  return Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value === 'function' ? 'object' : typeof value
}

function toPhrase(shape: string): string {
  return shape.replace('object', 'an object').replace('list', 'a list').replace('string', 'a string')
}

/** Without the value: it may be a secret in the wrong place. */
function describeValue(value: unknown): string {
  const kind = kindOf(value)
  return ['false', 'null', 'undefined'].includes(kind) ? kind : `${kind === 'object' ? 'an' : 'a'} ${kind}`
}

// Records, so that the compiler finds what is missing.
const own: OptionNames<AuthConfig> = {
  providers: true,
  adapter: true,
  secret: true,
  basePath: true,
  session: true,
  jwt: true,
  callbacks: true,
  events: true,
  pages: true,
  cookies: true,
  useSecureCookies: true,
  trustHost: true,
  redirectProxyUrl: true,
  debug: true,
  logger: true,
  theme: true,
  experimental: true,
  skipCSRFCheck: true,
  raw: true,
  origin: true,
  allowedHosts: true,
  trustProxy: true,
  env: true,
  sessionOnError: true,
  deadlines: true,
  limits: true,
  throttle: true,
  appName: true,
  messages: true,
  locale: true,
  allowedRedirects: true,
  runtime: true,
}
const session: OptionNames<SessionOptions> = {
  strategy: true,
  maxAge: true,
  updateAge: true,
  absoluteMaxAge: true,
  revocable: true,
  generateSessionToken: true,
}
const jwt: OptionNames<JWTOptions> & { secret: true } = { maxAge: true, encode: true, decode: true, secret: true }
const deadlines: OptionNames<NonNullable<AuthConfig['deadlines']>> = { store: true, network: true, request: true }
const limits: OptionNames<NonNullable<AuthConfig['limits']>> = { body: true, callbackUrl: true, providerResponse: true }
const throttle: OptionNames<Exclude<AuthConfig['throttle'], false | undefined>> = { mail: true, credentials: true }
const experimental: OptionNames<NonNullable<AuthConfig['experimental']>> = { enableWebAuthn: true }
const nestedOptions = { session, jwt, deadlines, limits, throttle, theme: themeNames, experimental }

/** What other libraries call it, and where it is here. */
const elsewhere: Readonly<Record<string, string>> = {
  plugins: 'Call `.use(plugin)` for each plugin: `createAuth(options).use(twoFactorPlugin())`.',
  emailAndPassword: 'Passwords are `.use(passwordsPlugin())` of authkernel/plugins/passwords.',
  emailVerification: 'Addresses are proved by `.use(passwordsPlugin())`, `.use(codesPlugin({ via: email() }))` or an email provider.',
  database: 'Give an `adapter`: `adapter: sqlAdapter(db)` of authkernel/plugins/sql, for example.',
  secondaryStorage: 'Give an `adapter`: `unstorageAdapter(storage)` of authkernel/plugins/unstorage, for example.',
  socialProviders: 'List them in `providers`: `providers: [github()]`.',
  baseURL: 'It is called `origin`, and its path `basePath`. AUTH_URL sets both.',
  baseUrl: 'It is called `origin`, and its path `basePath`. AUTH_URL sets both.',
  url: 'It is called `origin`, and its path `basePath`. AUTH_URL sets both.',
  trustedOrigins: 'Where a callbackUrl may lead is `allowedRedirects`; which hosts are believed is `allowedHosts`.',
  rateLimit: 'Attempts are counted by `throttle`, and requests by `.use(limitsPlugin())` of authkernel/plugins/limits.',
  databaseHooks: 'Give `callbacks` and `events`.',
  hooks: 'Give `callbacks` and `events`.',
  twoFactor: 'A second factor is `.use(twoFactorPlugin())` of authkernel/plugins/two-factor.',
  organization: 'Organizations are `.use(organizationsPlugin())` of authkernel/plugins/organizations.',
  captcha: 'It is `.use(captchaPlugin({ … }))` of authkernel/plugins/captcha.',
  apiKey: 'API keys are `.use(apiKeysPlugin())` of authkernel/plugins/api-keys.',
  passkey: 'Passkeys are `.use(webauthnPlugin())` of authkernel/plugins/webauthn.',
  appUrl: 'It is called `origin`. AUTH_URL sets it.',
  user: 'Custom fields of users are options of the adapter.',
  account: 'Accounts are linked by hooks: `callbacks.link` and `callbacks.signIn`.',
  advanced: 'Cookies are `cookies` and `useSecureCookies`, proxies `trustProxy`.',
}

/** Throws AuthError for a name that is no option, with the one that was meant or what to use in its place. `maker`: the function that was called. */
export function checkHostNames(config: AuthConfig, maker: 'createAuth' | 'createKernel' = 'createAuth'): void {
  assertNames(maker, config, own, undefined, elsewhere)
  for (const [option, names] of Object.entries(nestedOptions)) {
    const given: unknown = config[option as keyof typeof nestedOptions]
    if (given) assertNames(maker, given, names, option)
  }
  // A logger may have levels and members of its own, so only a misspelt level is refused.
  const levels = ['error', 'warn', 'debug'].filter((level) => !(level in (config.logger ?? {})))
  for (const name of Object.keys(config.logger ?? {}))
    if (findNearest(name, levels) !== undefined)
      throw new AuthError(`${maker} has no option \`logger.${name}\`.${didYouMean(name, levels)}`)
}
