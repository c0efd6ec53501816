/** Passwords that another service still has: it is asked at a sign-in of a user without a hash, and a right answer stores a hash of ours. */
import { type AdapterUser, type Context, Overloaded, type Row, sha256, toHex } from 'authkernel/kernel'
import type { Parts } from './options.ts'
import { isShort, normalizePassword } from './policy.ts'
import { passwordOf, type PasswordRow, rowId } from './tables.ts'

/** What is asked about. */
export interface LegacyQuestion {
  /** What was typed: an address in its canonical form, or a username. */
  name: string
  /** The user here; null: the name is not known. */
  user: AdapterUser | null
  /** As it was typed. */
  password: string
}
/** The password is right. */
export interface LegacyAnswer {
  /** Whether the other service has verified the address. Without that a magic link decides. */
  emailVerified: boolean
  /** Of a user who is made now. */
  name?: string | null | undefined
  image?: string | null | undefined
}
/** The service that another plugin provides, to ask where the users were before. */
export interface LegacyPasswords {
  /** Null: wrong, unknown, or this user is not asked about any more. Throws when the other service cannot be asked. */
  check(ctx: Context, question: LegacyQuestion): Promise<LegacyAnswer | null>
  /** A hash of authkernel is stored: the other service is never asked about this user again. */
  stopAsking(ctx: Context, userId: string): Promise<void>
}

declare module 'authkernel/kernel' {
  interface Services {
    legacyPasswords: LegacyPasswords
  }
}

/** A visitor who has a password at the other service, and no user here. */
export interface Newcomer extends LegacyAnswer {
  password: string
  hash: string
  short: boolean
}

// Longer than the other service may take, so that a second request does not ask beside the first.
const leaseSeconds = 30

/**
 * Asks the other service. A user, when the right password was stored for this one or its mailbox decides; a newcomer, where no user has the address; null: the
 * password is wrong. Throws Overloaded while another request asks about the same name, and when the service cannot be asked.
 */
export async function askLegacy(
  ctx: Context,
  { hasher, options }: Parts,
  question: LegacyQuestion,
  isRight: (row: Row<PasswordRow>) => Promise<boolean>,
): Promise<AdapterUser | Newcomer | null> {
  if (!ctx.app.services.legacyPasswords) return null
  const found = normalizePassword(question.password)
  if ('error' in found) return null
  const { name, user } = question
  const lease = await ctx.lease(toHex(await sha256(`passwords legacy ${user?.id ?? name}`)), leaseSeconds)
  if (!lease) throw new Overloaded('passwords: another request asks the former service about this user.')
  try {
    // The request that had the lease before has stored it.
    const row = user ? await passwordOf(ctx, user.id) : null
    if (row) return !row.parked && (await isRight(row)) ? user : null
    const stamp = user ? await ctx.access.stamp(`user:${user.id}`) : undefined
    const answer = await check(ctx, question)
    if (!answer) return null
    const { password } = found
    const short = isShort(password, options.minLength)
    if (!user) return { ...answer, password, hash: await hasher.hash(password), short }
    // Its owner has not proved the address here: a mailed link decides.
    if (user.email && !user.emailVerified) return user
    if (user.email && !answer.emailVerified) {
      ctx.logger.warn('legacy-password-unverified', { userId: user.id })
      return null
    }
    const [id, hash] = [await rowId(user.id), await hasher.hash(password)]
    const table = ctx.records('password')
    await ctx.access.grant(
      stamp!,
      'credential',
      () => table.create({ id, userId: user.id, hash, short, changed: ctx.now }),
      () => table.take(id, { if: { hash } }),
    )
    await ctx.service('legacyPasswords').stopAsking(ctx, user.id)
    await ctx.emit('noted', { name: 'password.legacy', outcome: 'success', user: { id: user.id } })
    return user
  } finally {
    await lease.release()
  }
}

async function check(ctx: Context, question: LegacyQuestion): Promise<LegacyAnswer | null> {
  try {
    return await ctx.service('legacyPasswords').check(ctx, question)
  } catch (error) {
    throw new Overloaded('passwords: the former service of this user could not be asked.', { err: error as Error })
  }
}
