/** A further account is a sign-in method: a stolen or forgotten session must not add one. */
import type { Context, Kernel } from 'authkernel/kernel'
import { hasFreshProof } from 'authkernel/kernel/strategies'

/** For `linkProof`: a session of any age links accounts, as with Auth.js. An attacker with a stolen session can then add a lasting sign-in method. */
export const skipLinkProof: unique symbol = Symbol('skipLinkProof')

/**
 * Rejects to link an account to the user who is signed in when the proof of the session is older than `maxAge` seconds, and leads to the sign-in page. It is asked
 * when the user comes back from the provider, because a sign-in while signed in is also how a session is proved again.
 */
export function demandLinkProof(kernel: Kernel, maxAge: number): void {
  kernel.hook('link', async ({ user, account, ctx }) => {
    // Code of the host that calls `auth.accounts.link` has no route, and asks for a proof itself.
    if (!ctx.request || !ctx.route || !ctx.session.attributes) return true
    // A sign-in links by a verified address: there is no session yet.
    if ((await ctx.session.user(ctx))?.id !== user.id) return true
    // Passkeys and phone numbers are added on pages that ask for a proof themselves.
    if (!(await leadsAway(ctx, account.provider))) return true
    if (await hasFreshProof(ctx, { maxAge })) return true
    return `${ctx.base}/signin?callbackUrl=${encodeURIComponent(await ctx.callbackUrl())}`
  })
}

async function leadsAway(ctx: Context, providerId: string): Promise<boolean> {
  const provider = await ctx.providerById(providerId)
  return ctx.flow(provider).start !== undefined
}
