/** How often a short token may be guessed. How many mails may go out is counted by the kernel, for all plugins together. */
import { type Attempt, beginAttempt, type Context, isKnownMailbox } from 'authkernel/kernel'

/**
 * Counts a guess of a short token, which a host's own `generateVerificationToken` may make (ASVS 6.6.3); undefined: the throttle is off. There are few
 * of them, so an address has no larger budget for all networks together.
 */
export async function beginGuess(ctx: Context, identifier: string): Promise<Attempt | undefined> {
  const rule = ctx.app.config.throttle.credentials
  if (!rule) return undefined
  const device = await isKnownMailbox(ctx, identifier)
  return beginAttempt(ctx, [{ key: `link:${device ? `device ${device} ` : ''}${identifier}`, rule }])
}
