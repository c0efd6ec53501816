/** Providers of one request: those in the list and those that a hook brings. */
import type { CommonContext } from '../contract/context.ts'
import type { Provider } from '../contract/provider.ts'
import { InvalidProvider } from '../errors/index.ts'
import type { Compiled, KernelContext } from '../registry/snapshot.ts'

/** Throws InvalidProvider for an unknown id (row 7). */
export async function findProvider(ctx: KernelContext, id: string | undefined): Promise<Provider> {
  if (id === undefined) throw new InvalidProvider('The path names no provider.')
  return ctx.compiled.addressed(await providerById(ctx, id), ctx.base)
}

/** The same without the URLs of a request. Throws InvalidProvider. */
export async function providerById(ctx: CommonContext & { readonly compiled: Compiled }, id: string): Promise<Provider> {
  const { compiled } = ctx
  const dynamic = ctx.has('hook', 'provider') ? await ctx.ask('provider', { id }) : undefined
  const provider = dynamic ? await compiled.dynamic(dynamic) : compiled.providers.get(id)
  if (!provider) throw new InvalidProvider(`There is no provider with the id ${JSON.stringify(id.slice(0, 64))}.`)
  return provider
}

/** What `/providers` and the pages show. */
export async function listProviders(ctx: KernelContext): Promise<readonly Provider[]> {
  const { compiled } = ctx
  const providers = [...compiled.providers.values()]
  const shown = ctx.has('hook', 'providers') ? ((await ctx.ask('providers', { providers })) ?? []) : providers
  const known = await Promise.all(shown.map((provider) => (providers.includes(provider) ? provider : compiled.dynamic(provider))))
  return known.map((provider) => compiled.addressed(provider, ctx.base))
}
