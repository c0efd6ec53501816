/** A new password of a user, and what ends with the old one. */
import { type AnyContext, endSessions, type MailValue, type User } from 'authkernel/kernel'
import { rowId } from './tables.ts'

/** A user of the store. */
export type StoredUser = User & { id: string }

/** Stores it, ends sessions (all but `except`), open resets and registrations of the address, and tells the person. */
export async function storePassword(
  ctx: AnyContext,
  user: StoredUser,
  { hash, short }: { hash: string; short: boolean },
  { except, keepSessions = false }: { except?: string | undefined; keepSessions?: boolean } = {},
): Promise<void> {
  const id = await rowId(user.id)
  const had = (await ctx.records('password').get(id)) !== null
  await ctx.records('password').put({ id, userId: user.id, hash, short, changed: ctx.now })
  await ctx.records('passwordReset').delete(id)
  if (user.email) await ctx.records('passwordPending').deleteWhere({ where: { address: user.email } })
  if (!keepSessions) await endSessions(ctx, { userId: user.id, ...(except !== undefined && { except }) }, 'passwords')
  await ctx.emit('credentialChanged', { user, kind: 'password', action: had ? 'changed' : 'added' })
  if (user.email) later(ctx, mail(ctx, user.email, had ? 'passwords.changed' : 'passwords.added', { at: ctx.now }))
}

/** Sends one mail. Throws MailNotSent. */
export function mail(ctx: AnyContext, to: string, template: string, data: Record<string, MailValue>): Promise<void> {
  return ctx.service('mail').send(ctx, to, template, data)
}

/** Work that the answer does not wait for, so that its time tells nothing. */
export function later(ctx: AnyContext, work: Promise<void>): void {
  work.catch((error: unknown) => ctx.logger.error(error as Error))
}
