/** Settings and providers that differ per tenant: one app, many customers. */
import { AuthError, type AnyContext, type Awaitable, type Context, type Plugin, type Provider, type Settings } from 'authkernel/kernel'

/** What a tenant has of its own. `namespace` keeps its people, sessions, tokens and limits apart; '' is the default namespace. */
export type TenantSettings = Partial<Settings> & Pick<Settings, 'namespace'>

/** Each function is asked where its answer is needed; undefined leaves the configured values. */
export interface TenantsOptions {
  /** The tenant a request is for. Throw `new HttpError(404, 'Not found.')` for an unknown one. */
  settings?: ((request: Request) => Awaitable<TenantSettings | undefined>) | undefined
  /** A tenant by its name, for jobs: `auth.accounts.list({ userId, tenant: 'acme' })`. */
  tenant?: ((name: string) => Awaitable<TenantSettings | undefined>) | undefined
  /** A provider that is not in the list. `ctx.settings.namespace` says whose; `ctx.request` is absent in jobs. */
  provider?: ((id: string, ctx: AnyContext) => Awaitable<Provider | undefined>) | undefined
  /** The providers to show. */
  providers?: ((ctx: Context) => Awaitable<readonly Provider[] | undefined>) | undefined
  /** How many answers are kept, so that derived keys and cookie names are not made anew; default 10000. */
  max?: number | undefined
}

/** Answers the hooks `settings`, `tenant`, `provider` and `providers`. Refuses settings without `namespace` when they are answered. */
export function tenantsPlugin({ settings, tenant, provider, providers, max = 10_000 }: TenantsOptions): Plugin {
  return {
    name: 'tenants',
    setup(kernel) {
      const keepSettings = createKeeper<Partial<Settings>>(max)
      const keepProvider = createKeeper<Provider>(max)
      const answer = (option: string, found: TenantSettings | undefined): Partial<Settings> | undefined => {
        // Without one, a tenant's identity provider could sign in as a user of another tenant.
        if (found && typeof found.namespace !== 'string') {
          throw new AuthError(
            `Plugin "tenants": \`${option}\` answered without \`namespace\`. Give each tenant one, such as its id; '' is the default namespace.`,
          )
        }
        return keepSettings(found)
      }
      if (settings) kernel.hook('settings', async ({ request }) => answer('settings', await settings(request)))
      if (tenant) kernel.hook('tenant', async ({ tenant: name }) => answer('tenant', await tenant(name)))
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
