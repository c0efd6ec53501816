/** The options of a host, with their defaults in place. */
import type { AuthConfig, ResolvedConfig, Throttle } from '../contract/config.ts'
import { createLogger } from '../runtime/logger.ts'
import { resolveRuntime } from '../runtime/runtime.ts'
import { merge } from './merge.ts'

const defaults = {
  basePath: '/auth',
  session: { maxAge: 30 * 24 * 60 * 60, updateAge: 24 * 60 * 60 },
  jwt: {},
  pages: {},
  cookies: {},
  theme: {},
  sessionOnError: 'throw',
  deadlines: { store: 5_000, network: 10_000, request: 15_000 },
  limits: { body: 65_536, callbackUrl: 2_048, providerResponse: 1_048_576 },
}
const throttleDefaults = { mail: { max: 3, seconds: 600 }, credentials: { max: 10, seconds: 600 } }

/** Puts defaults under a host's options. The host's object is read, never written (D18). */
export function resolveConfig(config: AuthConfig): ResolvedConfig {
  const { adapter, logger, runtime, secret, throttle, providers: _providers, ...plain } = config
  const merged = merge(plain, defaults) as unknown as ResolvedConfig
  return Object.freeze<ResolvedConfig>({
    ...merged,
    adapter,
    basePath: trimmedBasePath(merged.basePath),
    secret: secrets(secret),
    throttle: throttle === false ? { mail: false, credentials: false } : (merge(throttle ?? {}, throttleDefaults) as Throttle),
    logger: createLogger(logger, config.debug),
    runtime: resolveRuntime(runtime),
  })
}

/** `/auth/` means `/auth`; what is no path stays, to be refused at compile. */
export function trimmedBasePath(path: string): string {
  return typeof path === 'string' && path.startsWith('/') ? path.replace(/(?<!\/)\/+$/, '') || '/' : path
}

/** Secrets as a list, newest first; empty strings do not count. */
export function secrets(secret: string | readonly string[] | undefined): readonly string[] {
  return (typeof secret === 'string' ? [secret] : (secret ?? [])).filter((value) => value !== '')
}
