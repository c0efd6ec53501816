/** A new password by a mailed link: for whoever forgot it, and for people who came by another way. */
import { type AdapterUser, type Context, endAccess, type Kernel, mailWithinLimit, redirectTo, toAddress } from 'authkernel/kernel'
import { orPage, PasswordRefused } from './errors.ts'
import type { Parts } from './parts.ts'
import { acceptNew } from './policy.ts'
import { later, mail, storePassword, type StoredUser } from './store-password.ts'
import { byToken, digestOf, newToken, rowId } from './tables.ts'

const seconds = 1200

export function addReset(kernel: Kernel, parts: Parts): void {
  kernel.route({ method: 'POST', path: '/passwords/reset', takes: 'typed', handler: ask })
  kernel.route({ method: 'POST', path: '/passwords/new', flow: 'callback', takes: 'proof', handler: (ctx) => finish(ctx, parts) })
}

/** Mails a link to a user. Nothing for an address that nobody has. */
export async function mailReset(ctx: Context, address: string): Promise<void> {
  await mailWithinLimit(ctx, address, () => makeReset(ctx, address))
}

/** False: nobody has the address, and no mail went out. */
async function makeReset(ctx: Context, address: string): Promise<boolean> {
  const user = await ctx.service('store').getUserByEmail(address)
  if (!user) return false
  const token = newToken(ctx)
  const expires = new Date(ctx.now.getTime() + seconds * 1000)
  const id = await rowId(user.id)
  await ctx.records('passwordReset').put({ id, userId: user.id, address, token: await digestOf(ctx, 'reset', token), expires })
  await mail(ctx, address, 'passwords.reset', { url: `${ctx.base}/passwords/new?token=${token}`, left: { seconds } })
  return true
}

async function ask(ctx: Context): Promise<Response> {
  const { email } = await ctx.body()
  return orPage(ctx, 'passwordReset', () => askForReset(ctx, email))
}

/** Mails a link to the owner of an address; the answer is the same for every address. Throws PasswordRefused for what is no address. */
export async function askForReset(ctx: Context, email: unknown): Promise<Response> {
  const address = toAddress(email)
  if (address === undefined) throw new PasswordRefused('PasswordAddress')
  // Before the address is looked up: time and text are the same for everybody.
  await ctx.emit('noted', { name: 'password.reset.requested', outcome: 'success', typed: address })
  later(ctx, mailReset(ctx, address))
  return redirectTo(`${ctx.base}/passwords/mailed`)
}

async function finish(ctx: Context, { options, hasher }: Parts): Promise<Response> {
  const { token, password } = await ctx.body()
  const reset = await byToken(ctx, 'reset', token)
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
    return redirectTo(`${ctx.base}/signin`)
  }
  // Nobody had proved the address: now somebody has, and whoever only typed it must lose it before there is a password.
  await endAccess(ctx, { userId: user.id }, 'passwords', 'passwordReset')
  const answer = await ctx.complete({
    user: { email: reset.address },
    account: { provider: 'passwords', providerAccountId: reset.address, type: 'passwords' },
    match: 'email',
    proof: { amr: ['pwd', 'email'] },
  })
  const owner = (await store.getUserByEmail(reset.address)) as StoredUser | null
  // Not proved: the `signIn` callback led elsewhere, and nobody may sign in with it.
  if (owner && (owner as AdapterUser).emailVerified) await storePassword(ctx, owner, chosen, { keepSessions: true })
  return answer
}
