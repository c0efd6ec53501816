/** What a change of factors needs, and what follows from it. */
import { type AnyContext, type Context, endSessions, redirectTo } from 'authkernel/kernel'
import { confirmedFactors } from './factors.ts'
import { notify } from './notices.ts'
import { type Person, raiseGeneration } from './person.ts'

/** Whether the person proved who they are within so many seconds, with a second factor where there is one. */
export async function isFresh(ctx: Context, person: Person, maxAge: number): Promise<boolean> {
  const found = await ctx.session.attributes?.(ctx)
  if (!found || ctx.now.getTime() / 1000 - found.authTime > maxAge) return false
  return found.factors === 2 || (await confirmedFactors(ctx, person)).length === 0
}

/** Leads through the factor, or through the first method where there is none, and back. */
export async function proveAgain(ctx: Context, person: Person, callbackUrl: string): Promise<Response> {
  if ((await confirmedFactors(ctx, person)).length === 0)
    return redirectTo(`${ctx.base}/signin?callbackUrl=${encodeURIComponent(callbackUrl)}`)
  const login = await ctx.loginAgain({ callbackUrl })
  return login ? ctx.park(login, { to: '/two-factor', data: {} }) : ctx.page('signIn')
}

/**
 * Tells it, mails a notice, and makes trusted devices worthless. `renew`: the session of this browser gets a new token that knows of the
 * factor. `others`: all other sessions of the person end.
 */
export async function changed(
  ctx: AnyContext,
  person: Person,
  action: 'added' | 'changed' | 'removed',
  { others, renew = false }: { others: boolean; renew?: boolean },
): Promise<void> {
  await raiseGeneration(ctx, person)
  // Before the new token: the id of the session is the one of the request.
  if (others && person.userId !== null) {
    const except = ctx.request ? await ctx.session.id?.(ctx) : undefined
    if (ctx.session.abilities?.has('revoke:user'))
      await endSessions(ctx, { userId: person.userId, ...(except && { except }) }, 'two-factor')
  }
  if (renew && ctx.request) {
    const login = await ctx.loginAgain({ callbackUrl: ctx.origin })
    const authTime = Math.floor(ctx.now.getTime() / 1000)
    // Its redirect is not needed: the cookies of the new token go with the answer.
    if (login) await ctx.resume(login, { proof: action === 'added' ? { amr: ['otp', 'mfa'], factors: 2, authTime } : { authTime } })
  }
  await ctx.emit('credentialChanged', { user: person.user, kind: 'factor', action })
  notify(ctx, person, `two-factor.${action}`)
}
