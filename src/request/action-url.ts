/** URLs of the routes, for bindings that speak to them. */
import type { Env } from '../contract/config.ts'
import type { LoggerInstance } from '../contract/data.ts'
import { readEnv } from '../options/providers.ts'

/** Routes of the library, by the first segment below the base path. */
export type AuthAction =
  | 'callback'
  | 'csrf'
  | 'error'
  | 'providers'
  | 'session'
  | 'signin'
  | 'signout'
  | 'verify-request'
  | 'webauthn-options'

const actions: ReadonlySet<string> = new Set([
  'callback',
  'csrf',
  'error',
  'providers',
  'session',
  'signin',
  'signout',
  'verify-request',
  'webauthn-options',
])

/** Whether a text names a route. */
export function isAuthAction(action: string): action is AuthAction {
  return actions.has(action)
}

/**
 * `<origin>/<basePath>/<action>`: from AUTH_URL, else from the forwarded headers, else from Host and `protocol` (rows 61, 62).
 * Warns `env-url-basepath-mismatch` when AUTH_URL has another path than `basePath`, which wins (row 56).
 */
export function createActionURL(
  action: AuthAction,
  protocol: string,
  headers: Headers,
  env: Env,
  config: { basePath?: string | undefined; logger?: Partial<LoggerInstance> | undefined },
): URL {
  const basePath = config.basePath ?? '/auth'
  const configured = readEnv(env, 'AUTH_URL') ?? readEnv(env, 'NEXTAUTH_URL')
  let origin: string
  if (configured === undefined) {
    const proto = (headers.get('x-forwarded-proto') ?? protocol).split(',')[0]?.trim().replace(/:$/, '') ?? 'https'
    const host = (headers.get('x-forwarded-host') ?? headers.get('host'))?.split(',')[0]?.trim()
    if (!host) throw new TypeError('createActionURL needs a Host header, or AUTH_URL in the environment.')
    origin = `${proto === 'http' ? 'http' : 'https'}://${host}`
  } else {
    const url = new URL(configured)
    origin = url.origin
    if (url.pathname !== '/' && trimmed(url.pathname) !== trimmed(basePath)) {
      ;(config.logger?.warn ?? ((code: string) => console.warn(`[auth][warn][${code}]`)))('env-url-basepath-mismatch')
    }
  }
  return new URL([origin, trimmed(basePath), action].filter((part) => part !== '').join('/'))
}

function trimmed(path: string): string {
  return path.replace(/^\/+|\/+$/g, '')
}
