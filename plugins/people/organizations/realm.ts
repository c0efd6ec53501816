/** Where the people of a domain sign in, and what a provider that an organization brought may say. */
import { AccessDenied, type AnyContext, type Context, type HomeRealm, InvalidProvider, type Kernel, toAddress } from 'authkernel/kernel'
import { domainOf } from './address.ts'
import { type Desk, rowsOf } from './desk.ts'
import { checkAgain, isDue, isLive } from './domains.ts'

/** The service `homeRealm`. */
export function homeRealm(desk: Desk): HomeRealm {
  return {
    async find(ctx, address) {
      const domain = domainOf(typeof address === 'string' ? address.slice(address.lastIndexOf('@') + 1) : undefined)
      if (domain === undefined) return null
      const rows = await rowsOf(desk, ctx)
      const row = await rows.records('organizationDomain').get({ domain })
      if (!row) return null
      if (isDue(ctx, row)) void lookAgain(desk, ctx, rows, domain)
      if (row.provider === null || !isLive(ctx, row) || !(await isThere(ctx, row.provider))) return null
      return { provider: row.provider }
    },
  }
}

/** A provider of an organization signs in people of its domains alone: else it could name the address of anybody. */
export function guardProviders(kernel: Kernel, desk: Desk): void {
  const check = async (ctx: AnyContext, provider: string, addresses: readonly unknown[]): Promise<void> => {
    const owner = desk.options.domains.own(provider)
    if (owner === undefined) return
    const rows = await rowsOf(desk, ctx)
    const named = addresses.filter((address) => address !== undefined && address !== null)
    for (const address of named.length > 0 ? named : ['']) {
      const domain = domainOf(toAddress(address)?.split('@')[1])
      const row = domain === undefined ? null : await rows.records('organizationDomain').get({ domain })
      if (row?.organizationId !== owner || !isLive(ctx, row))
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

async function isThere(ctx: Context, provider: string): Promise<boolean> {
  try {
    await ctx.providerById(provider)
    return true
  } catch (error) {
    if (error instanceof InvalidProvider) return false
    throw error
  }
}

// Nobody waits for it, and one process does it.
async function lookAgain(desk: Desk, ctx: Context, rows: AnyContext, domain: string): Promise<void> {
  try {
    if (!(await rows.lease(`organizations domain ${domain}`, 60))) return
    const row = await rows.records('organizationDomain').get({ domain })
    if (row && isDue(ctx, row)) await checkAgain(desk, ctx, rows, row)
  } catch (error) {
    ctx.logger.error(error as Error)
  }
}
