/** Home-realm discovery: which providers an address or a name leads to. */
import { AuthError, type Context, type Provider } from 'authkernel/kernel'
import { InvalidProvider } from 'authkernel/errors'

/**
 * The providers that a user signs in with, by what was typed first: the answer of the hook `homeRealm`, else for an address that of the service
 * `homeRealm`. Empty: none. Several: the user chooses. A provider that is not there any more is left out and logged. Throws what a handler throws.
 */
export async function findHomeRealms(ctx: Context, identifier: string): Promise<readonly Provider[]> {
  const answer = await ctx.ask('homeRealm', { identifier })
  const realms = answer === undefined ? await findByAddress(ctx, identifier) : [answer].flat()
  const found: Provider[] = []
  for (const realm of realms) {
    const provider = realm && (await findProvider(ctx, realm.provider))
    if (provider && !found.some(({ id }) => id === provider.id)) found.push(provider)
  }
  return found
}

async function findByAddress(ctx: Context, identifier: string): Promise<readonly ({ provider: string } | null | undefined)[]> {
  return identifier.includes('@') ? [await ctx.app.services.homeRealm?.find(ctx, identifier)] : []
}

/** A connection may be removed between the answer and its use, so that the user then has the ways of the app. */
async function findProvider(ctx: Context, id: string): Promise<Provider | undefined> {
  try {
    return await ctx.providerById(id)
  } catch (error) {
    if (!(error instanceof InvalidProvider)) throw error
    ctx.logger.error(
      new AuthError(`The hook or service "homeRealm" named the provider ${JSON.stringify(id)}, which does not exist.`, {
        cause: { err: error },
      }),
    )
    return undefined
  }
}
