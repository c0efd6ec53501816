/** What a change of factors needs, and what follows from it. */
import { type AnyContext, type Context, endSessions, hasFreshProof, redirectTo } from 'authkernel/kernel'
import { hasStrong, usableKinds } from './factors.ts'
import { mailNotice } from './notices.ts'
import type { Options } from './options.ts'
import { type Person, raiseGeneration } from './person.ts'

/** Whether the session was proved within so many seconds, with the second factor where there is one. */
export function isFresh(ctx: Context, maxAge: number): Promise<boolean> {
  return hasFreshProof(ctx, { maxAge })
}

/** Leads through the factor, or through the first method where there is none, and back. */
export async function proveAgain(ctx: Context, person: Person, options: Options, callbackUrl: string): Promise<Response> {
  if (!hasStrong(await usableKinds(ctx, person, options.factors)))
    return redirectTo(`${ctx.base}/signin?callbackUrl=${encodeURIComponent(callbackUrl)}`)
  const login = await ctx.loginAgain({ callbackUrl })
  return login ? ctx.park(login, { to: '/two-factor', data: {} }) : ctx.page('signIn')
}

/**
 * Tells it, mails a notice, and makes trusted devices worthless. `renew`: the session of this browser gets a new token that knows of the
 * factor. `others`: all other sessions of the person end.
 */
export async function applyChange(
  ctx: AnyContext,
  person: Person,
  action: 'added' | 'changed' | 'removed',
  { others, renew = false }: { others: boolean; renew?: boolean },
): Promise<void> {
  await raiseGeneration(ctx, person)
  // Before the new token: the id of the session is the one of the request.
  if (others && person.userId !== null) {
    const except = ctx.request ? await ctx.session.id?.(ctx) : undefined
    await endSessions(ctx, { userId: person.userId, ...(except && { except }) }, 'two-factor', 'credentialChanged')
  }
  if (renew && ctx.request) {
    const login = await ctx.loginAgain({ callbackUrl: ctx.origin })
    const authTime = Math.floor(ctx.now.getTime() / 1000)
    // Its redirect is not needed: the cookies of the new token go with the answer.
    if (login) await ctx.resume(login, { proof: action === 'added' ? { amr: ['otp', 'mfa'], factors: 2, authTime } : { authTime } })
  }
  await ctx.emit('credentialChanged', { user: person.user, kind: 'factor', action })
  mailNotice(ctx, person, `two-factor.${action}`)
}
