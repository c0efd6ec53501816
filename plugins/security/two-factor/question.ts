/** The question for a factor, after every sign-in method that proved one factor. */
import { type Context, type Kernel, type Login, type ParkedLogin, redirectTo } from 'authkernel/kernel'
import { beginTry } from './attempts.ts'
import { isFresh } from './changes.ts'
import { isBrowserTrusted, trustBrowser } from './devices.ts'
import { TooManySecondFactors, WrongSecondFactor } from './errors.ts'
import { acceptCode, confirmedFactors, type Factor, hasBackup, hasStrong, kindsToAsk } from './factors.ts'
import { mailChallengeCode } from './mailed-code.ts'
import { mailNotice } from './mails.ts'
import type { Options } from './options.ts'
import { acceptPasskey } from './passkey.ts'
import { enrolledFactors, hasLostFactors, mustEnrolAnew, type Person, personOfLogin } from './person.ts'

/** What is kept with a login that waits for a factor. */
export interface Waiting {
  /** Forced enrolment: the address was proved after the password. */
  addressProved?: boolean
  /** Forced enrolment: the factor is confirmed, the codes are on the screen. */
  enrolled?: boolean
}

/** Asks for a factor, or for the enrolment of one. */
export function askForFactor(kernel: Kernel, options: Options): void {
  kernel.hook('login', async ({ login, ctx }) => {
    // Linking an account to the session that is here begins no session.
    if (login.session === 'keep') return undefined
    const person = await personOfLogin(ctx, login)
    // After a reset by an administrator no proof of the sign-in stands in for the address and a new factor.
    if (await mustEnrolAnew(ctx, person)) return ctx.park(login, { to: '/two-factor/setup', data: {} })
    if (login.proof.factors === 2) return undefined
    // Factors of kinds that the site no longer offers cannot be asked: a user without another one sets up a new one.
    if (!(await hasBackup(ctx, person, options.factors))) {
      const isAsked = (await confirmedFactors(ctx, person)).length > 0 || (await options.isRequired(login.user))
      return isAsked ? ctx.park(login, { to: '/two-factor/setup', data: {} }) : undefined
    }
    if (options.trustedDevices && (await isBrowserTrusted(ctx, person))) return undefined
    return ctx.park(login, { to: '/two-factor', data: {} })
  })
  // A stolen session must not add a way in that proves two factors by itself: an account is linked after a fresh proof.
  kernel.hook('link', async ({ user, ctx }) => {
    if (user.id === undefined || !ctx.request || (await ctx.session.user(ctx))?.id !== user.id) return true
    const person = { key: `user:${user.id}`, userId: user.id, user }
    if ((await enrolledFactors(ctx, person)).length === 0 || (await isFresh(ctx, options.maxAge))) return true
    return `${ctx.base}/two-factor/again`
  })
  kernel.hook('proofLevel', async ({ login, ctx }) => {
    const person = await personOfLogin(ctx, login)
    // A user who lost the factors has none to show: the next sign-in sets up a new one, and no session does without.
    return (await hasBackup(ctx, person, options.factors)) || (await hasLostFactors(ctx, person)) ? 'mfa' : undefined
  })
  kernel.hook('stepUp', async ({ login, level, acr, ctx }) => {
    // A class is the word of a provider.
    if (acr !== undefined) return undefined
    const kinds = await kindsToAsk(ctx, await personOfLogin(ctx, login), login, options.factors)
    if (hasStrong(kinds) || (level === undefined && kinds.length > 0)) return ctx.park(login, { to: '/two-factor', data: {} })
    // A user without a factor cannot prove two: the page says how to get one.
    return level === 'mfa' ? redirectTo(`${ctx.base}/two-factor/setup`) : undefined
  })
}

/** Which factors the form offers; undefined: this browser has no login that waits. */
export async function findWaiting(
  ctx: Context,
  options: Options,
): Promise<{ parked: ParkedLogin<Waiting>; login: Login; person: Person; kinds: Factor['kind'][]; backup: boolean } | undefined> {
  const parked = await ctx.parked<Waiting>()
  if (!parked) return undefined
  const person = await personOfLogin(ctx, parked.login)
  const kinds = await kindsToAsk(ctx, person, parked.login, options.factors)
  return { parked, login: parked.login, person, kinds, backup: await hasBackup(ctx, person, options.factors) }
}

