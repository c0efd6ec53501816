/** Options of NextAuth 4 as options of `createAuth`. */
import { type AuthConfig, AuthError, type LoggerInstance } from 'authkernel/kernel'
import { convertProvider } from './providers.ts'

/** The options that differ; all others are those of `createAuth`. */
export interface NextAuth4Options extends Omit<AuthConfig, 'providers' | 'jwt' | 'logger' | 'secret' | 'cookies'> {
  /** Providers of `next-auth/providers/*`, of `authkernel/providers/*`, or custom objects. OAuth 1.0 is rejected. */
  providers: readonly unknown[]
  /** `NEXTAUTH_SECRET`, at least 32 characters. Default: AUTH_SECRET. */
  secret?: string | undefined
  /** `secret` seals session tokens instead of the secret of the options. */
  jwt?: (Omit<NonNullable<AuthConfig['jwt']>, never> & { secret?: string | undefined }) | undefined
  /** With the arguments of version 4: a code, then details. */
  logger?: { [Level in 'error' | 'warn' | 'debug']?: ((code: never, metadata: never) => void) | undefined } | undefined
  /** Names and attributes of cookies. */
  cookies?: Record<string, { name?: string; options?: object } | undefined> | undefined
}

const announcements = Symbol('announcements')

/**
 * Converts the options of an app that used NextAuth 4: `createAuth(nextAuth4Options(authOptions)).use(nextAuth4CompatPlugin())`. What cannot be kept
 * is logged once at start, as `next-auth-4-option`. Throws AuthError for a provider of OAuth 1.0. The object that is given is not changed.
 */
export function nextAuth4Options(options: NextAuth4Options): AuthConfig {
  const announcedTexts: string[] = []
  const announce = (text: string): void => void (announcedTexts.includes(text) || announcedTexts.push(text))
  const { providers, secret, jwt, logger, cookies, callbacks, ...same } = options
  if (!Array.isArray(providers)) throw new AuthError('nextAuth4Options: `providers` must be a list.')
  const { secret: tokenSecret, ...tokens } = jwt ?? {}
  const secrets = [...new Set([tokenSecret, secret])].filter((one) => one !== undefined && one !== '') as string[]
  return {
    ...same,
    providers: providers.map((provider) => convertProvider(provider, announce)),
    ...(secrets.length > 0 && { secret: secrets.length === 1 ? secrets[0] : secrets }),
    ...(Object.keys(tokens).length > 0 && { jwt: tokens }),
    ...(cookies && { cookies: cookies as AuthConfig['cookies'] }),
    ...(callbacks && { callbacks: convertCallbacks(callbacks) }),
    ...(logger && { logger: convertLogger(logger as Logger4) }),
    [announcements]: announcedTexts,
  } as AuthConfig
}

/** What `nextAuth4Options` could not keep of these options. */
export function announcementsOf(config: object): readonly string[] {
  return (config as { [announcements]?: readonly string[] })[announcements] ?? []
}

type Callbacks = NonNullable<AuthConfig['callbacks']>

/** In version 4 the session of a row has `user` and `expires` alone: what a callback spreads reaches the browser. */
function convertCallbacks({ session, ...callbacks }: Callbacks): Callbacks {
  if (!session) return callbacks
  return {
    ...callbacks,
    session: (params) => {
      const { user, expires } = params.session
      return session({ ...params, session: { user, expires } as typeof params.session })
    },
  }
}

type Logger4 = { [Level in 'error' | 'warn' | 'debug']?: (code: string, metadata?: unknown) => void }

function convertLogger({ error, warn, debug }: Logger4): Partial<LoggerInstance> {
  return {
    ...(error && { error: (failure: Error) => error((failure as { type?: string }).type ?? failure.name, failure) }),
    ...(warn && { warn: (code: string, details?: unknown) => warn(code, details) }),
    ...(debug && { debug: (message: string, metadata?: unknown) => debug(message, metadata) }),
  }
}
