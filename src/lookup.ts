/** Providers of one request: those in the list and those that a decision brings. */
import type { Context } from './context.ts'
import { InvalidProvider } from './errors.ts'
import type { Provider } from './flow.ts'

/** Throws InvalidProvider for an id nobody knows (row 7). */
export async function findProvider(ctx: Context, id: string | undefined): Promise<Provider> {
  if (id === undefined) throw new InvalidProvider('The path names no provider.')
  const { app } = ctx
  const dynamic = ctx.has('hook', 'provider') ? await ctx.ask('provider', { id, ctx }) : undefined
  const provider = dynamic ? app.dynamic(dynamic) : app.providers.get(id)
  if (!provider) throw new InvalidProvider(`There is no provider with the id ${JSON.stringify(id.slice(0, 64))}.`)
  return app.addressed(provider, ctx.base)
}

/** What `/providers` and the pages show. */
export async function listProviders(ctx: Context): Promise<readonly Provider[]> {
  const { app } = ctx
  const providers = [...app.providers.values()]
  const shown = ctx.has('hook', 'providers') ? ((await ctx.ask('providers', { providers, ctx })) ?? []) : providers
  return shown.map((provider) => app.addressed(providers.includes(provider) ? provider : app.dynamic(provider), ctx.base))
}
