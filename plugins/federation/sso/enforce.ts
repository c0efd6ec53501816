/** Enforcement at every way in: hooks that reject what a policy forbids, and lead the user to the connection. */
import { type AnyContext, type Context, type Kernel, redirectTo, withParams } from 'authkernel/kernel'
import { findDemand } from './demand.ts'
import { SsoRequired } from './errors.ts'
import { type Demand, isSatisfied, type Subject } from './policy-rules.ts'

/** What a session of another provider, or no session at all, may not be given. `signIn` is decided by the hook `login`, which knows the provider. */
const sessionPurposes = new Set(['link', 'credential', 'address', 'apiKey', 'appCode', 'deviceApproval', 'stepUp', 'portalLink'])

/** Before the user is known by address alone, afterwards by all that is stored. */
export function addEnforcement(kernel: Kernel): void {
  kernel.hook('signIn', async ({ user, account, email, ctx }) => {
    // A mail goes out to any address: what is known of its owner must not be told.
    const subject = email?.verificationRequest ? { email: user.email } : { userId: user.id, email: user.email }
    const demand = await findOpenDemand(ctx, subject, account.provider)
    return demand ? leadTo(ctx, demand, await ctx.callbackUrl()) : true
  })
  kernel.hook('link', async ({ user, account, ctx }) => {
    const demand = await findOpenDemand(ctx, { userId: user.id, email: user.email }, account.provider)
    if (!demand) return true
    if (!ctx.request) return false
    return leadTo(ctx, demand, await ctx.callbackUrl())
  })
  kernel.hook('login', async ({ login, ctx }) => {
    if (login.purpose !== 'signIn') return undefined
    const { user, account } = login
    const demand = await findOpenDemand(ctx, { userId: user.id, email: user.email }, account.provider, true)
    return demand ? redirectTo(leadTo(ctx, demand, login.callbackUrl)) : undefined
  })
  kernel.hook('access', async ({ userId, by, ctx }) => {
    if (!sessionPurposes.has(by) || !ctx.request) return true
    const provider = (await ctx.session.attributes?.(ctx))?.provider
    // A key or a token of an app: what gave it was asked.
    if (provider === undefined && by !== 'credential' && by !== 'address') return true
    const email = (await ctx.store?.getUser(userId))?.email
    const demand = await findDemand(ctx, { userId, email })
    if (!demand) return true
    // The address decides which domain demands what: its owner must not change it.
    const mayKeep =
      provider !== undefined && !(by === 'address' && demand.domain !== undefined) && (await isSatisfied(ctx, demand, provider))
    if (mayKeep) return true
    throw new SsoRequired(`sso: the organization of the user demands its own sign-in for "${by}".`)
  })
}

/** The demand that a sign-in with this provider does not meet. */
async function findOpenDemand(ctx: AnyContext, subject: Subject, provider: string, isFinal = false): Promise<Demand | null> {
  const exempting = new Set<string>()
  const demand = await findDemand(ctx, subject, (organization) => exempting.add(organization))
  for (const organization of isFinal ? exempting : [])
    await ctx.emit('noted', {
      name: 'sso.breakGlass.used',
      outcome: 'success',
      user: { id: subject.userId },
      provider,
      details: { organization },
    })
  return demand && !(await isSatisfied(ctx, demand, provider)) ? demand : null
}

/** The page with the connections of the organization. */
function leadTo(ctx: Context, { organizationIds: [organization], domain }: Demand, callbackUrl: string): string {
  return withParams(`${ctx.base}/sso/start`, { ...(domain === undefined ? { organization } : { domain }), required: '1', callbackUrl })
}
