/** Which passwords may be chosen: long, well-formed, and not among those that attackers try first (NIST SP 800-63B-4 section 3.1.1.2). */
import type { AnyContext } from 'authkernel/kernel'
import { isCommon } from './known-passwords.ts'
import type { Options } from './options.ts'

/** Why a password cannot be taken; each has the message `error.<name>`. */
export type Refusal = 'PasswordTooShort' | 'PasswordTooLong' | 'PasswordUnusable' | 'PasswordBreached'
/** Whom a password must not be made of. */
export interface About {
  email?: string | null | undefined
  name?: string | null | undefined
}

// Code points.
const longEnoughWithFactor = 8
const maxLength = 256

/** The password as it is hashed, in NFKC; or what is wrong with it. */
export function normalizePassword(typed: unknown): { password: string } | { error: Refusal } {
  if (typeof typed !== 'string' || typed === '') return { error: 'PasswordTooShort' }
  // NFKC makes a text longer, hardly shorter: nothing this long is below the bound.
  if (typed.length > maxLength * 8) return { error: 'PasswordTooLong' }
  const password = typed.normalize('NFKC')
  if (lengthOf(password) > maxLength) return { error: 'PasswordTooLong' }
  // Unassigned code points may normalise differently one day; lone surrogates have no UTF-8.
  return /[\0\p{Cn}\p{Cs}]/u.test(password) ? { error: 'PasswordUnusable' } : { password }
}

/** A new password, checked. `withFactor`: this user is always asked for a second factor. */
export async function acceptNew(
  ctx: AnyContext,
  { breached, minLength }: Options,
  typed: unknown,
  about: About,
  withFactor: boolean,
): Promise<{ password: string; short: boolean } | { error: Refusal }> {
  const found = normalizePassword(typed)
  if ('error' in found) return found
  const { password } = found
  if (lengthOf(password) < (withFactor ? longEnoughWithFactor : minLength)) return { error: 'PasswordTooShort' }
  if (isCommon(password, [ctx.settings.origin ?? '', about.email ?? '', about.name ?? ''])) return refuseKnown(ctx, about, 'common')
  // A list that cannot be reached blocks no user: the one above was asked.
  const known = breached ? await Promise.resolve(breached(ctx, password)).catch(() => false) : false
  return known ? refuseKnown(ctx, about, 'breached') : { password, short: isShort(password, minLength) }
}

async function refuseKnown(ctx: AnyContext, about: About, reason: string): Promise<{ error: Refusal }> {
  await ctx.emit('noted', { name: 'password.breached', outcome: 'denied', reason, user: { id: (about as { id?: string }).id } })
  return { error: 'PasswordBreached' }
}

/** Too short for a password that alone signs in. */
export function isShort(password: string, minLength: number): boolean {
  return lengthOf(password) < minLength
}

function lengthOf(password: string): number {
  return Array.from(password).length
}
