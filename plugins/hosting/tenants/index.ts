/** Settings and providers that differ per tenant: one app, many customers. */
import {
  assertOptions,
  AuthError,
  type AnyContext,
  type Awaitable,
  type Context,
  type Plugin,
  type Provider,
  type Settings,
} from 'authkernel/kernel'
import { createAnswerCache } from './answer-cache.ts'

/** The settings of one tenant. `namespace` keeps its users, sessions, tokens and limits apart; '' is the default namespace. */
export type TenantSettings = Partial<Settings> & Pick<Settings, 'namespace'>

/** Each function is asked where its answer is needed; undefined leaves the configured values. */
export interface TenantsOptions {
  /** The tenant a request is for. Throw `new HttpError(404, 'Not found.')` for an unknown one. */
  settings?: ((request: Request) => Awaitable<TenantSettings | undefined>) | undefined
  /** A tenant by its name, for jobs: `auth.accounts.list({ userId, tenant: 'acme' })`. */
  tenant?: ((name: string) => Awaitable<TenantSettings | undefined>) | undefined
  /** Names of all tenants, as `tenant` knows them: a clean-up comes to each of them. An async iterable may read them page by page. Default: the default tenant alone. */
  list?: (() => Awaitable<Iterable<string> | AsyncIterable<string>>) | undefined
  /** A provider that is not in the list. `ctx.settings.namespace` says whose; `ctx.request` is absent in jobs. */
  provider?: ((id: string, ctx: AnyContext) => Awaitable<Provider | undefined>) | undefined
  /** The providers to show. */
  providers?: ((ctx: Context) => Awaitable<readonly Provider[] | undefined>) | undefined
  /** How many answers are kept, so that derived keys and cookie names are not computed again; default 10000. */
  max?: number | undefined
}

/** Answers the hooks `settings`, `tenant`, `tenants`, `provider` and `providers`. Rejects settings without `namespace` when they are returned. */
export function tenantsPlugin(options: TenantsOptions): Plugin {
  assertOptions('Plugin "tenants"', options, { settings: true, tenant: true, list: true, provider: true, providers: true, max: true })
  const { settings, tenant, list, provider, providers, max = 10_000 } = options
  if (list && !tenant) throw new AuthError('Plugin "tenants": `list` needs `tenant`, which knows the tenants by these names.')
  return {
    name: 'tenants',
    setup(kernel) {
      const cacheSettings = createAnswerCache<Partial<Settings>>(max)
      const cacheProvider = createAnswerCache<Provider>(max)
      const answer = (option: string, found: TenantSettings | undefined): Partial<Settings> | undefined => {
        // Without one, a tenant's identity provider could sign in as a user of another tenant.
        if (found && typeof found.namespace !== 'string') {
          throw new AuthError(
            `Plugin "tenants": \`${option}\` answered without \`namespace\`. Give each tenant one, such as its id; '' is the default namespace.`,
          )
        }
        return found && cacheSettings(found.namespace, found)
      }
      if (settings) kernel.hook('settings', async ({ request }) => answer('settings', await settings(request)))
      if (tenant) kernel.hook('tenant', async ({ tenant: name }) => answer('tenant', await tenant(name)))
      if (list) kernel.hook('tenants', () => list())
      const keep = (ctx: AnyContext, found: Provider): Provider => {
        // What is in the list of the app is known already, and the same for all tenants.
        if (ctx.app.providers.get(found.id) === found) return found
        return cacheProvider(`${ctx.settings.namespace} ${found.id}`, found)
      }
      if (provider)
        kernel.hook('provider', async ({ id, ctx }) => {
          const found = await provider(id, ctx)
          return found && keep(ctx, found)
        })
      if (providers) kernel.hook('providers', async ({ ctx }) => (await providers(ctx))?.map((one) => keep(ctx, one)))
    },
  }
}
