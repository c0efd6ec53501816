/** Finds misspelt options of `createAuth`, for hosts without TypeScript. Names that are close to none may belong to somebody else's wrapper. */
import type { AuthConfig, JWTOptions, SessionOptions } from '../contract/config.ts'
import { didYouMean, nearest } from '../errors/did-you-mean.ts'
import { AuthError } from '../errors/index.ts'

type Names<T> = Record<Exclude<keyof T, symbol>, true>

// Records, so that the compiler finds what is missing.
const own: Names<AuthConfig> = {
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
const session: Names<SessionOptions> = {
  strategy: true,
  maxAge: true,
  updateAge: true,
  absoluteMaxAge: true,
  revocable: true,
  generateSessionToken: true,
}
const jwt: Names<JWTOptions> & { secret: true } = { maxAge: true, encode: true, decode: true, secret: true }
const deadlines: Names<NonNullable<AuthConfig['deadlines']>> = { store: true, network: true, request: true }
const limits: Names<NonNullable<AuthConfig['limits']>> = { body: true, callbackUrl: true, providerResponse: true }
const throttle: Names<Exclude<AuthConfig['throttle'], false | undefined>> = { mail: true, credentials: true }
const nested = { session, jwt, deadlines, limits, throttle }

/** Throws AuthError for a name that is close to an option and is none. */
export function checkHostNames(config: AuthConfig): void {
  check('', config, own)
  for (const [option, names] of Object.entries(nested)) check(`${option}.`, config[option as keyof typeof nested], names)
}

function check(path: string, given: unknown, names: object): void {
  if (typeof given !== 'object' || given === null) return
  const known = Object.keys(names)
  const wrong = Object.keys(given).find((name) => !known.includes(name) && nearest(name, known, 1 / 4) !== undefined)
  if (wrong) throw new AuthError(`createAuth has no option \`${path}${wrong}\`.${didYouMean(wrong, known)}`)
}
