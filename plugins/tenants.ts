/** Settings and providers that differ per request: one app, many customers (DESIGN section 6). */
import type { Awaitable, Context, Plugin, Provider, Settings } from 'authkernel/kernel'

/** Each function is asked on the request that needs it; undefined leaves the configured values. */
export interface TenantsOptions {
  /** Secret, origin, basePath, cookiePrefix of the tenant a request is for. */
  settings?: ((request: Request) => Awaitable<Partial<Settings> | undefined>) | undefined
  /** A provider that is not in the list. */
  provider?: ((id: string, ctx: Context) => Awaitable<Provider | undefined>) | undefined
  /** The providers to show. */
  providers?: ((ctx: Context) => Awaitable<readonly Provider[] | undefined>) | undefined
  /** How many answers are kept, so that derived keys and cookie names are not made anew; default 10000. */
  max?: number | undefined
}

/** Answers the decisions `settings`, `provider` and `providers`. */
export function tenantsPlugin({ settings, provider, providers, max = 10_000 }: TenantsOptions): Plugin {
  return {
    name: 'tenants',
    setup(kernel) {
      const keepSettings = createKeeper<Partial<Settings>>(max)
      const keepProvider = createKeeper<Provider>(max)
      if (settings) kernel.hook('settings', async ({ request }) => keepSettings(await settings(request)))
      if (provider) kernel.hook('provider', async ({ id, ctx }) => keepProvider(await provider(id, ctx)))
      if (providers) kernel.hook('providers', async ({ ctx }) => (await providers(ctx))?.map((one) => keepProvider(one)))
    },
  }
}

/** Gives the first object of equal content again: caches of the kernel are keyed by identity. The least recently used one goes. */
function createKeeper<T extends object>(max: number): { (value: T): T; (value: T | undefined): T | undefined } {
  const kept = new Map<string, T>()
  const ids = new WeakMap<object, number>()
  let next = 0
  // Functions are equal when they are the same function.
  const keyOf = (value: T): string =>
    JSON.stringify(value, (_key, item: unknown) => {
      if (typeof item !== 'function') return item
      if (!ids.has(item)) ids.set(item, next++)
      return `function ${ids.get(item)}`
    })
  return ((value: T | undefined) => {
    if (value === undefined) return undefined
    const key = keyOf(value)
    const known = kept.get(key) ?? value
    kept.delete(key)
    kept.set(key, known)
    if (kept.size > max) kept.delete(kept.keys().next().value as string)
    return known
  }) as ReturnType<typeof createKeeper<T>>
}
