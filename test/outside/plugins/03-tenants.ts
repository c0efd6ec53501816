/** One app, many customers by host name: secret, cookies, providers and stored data of a tenant, and nothing of one tenant that counts at another. */
import { type AnyContext, type Awaitable, HttpError, type Plugin, type Provider, setBounded, type Settings } from 'authkernel/kernel'

export interface HostTenant {
  /** Lower case letters and digits. */
  id: string
  secret: string
  /** Their ids need to be unique within the tenant only. */
  providers: readonly Provider[]
}
interface Known {
  settings: Partial<Settings>
  providers: ReadonlyMap<string, Provider>
  until: number
}

/** `find` knows tenants by host; `byId`, by id: for jobs. */
export function hostTenantsPlugin({
  find,
  byId,
  seconds = 60,
}: {
  find(host: string): Awaitable<HostTenant | undefined>
  byId?: (id: string) => Awaitable<HostTenant | undefined>
  seconds?: number
}): Plugin {
  return {
    name: 'host-tenants',
    setup(kernel) {
      const known = new Map<string, Known>()
      const byNamespace = new Map<string, Known>()
      // The kernel keeps what it derives by the identity of the settings, so a tenant keeps them for a while.
      async function lookUp(key: string, search: typeof find): Promise<Known> {
        const found = known.get(key)
        if (found && found.until > kernel.runtime.now()) return found
        const tenant = await search(key.slice(key.indexOf(' ') + 1))
        if (!tenant) throw new HttpError(404, 'No such tenant.')
        const settings = { secret: [tenant.secret], cookiePrefix: `app-${tenant.id}`, namespace: tenant.id }
        const providers = new Map(tenant.providers.map((provider) => [provider.id, provider]))
        const entry = { settings, providers, until: kernel.runtime.now() + seconds * 1000 }
        setBounded(byNamespace, tenant.id, entry, 10_000)
        return setBounded(known, key, entry, 10_000)
      }
      const here = ({ settings }: AnyContext): Known | undefined => byNamespace.get(settings.namespace)

      kernel.hook('settings', async ({ request }) => (await lookUp(`host ${new URL(request.url).host}`, find)).settings)
      if (byId) kernel.hook('tenant', async ({ tenant }) => (await lookUp(`id ${tenant}`, byId)).settings)
      kernel.hook('provider', ({ id, ctx }) => here(ctx)?.providers.get(id))
      kernel.hook('providers', ({ ctx }) => [...(here(ctx)?.providers.values() ?? [])])
    },
  }
}
