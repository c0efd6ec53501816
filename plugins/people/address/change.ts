/** Asking for another address, and the proof of it: a session of the user and the magic link together. */
import { type AdapterUser, type Context, endSessions, proveAgain, randomHex, redirectTo, toAddress } from 'authkernel/kernel'
import { mailWithinLimit, mailedHostFault } from 'authkernel/kernel/mail'
import { sendInBackground } from './mails.ts'
import type { ResolvedOptions } from './options.ts'
import { offerUndo } from './undo.ts'
import { findUser, restoreAddress, storeAddress } from './user.ts'

const seconds = 1200
const purpose = 'address-change'

/** What the link in the mail carries, sealed. */
export interface Change {
  userId: string
  from: string | null
  to: string
  id: string
}

/** `POST /account/address`. The response is the same whether another user has the new address or not. */
export async function requestChange(ctx: Context, { allow, maxAge }: ResolvedOptions): Promise<Response> {
  const user = await findUser(ctx)
  if (!user) return ctx.page('signIn', { callbackUrl: `${ctx.base}/account/address` })
  const redirect = await proveAgain(ctx, maxAge, `${ctx.base}/account/address`)
  if (redirect) return redirect
  const to = toAddress((await ctx.body())['email'])
  if (to === undefined || to === toAddress(user.email) || !(await allow({ user, to }, ctx)))
    return ctx.render('address', { error: 'AddressInvalid' })
  // Mails to strangers: few for a user, and few for a mailbox.
  const mine = await ctx.limit.take(`address user ${user.id}`, { max: 5, seconds: 3600 })
  if (!mine.allowed) return ctx.render('address', { error: 'AddressTooMany' })
  void mailWithinLimit(ctx, to, () => mailLink(ctx, user, to)).catch((error: unknown) => ctx.logger.error(error as Error))
  return redirectTo(`${ctx.base}/account/address/mailed`)
}

async function mailLink(ctx: Context, user: AdapterUser, to: string): Promise<void> {
  await ctx.emit('noted', { name: 'address.proofRequested', outcome: 'success', user, typed: to })
  if (await ctx.service('store').getUserByEmail(to)) return sendInBackground(ctx, to, 'address.taken')
  const change: Change = { userId: user.id, from: user.email ?? null, to, id: randomHex(ctx.runtime, 16) }
  const token = await ctx.seal(purpose, { ...change }, seconds)
  sendInBackground(ctx, to, 'address.confirm', { url: `${ctx.base}/account/address/confirm?token=${token}`, left: { seconds } })
}

/** The change of a link, for the user who asked for it; `signedOut`: no user is signed in, `otherUser`: another one is. */
export async function readChange(
  ctx: Context,
  token: unknown,
): Promise<{ user: AdapterUser; change: Change } | 'signedOut' | 'otherUser' | null> {
  const change = typeof token === 'string' && token.length < 4096 ? await ctx.open<Change & Record<string, unknown>>(purpose, token) : null
  if (!change || (await ctx.once.taken(`address ${change.id}`))) return null
  const user = await findUser(ctx)
  if (!user) return 'signedOut'
  if (user.id !== change.userId) return 'otherUser'
  // Another change came first.
  return (user.email ?? null) === change.from ? { user, change } : null
}

/** `POST /account/address/confirm`. */
export async function confirmChange(ctx: Context, { allow, undoDays }: ResolvedOptions): Promise<Response> {
  // Without the mail with the way back there is no change.
  const fault = mailedHostFault(ctx)
  if (fault) throw fault
  const { token } = await ctx.body()
  const stamp = await ctx.access.stampSession()
  const found = await readChange(ctx, token)
  if (found === null || typeof found === 'string') return ctx.render('addressConfirm', { token: String(token ?? '').slice(0, 4096) })
  const { user, change } = found
  if (stamp?.subject !== `user:${user.id}`) return ctx.page('signIn', { callbackUrl: `${ctx.base}/account/address` })
  if (!(await allow({ user, to: change.to }, ctx))) return ctx.render('address', { error: 'AddressInvalid' })
  if (!(await ctx.once.take(`address ${change.id}`, seconds))) return ctx.render('addressConfirm', {})
  // The address is a way into the account: a session that was ended meanwhile changes nothing.
  const changed = await ctx.access.grant(
    stamp,
    'address',
    () => storeAddress(ctx, user.id, change.to),
    () => restoreAddress(ctx, user, change.to),
  )
  if (!changed) return ctx.render('address', { error: 'AddressTaken' })
  const except = (await ctx.session.id?.(ctx)) ?? undefined
  await endSessions(ctx, { userId: user.id, ...(except !== undefined && { except }) }, 'address', 'credentialChanged')
  const login = await ctx.loginAgain({ callbackUrl: ctx.origin })
  // A new token that names the new address; its redirect is not needed.
  if (login) await ctx.resume({ ...login, user: { ...login.user, email: change.to } }, { proof: {} })
  await ctx.emit('credentialChanged', { user: changed, kind: 'address', action: 'changed' })
  if (change.from !== null) await offerUndo(ctx, { userId: user.id, from: change.from, to: change.to }, undoDays)
  return redirectTo(`${ctx.base}/account?done=`)
}
