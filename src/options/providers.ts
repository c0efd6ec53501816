/** Makes a provider of what a host wrote: functions called, options merged, environment filled in, once per object. */
import type { Env, ProviderInput } from '../contract/config.ts'
import type { ProviderFlow } from '../contract/flow.ts'
import type { Provider, ProviderType } from '../contract/provider.ts'
import { InvalidProvider } from '../errors/index.ts'
import { merge } from './config.ts'

/** Provider option to suffix of `AUTH_<ID>_<SUFFIX>` (row 59). */
const envSuffixes: Readonly<Record<string, string>> = { clientId: 'ID', clientSecret: 'SECRET', issuer: 'ISSUER', apiKey: 'KEY' }

/** A provider with the host's options over the preset's own, and the environment under both. Throws InvalidProvider. */
export function normaliseProvider(
  input: ProviderInput,
  env: Env | false | undefined,
  suffixes: Readonly<Record<string, string>> = envSuffixes,
): Provider {
  const written = typeof input === 'function' ? input({}) : input
  const { options, ...own } = written as Provider & { options?: object }
  // A preset's own values stand under the environment, what the host wrote stands above it.
  const preset = options ? presetWithEnv(own as Provider, options, env, suffixes) : own
  const provider = { ...(options ? merge(options, preset) : preset) } as Record<string, unknown>
  if (typeof provider['id'] !== 'string' || !/^[\w.~-]+$/.test(provider['id']) || provider['id'] === 'undefined') {
    throw new InvalidProvider(
      `A provider of type "${String(provider['type'])}" has the id ${JSON.stringify(provider['id'])}: ` +
        'give it an `id` of letters, digits, "-", "_", "." that can stand in a URL.',
    )
  }
  provider['name'] ??= provider['id']
  return withEnv(asProvider(provider), env, suffixes)
}

// Two providers of one preset have ids of their own, whose variables count before those of the preset's id.
function presetWithEnv(
  own: Provider,
  options: { id?: string },
  env: Env | false | undefined,
  suffixes: Readonly<Record<string, string>>,
): object {
  const filled = withEnv(own, env, suffixes, options)
  return options.id === undefined ? filled : withEnv({ ...filled, id: options.id }, env, suffixes, options)
}

/** Fills what the environment knows and `said` does not; nothing is written to the given object. */
export function withEnv(
  provider: Provider,
  env: Env | false | undefined,
  suffixes: Readonly<Record<string, string>> = envSuffixes,
  said: object = provider,
): Provider {
  if (!env || typeof provider.id !== 'string') return provider
  const filled: Record<string, unknown> = { ...provider }
  for (const [option, value] of Object.entries(envOf(env, provider.id, suffixes))) {
    if ((said as Record<string, unknown>)[option] === undefined) filled[option] = value
  }
  return asProvider(filled)
}

/** A provider with what the environment knows, also among the options of its preset, where the host would have written it. */
export function providerFromEnv(input: ProviderInput, env: Env): Provider {
  const { options, ...own } = asProvider(typeof input === 'function' ? input({}) : input) as Provider & { options?: { id?: string } }
  if (!options) return withEnv(own as Provider, env)
  const known = { ...envOf(env, own.id), ...(options.id !== undefined && envOf(env, options.id)) }
  return asProvider({ ...presetWithEnv(own as Provider, options, env, envSuffixes), options: merge(options, known) })
}

/** Options that were put together one by one. The flow of their type checks them. */
export function asProvider(options: object): Provider {
  return options as Provider
}

/** Options that the environment has for an id. */
function envOf(env: Env, id: string, suffixes: Readonly<Record<string, string>> = envSuffixes): Record<string, string> {
  const prefix = `AUTH_${id.toUpperCase().replaceAll('-', '_')}_`
  const entries = Object.entries(suffixes).map(([option, suffix]) => [option, readEnv(env, prefix + suffix)] as const)
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined))
}

/** A value of the environment; empty counts as absent. */
export function readEnv(env: Env, name: string): string | undefined {
  const value = typeof env === 'function' ? env(name) : Object.hasOwn(env, name) ? env[name] : undefined
  return value === '' ? undefined : value
}

/** Suffixes of a type: its own, else the common ones. */
export function suffixesOf(flow: ProviderFlow<Provider> | undefined): Readonly<Record<string, string>> {
  return flow?.env ?? envSuffixes
}

/** Copies with the URLs of one base, so that callbacks see where they are (row 358); the last base is kept. */
export function createAddresses(): (provider: Provider, base: string) => Provider {
  const known = new WeakMap<Provider, { base: string; addressed: Provider }>()
  return (provider, base) => {
    const last = known.get(provider)
    if (last?.base === base) return last.addressed
    const addressed = { ...provider, signinUrl: `${base}/signin/${provider.id}`, callbackUrl: `${base}/callback/${provider.id}` }
    known.set(provider, { base, addressed })
    return addressed
  }
}

/** The flow of a type. Throws InvalidProvider for a type that no plugin registered. */
export function flowOf(flows: ReadonlyMap<string, ProviderFlow<Provider>>, type: ProviderType): ProviderFlow<Provider> {
  const flow = flows.get(type)
  if (!flow) throw new InvalidProvider(`No plugin knows the provider type "${type}": \`.use()\` the plugin that brings it.`)
  return flow
}
