/** The environment variables that options are read from. */
import type { AuthConfig, Env } from '../contract/config.ts'
import { listSecrets } from './config.ts'
import { providerFromEnv, readEnv } from './providers.ts'

/** Options that were filled before: what stands there is no choice of the host's any more. */
const filledConfigs = new WeakSet<AuthConfig>()

/** Whether `setEnvDefaults` has been here. */
export function hasEnvDefaults(config: AuthConfig): boolean {
  return filledConfigs.has(config)
}

const off = new Set(['false', '0', 'no', 'off'])

/**
 * Fills options of `config` that are undefined from the environment, those of its providers included: `clientId`, `clientSecret`, `issuer`, `apiKey`.
 * Uncalled presets are called. Writes to `config`, which is its purpose; the providers in it are copies.
 * @param suppressBasePathWarning do not warn when AUTH_URL has a path and `basePath` is set too
 */
export function setEnvDefaults(env: Env, config: AuthConfig, suppressBasePathWarning = false): void {
  fillFromEnv(env, config, suppressBasePathWarning)
  if (config.providers) config.providers = config.providers.map((provider) => providerFromEnv(provider, env))
}

/** The same without the providers, which `createAuth` leaves as they are until it compiles: a preset may throw when it is called. */
export function fillFromEnv(env: Env, config: AuthConfig, suppressBasePathWarning: boolean): void {
  const get = (name: string): string | undefined => readEnv(env, name)
  const url = get('AUTH_URL')
  const warn = (code: string): void => (config.logger?.warn ?? ((text: string) => console.warn(`[auth][warn][${code}]`, text)))(code)
  if (url !== undefined && /^https?:\/\//i.test(url) && URL.canParse(url)) {
    const { origin, pathname } = new URL(url)
    config.origin ??= origin
    const path = pathname.replace(/(?<!\/)\/+$/, '')
    if (path !== '') {
      if (config.basePath && !suppressBasePathWarning && !filledConfigs.has(config)) warn('env-url-basepath-redundant')
      config.basePath ??= path
    }
  } else if (url !== undefined) {
    // Refused at compile: a typing error must not end in links that follow the Host header (D34).
    config.origin ??= url
  }
  config.basePath ??= '/auth'
  if (listSecrets(config.secret).length === 0) {
    const found = ['AUTH_SECRET_3', 'AUTH_SECRET_2', 'AUTH_SECRET_1', 'AUTH_SECRET'].map(get).filter((value) => value !== undefined)
    if (found.length > 0) config.secret = found
  }
  config.redirectProxyUrl ??= get('AUTH_REDIRECT_PROXY_URL')
  config.trustHost ??= trustsHost(get)
  config.trustProxy ??= trustedProxies(get)
  config.env ??= env
  filledConfigs.add(config)
}

/** Undefined: nothing says so, and loopback hosts alone are believed. */
function trustsHost(get: (name: string) => string | undefined): boolean | undefined {
  const said = get('AUTH_TRUST_HOST')
  // "false" is a word people write and mean (D24).
  if (said !== undefined) return !off.has(said.toLowerCase())
  return [get('AUTH_URL'), get('VERCEL'), get('CF_PAGES')].some((value) => value !== undefined) || undefined
}

/** `trustProxy` as the environment says it. */
export function trustedProxies(get: (name: string) => string | undefined): boolean | number | undefined {
  const said = get('AUTH_TRUST_PROXY')
  if (said !== undefined) return /^\d+$/.test(said) ? Number(said) : !off.has(said.toLowerCase())
  // These platforms set the headers themselves and drop what a client sends.
  return get('VERCEL') !== undefined || get('CF_PAGES') !== undefined ? true : undefined
}
