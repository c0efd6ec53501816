/** Registration: nothing is made of a typed address before its owner has opened the mail. */
import { type AdapterUser, type Context, endSessions, type Kernel, toAddress } from 'authkernel/kernel'
import { orPage, PasswordRefused } from './errors.ts'
import { activateParked } from './parked.ts'
import type { Parts } from './parts.ts'
import { askForProof, browserCookie, isAsker } from './pending.ts'
import { acceptNew } from './policy.ts'
import { storePassword, type StoredUser } from './store-password.ts'
import { byToken, passwordOf } from './tables.ts'

export function addConfirm(kernel: Kernel, parts: Parts): void {
  kernel.route({ method: 'POST', path: '/passwords/confirm', flow: 'callback', takes: 'proof', handler: (ctx) => confirm(ctx, parts) })
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
  return askForProof(ctx, { address, hash: await hasher.hash(found.password) })
}

async function confirm(ctx: Context, { options, hasher }: Parts): Promise<Response> {
  const { token, password, without } = await ctx.body()
  const pending = await byToken(ctx, 'pending', token)
  if (!pending) return ctx.render('passwordConfirm', { error: 'PasswordLinkInvalid' })
  const { address } = pending
  let chosen: { hash: string; short: boolean } | undefined
  const asked = await isAsker(ctx, pending)
  if (asked) chosen = { hash: pending.hash, short: pending.short ?? (await options.secondFactor({ email: address })) }
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
  const kept = present && chosen && asked && pending.userId === present.id && (await activateParked(ctx, present, chosen))
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
  const owner = chosen && present && !kept ? ((await ctx.service('store').getUserByEmail(address)) as StoredUser | null) : null
  // Not proved: the `signIn` callback led elsewhere, and nobody may sign in with it.
  if (chosen && owner?.id === present?.id && owner && (owner as AdapterUser).emailVerified)
    await storePassword(ctx, owner, chosen, { keepSessions: true })
  return answer
}
