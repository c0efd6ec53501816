/** A new password of a user, and what ends with the old one. */
import { type StampOfAccess, type AnyContext, type MailValue, type User } from 'authkernel/kernel'
import { endAccess } from 'authkernel/kernel/users'
import { rowId } from './tables.ts'

/** A user of the store. */
export type StoredUser = User & { id: string }

/** What a new password ends, and what it rests on. */
export interface StoreOptions {
  /** Id of the session that stays. */
  except?: string | undefined
  /** Nothing ends: the session of this request is the first. */
  keepSessions?: boolean
  /** Default `credentialChanged`. */
  reason?: 'passwordReset' | 'credentialChanged'
  /** Of the user who sets it: access that ended since then sets no password. Default: when the user became known in this request. */
  stamp?: StampOfAccess
}

/**
 * Stores it, ends sessions (all but `except`), open resets and registrations of the address, and sends a notice. Throws AccessEnded when access ended
 * meanwhile: the former password stays.
 */
export async function storePassword(
  ctx: AnyContext,
  user: StoredUser,
  { hash, short }: { hash: string; short: boolean },
  { except, keepSessions = false, reason = 'credentialChanged', stamp }: StoreOptions = {},
): Promise<void> {
  const id = await rowId(user.id)
  const passwords = ctx.records('password')
  const former = await passwords.get(id)
  const had = former !== null
  await ctx.access.grant(
    stamp ?? (await ctx.access.stamp(`user:${user.id}`)),
    'credential',
    () => passwords.put({ id, userId: user.id, hash, short, changed: ctx.now }),
    // Only its own: another request may have set a newer one.
    () =>
      former
        ? passwords.update(id, { hash: former.hash, short: former.short, changed: former.changed }, { if: { hash } })
        : passwords.take(id, { if: { hash } }),
  )
  await ctx.records('passwordReset').delete(id)
  if (user.email) await ctx.records('passwordPending').deleteWhere({ where: { address: user.email } })
  if (!keepSessions) await endAccess(ctx, { userId: user.id, ...(except !== undefined && { except }) }, 'passwords', reason)
  await ctx.emit('credentialChanged', { user, kind: 'password', action: had ? 'changed' : 'added' })
  if (user.email)
    runDetached(
      ctx,
      sendPasswordMail(
        ctx,
        user.email,
        !had ? 'passwords.added' : reason === 'passwordReset' ? 'passwords.was-reset' : 'passwords.changed',
        {
          at: ctx.now,
        },
      ),
    )
}

/** Sends one mail. Throws MailNotSent. */
export function sendPasswordMail(ctx: AnyContext, to: string, template: string, data: Record<string, MailValue>): Promise<void> {
  return ctx.service('mail').send(ctx, to, template, data)
}

/** Work that the answer does not wait for, so that its time tells nothing. */
export function runDetached(ctx: AnyContext, work: Promise<unknown>): void {
  work.catch((error: unknown) => ctx.logger.error(error as Error))
}
