/** Changing the password of the session that is here, setting a first one, and replacing one that is too short. */
import { type Context, CredentialsSignin, type Kernel, redirectTo } from 'authkernel/kernel'
import { hasFreshProof } from 'authkernel/kernel/strategies'
import { orPage, PasswordRefused } from './errors.ts'
import { isRight } from './flow.ts'
import type { Parts } from './options.ts'
import { acceptNew } from './policy.ts'
import { mailReset } from './reset.ts'
import { refreshShared, sharePassword } from './shared-passwords.ts'
import { runDetached, storePassword, type StoredUser } from './store-password.ts'
import { passwordOf } from './tables.ts'
import { withThrottle } from './throttle.ts'

const freshSeconds = 300

/**
 * What was taken over may be short: it is replaced before there is a session, and after every other proof, whatever the order of `use()`. A password
 * alone must not choose the next one where a second factor is asked.
 */
export function replaceShortPasswords(kernel: Kernel, parts: Parts): void {
  kernel.hook(
    'login',
    async ({ login, ctx }) => {
      if (login.account.provider !== 'passwords' || login.purpose !== 'signIn' || login.user.id === undefined) return undefined
      const row = await passwordOf(ctx, login.user.id)
      if (!row?.short || (await parts.options.secondFactor(login.user))) return undefined
      return ctx.park(login, { to: '/passwords/longer', data: {} })
    },
    { last: true },
  )
}

/** The stored user who is signed in; null: signed out. */
export async function currentUser(ctx: Context): Promise<StoredUser | null> {
  const login = await ctx.loginAgain({ callbackUrl: ctx.origin })
  if (!login?.person.startsWith('user:')) return null
  return ctx.service('store').getUser(login.person.slice('user:'.length))
}

/** Whether a first password may be set without a mail: the address is proved, and so was the user a moment ago. */
export async function maySet(ctx: Context, user: StoredUser): Promise<boolean> {
  const { emailVerified } = (await ctx.service('store').getUser(user.id)) ?? { emailVerified: null }
  return emailVerified !== null && (await hasFreshProof(ctx, { maxAge: freshSeconds }))
}

/** The form of the page. Its path is the path of the method `change` of the client. */
export async function changeForm(ctx: Context, parts: Parts): Promise<Response> {
  const user = await currentUser(ctx)
  if (!user) return ctx.page('signIn')
  const sent = await ctx.body()
  return orPage(ctx, 'passwordChange', () => changePassword(ctx, parts, user, sent))
}

/** Ends all other sessions of the user. Throws PasswordRefused. */
export async function changePassword(
  ctx: Context,
  parts: Parts,
  user: StoredUser,
  { current, password }: Record<string, unknown>,
): Promise<Response> {
  const { options, hasher } = parts
  const stamp = (await ctx.access.stampSession()) ?? (await ctx.access.stamp(`user:${user.id}`))
  await refreshShared(ctx, user.id)
  const row = await passwordOf(ctx, user.id)
  if (row) {
    if (!(await checkThrottled(ctx, user, async () => ((await isRight(ctx, parts, row, current)) ? user : null))))
      throw new PasswordRefused('PasswordWrong')
  } else if (!(await maySet(ctx, user))) {
    // A stolen session is not enough: the mailbox decides.
    if (user.email) runDetached(ctx, mailReset(ctx, user.email))
    return redirectTo(`${ctx.base}/passwords/mailed`)
  }
  const found = await acceptNew(ctx, options, password, user, await options.secondFactor(user))
  if ('error' in found) throw new PasswordRefused(found.error)
  const hash = await hasher.hash(found.password)
  const except = (await ctx.session.id?.(ctx)) ?? undefined
  await storePassword(ctx, user, { hash, short: found.short }, { except, stamp })
  await sharePassword(ctx, parts, user.id, found.password)
  const login = await ctx.loginAgain({ callbackUrl: ctx.origin })
  // Its redirect is not needed: the cookies of the new token go with the answer.
  if (login) await ctx.resume(login, { proof: { authTime: Math.floor(ctx.now.getTime() / 1000) } })
  return redirectTo(`${ctx.base}/passwords/change?done=1`)
}

// An attacker with a stolen session must not guess without an end.
async function checkThrottled(ctx: Context, user: StoredUser, check: () => Promise<StoredUser | null>): Promise<boolean> {
  try {
    return (await withThrottle(ctx, user.email ?? user.id, check)) !== null
  } catch (error) {
    if (error instanceof CredentialsSignin) return false
    throw error
  }
}

/** The form of the page for a password that is too short. */
export async function replaceShort(ctx: Context, parts: Parts): Promise<Response> {
  const { options, hasher } = parts
  const parked = await ctx.parked()
  if (!parked) return ctx.page('signIn')
  const { password } = await ctx.body()
  const user = parked.login.user as StoredUser
  await ctx.access.assert(parked.access, 'credential')
  const found = await acceptNew(ctx, options, password, user, false)
  if ('error' in found) return ctx.render('passwordLonger', { error: found.error })
  await storePassword(ctx, user, { hash: await hasher.hash(found.password), short: found.short }, { stamp: parked.access })
  await sharePassword(ctx, parts, user.id, found.password)
  // It ended all other access, and not this sign-in.
  await ctx.keep(parked, parked.data)
  return ctx.resume(parked)
}