/** `POST /two-factor`: the form of the question. */
export async function answerFactor(ctx: Context, options: Options): Promise<Response> {
  const { code, data, remember } = await ctx.body()
  const result = await tryFactor(ctx, options, { code, data, remember: remember === 'on' })
  if (result === undefined) return ctx.page('signIn')
  if (result instanceof Response) return result
  return ctx.render('twoFactor', 'wait' in result ? { error: TooManySecondFactors.type, wait: String(result.wait) } : result)
}

/** The answer to the question for a factor. All of it is untrusted. */
export interface Answer {
  code?: unknown
  /** What a browser says of a passkey, as JSON. */
  data?: unknown
  remember?: boolean
}

/** The session, when the factor is right; else why not. Undefined: no login waits. Throws TooManySecondFactors when the login ended. */
export async function tryFactor(
  ctx: Context,
  options: Options,
  { code, data, remember }: Answer,
): Promise<Response | { wait: number } | { error: string } | undefined> {
  const waiting = await findWaiting(ctx, options)
  if (!waiting) return undefined
  // Factors are read here and not when the login was parked: one that was removed meanwhile does not count.
  const { parked, login, person, kinds } = waiting
  const attempt = await beginTry(ctx, person, parked.id)
  if (attempt.refused?.reason === 'over') {
    await ctx.drop(parked)
    throw new TooManySecondFactors(`Five wrong second factors ended the sign-in of ${person.key}.`)
  }
  if (attempt.refused) return { wait: attempt.refused.wait }
  const typed = typeof code === 'string' && code.length <= 64 ? code : ''
  const accepted =
    data !== undefined && kinds.includes('passkey')
      ? await acceptPasskey(ctx, person, data)
      : await acceptCode(ctx, person, waiting, typed, parked.id)
  if (!accepted) {
    ctx.logger.error(new WrongSecondFactor(`A second factor of ${person.key} was wrong.`))
    await ctx.emit('signInFailed', {
      provider: login.account.provider,
      error: new WrongSecondFactor('wrong code'),
      user: login.user,
      account: login.account,
    })
    if (login.purpose === 'stepUp')
      await ctx.emit('noted', { name: 'stepUp.failed', outcome: 'failure', reason: WrongSecondFactor.type, user: login.user })
    return { error: WrongSecondFactor.type }
  }
  await attempt.right()
  const { left, ...proof } = accepted
  // A browser is trusted after a factor of the user, not after a code from a drawer.
  if (options.trustedDevices && remember && left === undefined && login.purpose === 'signIn')
    await trustBrowser(ctx, person, options.trustedDevices)
  if (left !== undefined) {
    await ctx.emit('backupCodeUsed', { user: login.user, left })
    mailNotice(ctx, person, left <= 2 ? 'two-factor.few-codes' : 'two-factor.code-used', { left })
  }
  return ctx.resume(parked, { proof: { ...proof, authTime: Math.floor(ctx.now.getTime() / 1000) } })
}

/** Mails a code for the login that waits in this browser, where its user has that factor. Null: none waits. */
export async function mailWaitingCode(ctx: Context, options: Options): Promise<ParkedLogin | null> {
  const waiting = await findWaiting(ctx, options)
  if (!waiting) return null
  const { parked, login, kinds } = waiting
  if (kinds.includes('emailCode')) await mailChallengeCode(ctx, await personOfLogin(ctx, login), parked.id)
  return parked
}

/** `POST /two-factor/send`. */
export async function sendMailedCode(ctx: Context, options: Options): Promise<Response> {
  const parked = await mailWaitingCode(ctx, options)
  return parked ? redirectTo(`${ctx.base}/two-factor?flow=${parked.flow}&sent=1`) : ctx.page('signIn')
}
