/** The options of a host, with their defaults in place. */
import type { AuthConfig, ResolvedConfig, Throttle } from '../contract/config.ts'
import { createLogger } from '../runtime/logger.ts'
import { resolveRuntime } from '../runtime/runtime.ts'
import { createDefu } from 'defu'
import { MissingSecret } from '../errors/index.ts'

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
const minSecret = 32
const throttleDefaults = { mail: { max: 3, seconds: 600 }, credentials: { max: 10, seconds: 600 } }

/** Puts defaults under a host's options. The host's object is read, never written (D18). */
export function resolveConfig(config: AuthConfig): ResolvedConfig {
  const { adapter, logger, runtime, secret, throttle, providers: _providers, ...plain } = config
  // What is missing is set below.
  const merged = merge(plain, defaults) as unknown as ResolvedConfig
  return Object.freeze<ResolvedConfig>({
    ...merged,
    adapter,
    basePath: trimmedBasePath(merged.basePath),
    secret: listSecrets(secret),
    throttle: throttle === false ? { mail: false, credentials: false } : (merge(throttle ?? {}, throttleDefaults) as Throttle),
    logger: createLogger(logger, config.debug),
    runtime: resolveRuntime(runtime),
  })
}

/** `/auth/` means `/auth`; what is no path stays, to be rejected at compile. */
export function trimmedBasePath(path: string): string {
  return typeof path === 'string' && path.startsWith('/') ? path.replace(/(?<!\/)\/+$/, '') || '/' : path
}

/** Secrets as a list, newest first; empty strings do not count. */
export function listSecrets(secret: string | readonly string[] | undefined): readonly string[] {
  return (typeof secret === 'string' ? [secret] : (secret ?? [])).filter((value) => value !== '')
}

/**
 * The one way in which options are merged. `over` over `under`: arrays replace, objects merge, `undefined` keeps what is under, `null` is a value,
 * symbol keys are copied. Plain defu would join arrays and drop nulls and symbols.
 */
export function merge<T extends object, U extends object>(over: T, under: U): T & U {
  const result = combine(over, under) as Record<PropertyKey, unknown>
  for (const key of Reflect.ownKeys(over)) {
    const value = (over as Record<PropertyKey, unknown>)[key]
    if (value === null || (typeof key === 'symbol' && value !== undefined)) result[key] = value
  }
  return result as T & U
}

const combine = createDefu((target, key, value) => {
  if (Array.isArray(value)) target[key] = value
  else if (isPlain(value) && isPlain(target[key])) target[key] = merge(value, target[key]) as never // defu gives the key no type.
  else return false
  return true
})

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Throws MissingSecret for no secret of a host or a tenant, and for a short one. */
export function assertSecrets(secrets: readonly string[]): void {
  const how = 'Make one with `npx authkernel secret` (or `openssl rand -base64 33`) and set AUTH_SECRET or the option `secret`.'
  // `authkernel init` writes the file, and Node reads none by itself.
  const file = 'If it stands in .env.local, Node has to read that file: `node --env-file=.env.local app.js`.'
  if (secrets.length === 0) throw new MissingSecret(`createAuth has no \`secret\`. ${how} ${file}`)
  if (secrets.some((secret) => typeof secret !== 'string' || secret.length < minSecret)) {
    throw new MissingSecret(`createAuth has a \`secret\` of less than ${minSecret} characters. ${how}`)
  }
}
