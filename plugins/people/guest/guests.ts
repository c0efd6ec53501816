/** How guests come and go. */
import {
  type AdapterUser,
  type AnyContext,
  AuthError,
  type Context,
  HttpError,
  type JobContext,
  type OfTenant,
  randomUUID,
  redirectTo,
  type Store,
  toLocalPath,
} from 'authkernel/kernel'
import { storeNewUser } from 'authkernel/kernel/users'
import type { ResolvedOptions } from './options.ts'
import { guestId, provider } from './tables.ts'

/** Which guests: `tenant` names the tenant where there are several. */
export interface Sweep extends OfTenant {
  /** Default 1000. */
  max?: number
}

/** Begins the session of a guest, unless a user is signed in. `returnTo`: a path of the own origin; default: where the request wants to go. */
export async function startGuest(ctx: Context, { idle, max }: ResolvedOptions, returnTo?: string): Promise<Response> {
  const target = await ctx.callbackUrl(returnTo === undefined ? undefined : ctx.origin + toLocalPath(returnTo, 'guest.start'))
  if (await ctx.currentSession()) return redirectTo(target)
  const { allowed, retryAfter } = await ctx.limit.take(`guest:${ctx.clientAddress ?? 'unknown'}`, { max, seconds: 3600 })
  if (!allowed) throw new HttpError(429, 'Too many guests came from this address.', { 'Retry-After': String(retryAfter) })

  const store = ctx.store as Store
  const fields = { id: randomUUID(ctx.runtime), name: null, emailVerified: null, ...(store.nullableEmail && { email: null }) }
  const account = { provider, providerAccountId: fields.id, type: 'credentials' }
  // A guest has no address. The published type of a user demands one.
  const user = await storeNewUser(ctx, store, fields as unknown as AdapterUser, account)
  const forget = async (): Promise<void> => void (await store.deleteUser(user.id))
  try {
    await ctx.records('guest').create({ id: await guestId(user.id), userId: user.id, idleUntil: idleEnd(ctx, idle) })
  } catch (error) {
    await forget()
    throw error
  }
  // As every sign-in: it passes the hooks and fires the events.
  const response = await ctx.complete({
    user,
    account: { provider, providerAccountId: user.id, type: 'credentials' },
    match: 'none',
    proof: { amr: [], factors: 1 },
    onFailed: forget,
  })
  await ctx.emit('guestCreated', { user })
  return response
}

/** Deletes guests who did not come back. */
export async function sweepGuests(ctx: JobContext, max: number): Promise<number> {
  if (!Number.isInteger(max) || max < 1) throw new AuthError('guest.sweep: `max` must be a whole number of at least 1.')
  const guests = ctx.records('guest')
  let count = 0
  while (count < max) {
    const { rows } = await guests.find({ range: { idleUntil: { lte: ctx.now } }, limit: Math.min(100, max - count) })
    let taken = 0
    for (const { id, userId, idleUntil } of rows) {
      // One that came back, or signed in meanwhile, is left alone.
      if (!(await guests.take(id, { if: { idleUntil } }))) continue
      if (await deleteGuest(ctx, userId)) taken++
      // Tried again tomorrow.
      else await guests.put({ id, userId, idleUntil: idleEnd(ctx, 86_400) })
    }
    count += taken
    if (taken === 0) return count
  }
  return count
}

/** Deletes the user of a guest who is gone. False, and logged: the store failed, or the hook `deleteUser` rejected it. */
export async function deleteGuest(ctx: AnyContext, userId: string): Promise<boolean> {
  try {
    await ctx.store?.deleteUser(userId)
    return true
  } catch (error) {
    ctx.logger.error(error instanceof Error ? error : new Error(String(error)))
    return false
  }
}

/** When a guest who is here now is gone. */
export function idleEnd({ now }: AnyContext, idle: number): Date {
  return new Date(now.getTime() + idle * 1000)
}
