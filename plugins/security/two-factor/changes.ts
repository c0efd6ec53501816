/** What a change of factors needs, and what follows from it. */
import { type AnyContext, type Context, endSessions, redirectTo, type User } from 'authkernel/kernel'
import { hasFreshProof } from 'authkernel/kernel/strategies'
import { hasStrong, usableKinds } from './factors.ts'
import { mailNotice } from './mails.ts'
import type { Options } from './options.ts'
import { type Person, raiseGeneration, readState } from './person.ts'

/** Whether the session was proved within so many seconds, with the second factor where there is one. */
export function isFresh(ctx: Context, maxAge: number): Promise<boolean> {
  return hasFreshProof(ctx, { maxAge })
}

/** Leads through the factor, or through the first method where there is none, and back. */
export async function leadToFactor(ctx: Context, person: Person, options: Options, callbackUrl: string): Promise<Response> {
  if (!hasStrong(await usableKinds(ctx, person, options.factors)))
    return redirectTo(`${ctx.base}/signin?callbackUrl=${encodeURIComponent(callbackUrl)}`)
  const login = await ctx.loginAgain({ callbackUrl })
  return login ? ctx.park(login, { to: '/two-factor', data: {} }) : ctx.page('signIn')
}

/**
 * Emits the event, mails a notice, and makes trusted devices worthless. `renew`: the session of this browser gets a new token that knows of the
 * factor. `others`: all other sessions of the user end.
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

/** Removes all factors of a user; the next sign-in asks for email verification and a new factor. */
export async function resetFactors(ctx: AnyContext, person: Person, { admin, reason }: { admin: User; reason: string }): Promise<void> {
  // First: a sign-in between these writes finds the factors or the demand for new ones.
  const { id } = await readState(ctx, person)
  await ctx.records('twoFactorState').update(id, { proveAddress: true, failures: 0, until: ctx.now })
  await ctx.records('twoFactor').deleteWhere({ where: { person: person.key } })
  await ctx.records('twoFactorBackupCode').deleteWhere({ where: { person: person.key } })
  await raiseGeneration(ctx, person)
  await ctx.emit('factorsReset', { user: person.user, admin, reason })
  await applyChange(ctx, person, 'removed', { others: true })
}
