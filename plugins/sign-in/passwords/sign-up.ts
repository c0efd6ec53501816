/** Registration: nothing is made of a typed address before its owner has opened the mail. */
import {
  type Context,
  type CookieHandle,
  createCookie,
  endSessions,
  equal,
  type Kernel,
  randomHex,
  redirectTo,
  sha256,
  toHex,
  toAddress,
} from 'authkernel/kernel'
import { orPage, PasswordRefused } from './errors.ts'
import type { Parts } from './parts.ts'
import { acceptNew } from './policy.ts'
import { later, mail, storePassword, type StoredUser } from './store-password.ts'
import { byToken, digestOf, newToken, passwordOf } from './tables.ts'
import { mayMail } from './throttle.ts'

export const browserCookie: CookieHandle = /* @__PURE__ */ createCookie('password-sign-up', { maxAge: 3600 })

const seconds = 3600
const perAddress = 3

export function addSignUp(kernel: Kernel, parts: Parts): void {
  kernel.route({ method: 'POST', path: '/passwords/confirm', flow: 'callback', handler: (ctx) => confirm(ctx, parts) })
}

/** Whether this browser asked for the registration. Another one never activates its password. */
export async function isAsker(ctx: Context, row: { browser: string }): Promise<boolean> {
  const value = browserCookie.get(ctx)
  return value !== undefined && equal(toHex(await sha256(value)), row.browser)
}

/** The form of the page. Its path is that of the method `signUp` of the client. */
export async function signUpForm(ctx: Context, parts: Parts): Promise<Response> {
  const sent = await ctx.body()
  const email = toAddress(sent['email'])
  return orPage(ctx, 'passwordSignUp', () => signUp(ctx, parts, sent), { email })
}

/** Mails a link; the answer is the same for every address. Throws PasswordRefused. */
export async function signUp(ctx: Context, { options, hasher }: Parts, { email, password }: Record<string, unknown>): Promise<Response> {
  const address = toAddress(email)
  if (address === undefined) throw new PasswordRefused('PasswordAddress')
  const found = await acceptNew(ctx, options, password, { email: address }, await options.secondFactor({ email: address }))
  if ('error' in found) throw new PasswordRefused(found.error)
  // For everybody: the same work, the same cookie, the same answer.
  const hash = await hasher.hash(found.password)
  const browser = randomHex(ctx.runtime, 32)
  browserCookie.set(ctx, browser)
  later(ctx, register(ctx, address, hash, toHex(await sha256(browser))))
  return redirectTo(`${ctx.base}/passwords/mailed`)
}

async function register(ctx: Context, address: string, hash: string, browser: string): Promise<void> {
  if (!(await mayMail(ctx, address))) return
  // A user whose address nobody proved is nobody's: whoever opens the mail gets the address.
  if ((await ctx.service('store').getUserByEmail(address))?.emailVerified) {
    await mail(ctx, address, 'passwords.known', { url: `${ctx.base}/signin`, at: ctx.now })
    return
  }
  const table = ctx.records('passwordPending')
  const { rows } = await table.find({ where: { address }, order: 'desc', limit: 100 })
  for (const { id } of rows.slice(perAddress - 1)) await table.delete(id)
  const token = newToken(ctx)
  const expires = new Date(ctx.now.getTime() + seconds * 1000)
  await table.create({ address, token: await digestOf(ctx, 'pending', token), hash, browser, created: ctx.now, expires })
  await mail(ctx, address, 'passwords.confirm', { url: `${ctx.base}/passwords/confirm?token=${token}`, left: { seconds } })
}

async function confirm(ctx: Context, { options, hasher }: Parts): Promise<Response> {
  const { token, password, without } = await ctx.body()
  const pending = await byToken(ctx, 'pending', token)
  if (!pending) return ctx.render('passwordConfirm', { error: 'PasswordLinkInvalid' })
  const { address } = pending
  let chosen: { hash: string; short: boolean } | undefined
  if (await isAsker(ctx, pending)) chosen = { hash: pending.hash, short: await options.secondFactor({ email: address }) }
  else if (without !== '1') {
    const found = await acceptNew(ctx, options, password, { email: address }, await options.secondFactor({ email: address }))
    if ('error' in found) return ctx.render('passwordConfirm', { error: found.error, token: String(token) })
    chosen = { hash: await hasher.hash(found.password), short: found.short }
  }
  // One of many callers goes on.
  if (!(await ctx.records('passwordPending').take({ token: pending.token })))
    return ctx.render('passwordConfirm', { error: 'PasswordLinkInvalid' })
  // Somebody made a user of the address meanwhile: the way in is now that user's, or a reset.
  const present = await ctx.service('store').getUserByEmail(address)
  if (present?.emailVerified) return ctx.render('passwordConfirm', { error: 'PasswordLinkInvalid' })
  await ctx.records('passwordPending').deleteWhere({ where: { address } })
  browserCookie.delete(ctx)
  // Whoever only typed the address loses it before there is a password.
  if (present) await endSessions(ctx, { userId: present.id }, 'passwords')
  const answer = await ctx.complete({
    user: { email: address },
    account: { provider: 'passwords', providerAccountId: address, type: 'passwords' },
    match: 'email',
    proof: { amr: chosen ? ['pwd', 'email'] : ['email'] },
    onLinked: async (user) => {
      const made = user as StoredUser
      if (chosen && !(await passwordOf(ctx, made.id))) await storePassword(ctx, made, chosen, { keepSessions: true })
    },
  })
  const owner = chosen && present ? ((await ctx.service('store').getUserByEmail(address)) as StoredUser | null) : null
  if (chosen && owner?.id === present?.id && owner) await storePassword(ctx, owner, chosen, { keepSessions: true })
  return answer
}
