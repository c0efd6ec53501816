/** The way back, for the owner of the former mailbox: a stolen session must not take an account away. */
import { type Context, endSessions, type Holdings, randomHex } from 'authkernel/kernel'
import { holdingsOf, removeAdded, takeAddressFrom } from 'authkernel/kernel/users'
import { sendInBackground } from './mails.ts'
import { storeAddress } from './user.ts'

const purpose = 'address-undo'

/** What the link in the notice carries, sealed. */
interface Undo {
  userId: string
  /** The former address. */
  from: string
  to: string
  id: string
  /** When the address was changed, in milliseconds. */
  at: number
  /** What the user had then. */
  had?: Holdings
}

/** Tells the former address, with a link that takes the change back for so many days. */
export async function offerUndo(ctx: Context, change: Pick<Undo, 'userId' | 'from' | 'to'>, days: number): Promise<void> {
  const seconds = days * 86_400
  const token = await ctx.seal(
    purpose,
    { ...change, id: randomHex(ctx.runtime, 16), at: ctx.now.getTime(), had: await holdingsOf(ctx, change.userId) },
    seconds,
  )
  const url = `${ctx.base}/account/address/undo?token=${token}`
  sendInBackground(ctx, change.from, 'address.changed', { to: change.to, url, left: { seconds } })
}

/** The change that a link undoes; null: the link is unknown, over, or used. */
export async function readUndo(ctx: Context, token: unknown): Promise<(Undo & { exp?: unknown }) | null> {
  const found = typeof token === 'string' && token.length < 8192 ? await ctx.open<Undo & Record<string, unknown>>(purpose, token) : null
  return found && !(await ctx.once.taken(`address ${found.id}`)) ? found : null
}

/**
 * `POST /account/address/undo`. It holds whatever became of the address meanwhile, because an attacker who changed it once can change it twice. It signs in no user, and every session ends, and so does all that was added since: passwords, passkeys, accounts, factors, trusted devices, keys.
 */
export async function undoChange(ctx: Context): Promise<Response> {
  const { token } = await ctx.body()
  const found = await readUndo(ctx, token)
  if (!found || !(await ctx.once.take(`address ${found.id}`, 30 * 86_400))) return ctx.render('addressUndo', {})
  const { userId, from, had, at } = found
  const exists = (await ctx.service('store').getUser(userId)) !== null
  if (exists) {
    // First of all: an attacker who is signed in can add nothing more.
    await endSessions(ctx, { userId }, 'address')
    // A link of an earlier version does not say what the user had.
    if (had) await removeAdded(ctx, userId, { had, since: new Date(at) })
  }
  // A user may have typed it meanwhile, to keep its owner from it.
  const user = exists && (await takeAddressFrom(ctx, from, userId)) ? await storeAddress(ctx, userId, from) : null
  if (!user) return ctx.render('addressUndo', { error: 'AddressTaken' })
  await endSessions(ctx, { userId }, 'address')
  await ctx.emit('credentialChanged', { user, kind: 'address', action: 'changed' })
  sendInBackground(ctx, from, 'address.restored')
  return ctx.render('addressUndo', { done: '1' })
}
