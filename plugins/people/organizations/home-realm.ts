/** Where the users of a domain sign in, and what a provider that an organization brought may say. */
import {
  AccessDenied,
  type AnyContext,
  type Context,
  type HomeRealm,
  type HomeRealmAnswer,
  type HookMessage,
  type Kernel,
  toAddress,
} from 'authkernel/kernel'
import { InvalidProvider } from 'authkernel/errors'
import { type PluginInstance, rowsOf } from './actor.ts'
import { recheckDomain, isDue, isProofLive } from './domains.ts'
import { domainOf } from './input.ts'

/** The service `homeRealm`. */
export function createHomeRealm(plugin: PluginInstance): HomeRealm {
  return {
    async find(ctx, address) {
      const domain = domainOf(typeof address === 'string' ? address.slice(address.lastIndexOf('@') + 1) : undefined)
      if (domain === undefined) return null
      const rows = await rowsOf(plugin, ctx)
      const row = await rows.records('organizationDomain').get({ domain })
      if (!row) return null
      if (isDue(ctx, row)) void recheckInBackground(plugin, ctx, rows, domain)
      if (row.provider === null || !isProofLive(ctx, row) || !(await providerExists(ctx, row.provider))) return null
      return { provider: row.provider }
    },
  }
}

/** Answers the hook `homeRealm` by the service, which a host may have replaced. Asked last, so null keeps no other plugin from answering. */
export async function answerByDomain({ identifier, ctx }: HookMessage<'homeRealm'>): Promise<HomeRealmAnswer | null | undefined> {
  return identifier.includes('@') ? ctx.service('homeRealm').find(ctx, identifier) : undefined
}

/** A provider of an organization signs in users of its domains alone: else it could name any address. */
export function guardProviders(kernel: Kernel, plugin: PluginInstance): void {
  const check = async (ctx: AnyContext, provider: string, addresses: readonly unknown[]): Promise<void> => {
    const owner = plugin.options.domains.own(provider)
    if (owner === undefined) return
    const rows = await rowsOf(plugin, ctx)
    const named = addresses.filter((address) => address !== undefined && address !== null)
    for (const address of named.length > 0 ? named : ['']) {
      const domain = domainOf(toAddress(address)?.split('@')[1])
      const row = domain === undefined ? null : await rows.records('organizationDomain').get({ domain })
      if (row?.organizationId !== owner || !isProofLive(ctx, row))
        throw new AccessDenied(
          `Plugin "organizations": the provider "${provider}" named an address outside of the proved domains of its organization.`,
        )
    }
  }
  kernel.hook('signIn', async ({ user, account, profile, ctx }) => {
    await check(ctx, account.provider, [user.email, profile?.email])
    return true
  })
  // The stored owner may have another address than the provider says.
  kernel.hook('login', async ({ login, ctx }) => {
    if (login.purpose === 'signIn') await check(ctx, login.account.provider, [login.user.email, login.profile?.email])
    return undefined
  })
}

async function providerExists(ctx: Context, provider: string): Promise<boolean> {
  try {
    await ctx.providerById(provider)
    return true
  } catch (error) {
    if (error instanceof InvalidProvider) return false
    throw error
  }
}

// In the background, and in one process.
async function recheckInBackground(plugin: PluginInstance, ctx: Context, rows: AnyContext, domain: string): Promise<void> {
  try {
    if (!(await rows.lease(`organizations domain ${domain}`, 60))) return
    const row = await rows.records('organizationDomain').get({ domain })
    if (row && isDue(ctx, row)) await recheckDomain(plugin, ctx, rows, row)
  } catch (error) {
    ctx.logger.error(error as Error)
  }
}
