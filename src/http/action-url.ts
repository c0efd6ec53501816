/** URLs of the routes, for bindings that speak to them. */
import type { Env } from '../contract/config.ts'
import type { LoggerInstance } from '../contract/data.ts'
import { forwardedValue } from './hosts.ts'
import { trustedProxies } from '../options/env.ts'
import { readEnv } from '../options/providers.ts'

/** What `createActionURL` needs of the options. */
export interface ActionUrlConfig {
  /** Default: the path of AUTH_URL, else `/auth`. */
  basePath?: string | undefined
  /** Whether X-Forwarded-Host and X-Forwarded-Proto count, as in the options; default: AUTH_TRUST_PROXY, true on Vercel and Cloudflare Pages, else false. */
  trustProxy?: boolean | number | undefined
  /** Its `warn` receives the mismatch; default: the console. */
  logger?: Partial<LoggerInstance> | undefined
}

/**
 * `<origin>/<basePath>/<action>`. The origin is that of AUTH_URL (or NEXTAUTH_URL), else of the forwarded headers where `trustProxy` allows them, else
 * of Host and `protocol` (default https). Warns `env-url-basepath-mismatch` when AUTH_URL has another path than `basePath`, which wins (rows 56, 61, 62).
 * Throws TypeError without AUTH_URL and Host.
 */
export function createActionURL(
  action: string,
  protocol: string | undefined,
  headers: Headers,
  env: Env,
  config: ActionUrlConfig = {},
): URL {
  const configured = readEnv(env, 'AUTH_URL') ?? readEnv(env, 'NEXTAUTH_URL')
  const own = configured === undefined ? undefined : new URL(configured)
  const path = own && trimSlashes(own.pathname)
  const basePath = trimSlashes(config.basePath ?? (path || '/auth'))
  if (path && path !== basePath) {
    ;(config.logger?.warn ?? ((code: string) => console.warn(`[auth][warn][${code}]`)))('env-url-basepath-mismatch')
  }
  const origin = own?.origin ?? requestOrigin(protocol, headers, config.trustProxy ?? trustedProxies((name) => readEnv(env, name)))
  return new URL([origin, basePath, action].filter((part) => part !== '').join('/'))
}

function requestOrigin(protocol: string | undefined, headers: Headers, trustProxy: boolean | number | undefined): string {
  const hops = typeof trustProxy === 'number' ? trustProxy : trustProxy ? true : 0
  const proto = forwardedValue(headers, 'x-forwarded-proto', hops) ?? protocol?.replace(/:$/, '')
  const host = forwardedValue(headers, 'x-forwarded-host', hops) ?? headers.get('host')?.trim()
  if (!host) throw new TypeError('createActionURL needs a Host header, or AUTH_URL in the environment.')
  return `${proto === 'http' ? 'http' : 'https'}://${host}`
}

function trimSlashes(path: string): string {
  return path.replace(/^\/+|(?<!\/)\/+$/g, '')
}
