/** Providers that an organization brought, and what ends at them with a membership. */
import type { AnyContext, Kernel } from 'authkernel/kernel'
import type { PluginInstance } from './actor.ts'

/** Id of the organization that brought a provider, by the option `domains.own`, else by the hook; undefined: it is one of the host's. */
export async function findProviderOwner(
  { domains }: PluginInstance['options'],
  ctx: AnyContext,
  provider: string,
): Promise<string | undefined> {
  const own = domains.own(provider)
  if (own !== undefined || !ctx.has('hook', 'providerOrganization')) return own
  return (await ctx.ask('providerOrganization', { provider })) ?? undefined
}

/**
 * What rests on a sign-in with a provider of the organization ends with the membership: sessions, parked logins, codes and app sessions. What the user has by
 * other providers stays.
 */
export function endAtProviders(kernel: Kernel, { options }: PluginInstance): void {
  kernel.onAccessEnd('pending', async (ctx, { which, by }) => {
    if (!('member' in which) || !ctx.store?.supports('listAccountsByUserId')) return 0
    const { organizationId, userId } = which.member
    for (const { provider, providerAccountId: sub } of await ctx.store.listAccountsByUserId(userId)) {
      if ((await findProviderOwner(options, ctx, provider)) !== organizationId) continue
      await ctx.access.end({ provider, sub }, { by, reason: 'membershipEnded', sessions: 'whereEndable' })
    }
    return undefined
  })
}
