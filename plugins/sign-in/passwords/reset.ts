/** A new password by a magic link: for users who forgot it, and for users of another sign-in method. */
import { type AdapterUser, type AnyContext, AuthError, type Context, redirectTo, toAddress } from 'authkernel/kernel'
import { mailWithinLimit } from 'authkernel/kernel/mail'
import { endAccess } from 'authkernel/kernel/users'
import { orPage, PasswordRefused } from './errors.ts'
import { redirectToSentMail } from './sent-mail.ts'
import type { Parts } from './options.ts'
import { acceptNew } from './policy.ts'
import { sharePassword } from './shared-passwords.ts'
import { runDetached, sendPasswordMail, storePassword, type StoredUser } from './store-password.ts'
import { findByToken, tokenDigest, newMailToken, rowId } from './tables.ts'

const linkSeconds = 1200

/** Mails a link to a user. Nothing for an address without a user. */
export async function mailReset(ctx: AnyContext, address: string): Promise<void> {
  await mailWithinLimit(ctx, address, () => createReset(ctx, address))
}

/** False: the address has no user, and no mail went out. */
async function createReset(ctx: AnyContext, address: string): Promise<boolean> {
  const user = await ctx.service('store').getUserByEmail(address)
  if (!user) return false
  const token = newMailToken(ctx)
  const expires = new Date(ctx.now.getTime() + linkSeconds * 1000)
  const id = await rowId(user.id)
  await ctx.records('passwordReset').put({ id, userId: user.id, address, token: await tokenDigest(ctx, 'reset', token), expires })
  await sendPasswordMail(ctx, address, 'passwords.reset', {
    url: `${baseOf(ctx)}/passwords/new?token=${token}`,
    left: { seconds: linkSeconds },
  })
  return true
}

/** A job, as of an administrator's program, has no request that tells the origin. */
function baseOf(ctx: AnyContext): string {
  if (ctx.request) return ctx.base
  const { origin, basePath } = ctx.settings
  if (!origin) throw new AuthError('passwords: without a request the origin must be set: `origin` of the options, or AUTH_URL.')
  return origin + (basePath === '/' ? '' : basePath)
}

/** The form of the page. */
export async function submitReset(ctx: Context): Promise<Response> {
  const { email } = await ctx.body()
  return orPage(ctx, 'passwordReset', () => askForReset(ctx, email))
}

/** Mails a link to the owner of an address; the answer is the same for every address. Throws PasswordRefused for what is no address. */
export async function askForReset(ctx: Context, email: unknown): Promise<Response> {
  const address = toAddress(email)
  if (address === undefined) throw new PasswordRefused('PasswordAddress')
  // Before the address is looked up: time and text are the same for every address.
  await ctx.emit('noted', { name: 'password.reset.requested', outcome: 'success', typed: address })
  runDetached(ctx, mailReset(ctx, address))
  return redirectToSentMail(ctx, address, 'reset')
}

/** The form of the page that the magic link opens. */
export async function finishReset(ctx: Context, parts: Parts): Promise<Response> {
  const { options, hasher } = parts
  const { token, password } = await ctx.body()
  const reset = await findByToken(ctx, 'reset', token)
  const store = ctx.service('store')
  const user = reset && (await store.getUser(reset.userId))
  // The token went to the address that the user had then.
  if (!reset || user?.email?.toLowerCase() !== reset.address) return ctx.render('passwordNew', { error: 'PasswordLinkInvalid' })
  const found = await acceptNew(ctx, options, password, user, await options.secondFactor(user))
  if ('error' in found) return ctx.render('passwordNew', { error: found.error, token: String(token) })
  const chosen = { hash: await hasher.hash(found.password), short: found.short }
  if (!(await ctx.records('passwordReset').take({ token: reset.token }))) return ctx.render('passwordNew', { error: 'PasswordLinkInvalid' })
  await ctx.emit('noted', { name: 'password.reset.completed', outcome: 'success', user: { id: user.id } })
  if (user.emailVerified) {
    await storePassword(ctx, user, chosen, { reason: 'passwordReset' })
    await sharePassword(ctx, parts, user.id, found.password)
    return redirectTo(`${ctx.base}/signin`)
  }
  // The address was not proved before: a user who only typed it must lose it before there is a password.
  await endAccess(ctx, { userId: user.id }, 'passwords', 'passwordReset')
  const response = await ctx.complete({
    user: { email: reset.address },
    account: { provider: 'passwords', providerAccountId: reset.address, type: 'passwords' },
    match: 'email',
    proof: { amr: ['pwd', 'email'] },
  })
  const owner = (await store.getUserByEmail(reset.address)) as StoredUser | null
  // Not proved: the `signIn` callback led elsewhere, and the password must not sign in.
  if (owner && (owner as AdapterUser).emailVerified) {
    await storePassword(ctx, owner, chosen, { keepSessions: true })
    await sharePassword(ctx, parts, owner.id, found.password)
  }
  return response
}
