/** Kernels for the factory forms: `SvelteKitAuth(config)`, `QwikAuth$((event) => config)` and their like. */
import { type Auth, type AuthConfig, createAuth } from 'authkernel'
import { type Awaitable, setBounded, createShared, type Kernel, type Plugin, type SharedState } from 'authkernel/kernel'
import { announceInstance } from './announce.ts'

/** What a factory takes: options, or a function that makes them for each request (rows 48, 320). */
export type ConfigSource<E> = AuthConfig | ((event: E) => Awaitable<AuthConfig>)
/** The kernel for a request. */
export type Kernels<E> = (event: E) => Awaitable<Kernel>
/** What a binding adds to the options of its users. */
interface Additions<E> {
  /** Puts the binding's own defaults under the options; `event` is the first request that a kernel is made for. */
  complete?(config: AuthConfig, event?: E): AuthConfig
  /** Registers what a plugin of the binding would. */
  setup?(kernel: Kernel): void
  /** Plugins of the host: `NextAuth(config, authjsCompatPlugin())`. */
  plugins?: readonly Plugin[]
}

const maxKernels = 32
const instances = new WeakMap<Kernel, Auth>()
const kernelsByConfig = new WeakMap<AuthConfig, Map<string, Kernel>>()
const companions = new WeakMap<AuthConfig, readonly Plugin[]>()

/**
 * The kernel of `source` for a request. An object has one kernel per binding; a function is asked once per request, and its kernels share
 * caches and replay protection.
 */
export function kernelsOf<E>(name: string, source: ConfigSource<E>, additions: Additions<E> = {}): Kernels<E> {
  const kernels = kernelsFor(name, source, additions)
  announceInstance(async (event) => instances.get(await kernels(event as E)))
  return kernels
}

function kernelsFor<E>(name: string, source: ConfigSource<E>, additions: Additions<E>): Kernels<E> {
  if (typeof source !== 'function') {
    const { plugins = [] } = additions
    // A call with the same options later, `getSession` for one, gets the kernel with the plugins, in any order.
    if (plugins.length > 0) {
      companions.set(source, plugins)
      kernelsByConfig.get(source)?.delete(name)
    }
    return () => ownKernel(name, source, { ...additions, plugins: companions.get(source) ?? [] })
  }
  const shared = createShared()
  const kernels = new Map<string, Kernel>()
  const asked = new WeakMap<object, Promise<Kernel>>()
  const ask = async (event: E): Promise<Kernel> => {
    const config = await source(event)
    const key = configKey(config)
    return setBounded(kernels, key, kernels.get(key) ?? buildKernel(name, config, additions, shared, event), maxKernels)
  }
  return (event) => {
    if (typeof event !== 'object' || event === null) return ask(event)
    let kernel = asked.get(event)
    if (!kernel) asked.set(event, (kernel = ask(event)))
    return kernel
  }
}

/** Options with a base path of the binding's own under those of the host and the path of AUTH_URL. */
export function withBasePath(config: AuthConfig, basePath: string): AuthConfig {
  const url = fromEnv(config, 'AUTH_URL')
  const named = url !== undefined && URL.canParse(url) && new URL(url).pathname !== '/'
  return config.basePath !== undefined || named ? config : { ...config, basePath }
}

/** A value of the environment that the options name, `process.env` unless they say otherwise; empty is absent. */
export function fromEnv({ env }: AuthConfig, name: string): string | undefined {
  if (env === false) return undefined
  const values = env ?? (typeof process === 'undefined' ? {} : process.env)
  return (typeof values === 'function' ? values(name) : values[name]) || undefined
}

function ownKernel<E>(name: string, config: AuthConfig, additions: Additions<E>): Kernel {
  let kernels = kernelsByConfig.get(config)
  if (!kernels) kernelsByConfig.set(config, (kernels = new Map()))
  let kernel = kernels.get(name)
  if (!kernel) kernels.set(name, (kernel = buildKernel(name, config, additions)))
  return kernel
}

/** A binding's entry points are those of a plugin, so a plugin of its name takes the kernel out. */
function buildKernel<E>(
  name: string,
  config: AuthConfig,
  { complete, setup, plugins = [] }: Additions<E>,
  shared?: SharedState,
  event?: E,
): Kernel {
  let kernel: Kernel | undefined
  const auth = createAuth(complete?.(config, event) ?? config, shared ? { shared } : {})
  for (const plugin of plugins) auth.use(plugin)
  auth.use({
    name,
    setup(own: Kernel) {
      setup?.(own)
      kernel = own
    },
  })
  // `use` has called `setup`, which TypeScript does not follow.
  const built = kernel as unknown as Kernel
  instances.set(built, auth)
  return built
}

// ---- when two configurations are the same

const ids = new WeakMap<object, number>()
const symbols = new Map<symbol, number>()
let last = 0

/**
 * Equal texts for configurations that act alike: data by value, functions and instances by identity. Two closures of one source line are two
 * functions: they may hold two different requests.
 */
export function configKey(value: unknown, within: readonly object[] = []): string {
  if (typeof value === 'symbol') return `@${idIn(symbols, value)}`
  if (typeof value === 'function') return `#${idIn(ids, value)}`
  if (typeof value !== 'object' || value === null) return `${typeof value}:${JSON.stringify(String(value))}`
  if (within.includes(value) || !isPlainValue(value)) return `#${idIn(ids, value)}`
  const inside = [...within, value]
  if (Array.isArray(value)) return `[${value.map((item) => configKey(item, inside)).join()}]`
  const fields = value as Record<PropertyKey, unknown>
  return `{${Reflect.ownKeys(value)
    .map((key) => `${typeof key === 'symbol' ? configKey(key) : JSON.stringify(key)}=${configKey(fields[key], inside)}`)
    .join()}}`
}

function idIn<K>(map: { get(key: K): number | undefined; set(key: K, id: number): unknown }, key: K): number {
  const id = map.get(key) ?? ++last
  map.set(key, id)
  return id
}

function isPlainValue(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return Array.isArray(value) || prototype === Object.prototype || prototype === null
}
