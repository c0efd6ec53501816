/**
 * What goes again, of users who stay: what the source had once and has no longer (a ban that was lifted), and credentials of users whose address was
 * proved here alone, which at the source may be those of an attacker who registered with the address.
 */
import { AdapterError, type AnyContext } from 'authkernel/kernel'
import { decideGone } from './decisions.ts'
import type { ImportKind, ImportRun } from './ledger.ts'
import type { UserParts } from './parts.ts'
import { type KindReport, newKindReport, noteConflict } from './report.ts'
import { readEntries } from './tables.ts'

/** Removes here what was taken for these keys and was not changed since. */
export async function removeMissing(
  ctx: AnyContext,
  { source, kind, target }: ImportKind<never>,
  keys: readonly string[],
  { apply, conflicts }: ImportRun,
): Promise<KindReport> {
  const report = newKindReport()
  const entries = (await readOrNone(apply, () => readEntries(ctx, source, kind, keys))).filter(
    (entry) => entry !== undefined && entry.digest !== '',
  ) as NonNullable<Awaited<ReturnType<typeof readEntries>>[number]>[]
  if (entries.length === 0) return report
  const states = await target.read(
    ctx,
    entries.map(({ key }) => ({ key })),
  )
  for (const [at, entry] of entries.entries()) {
    const here = states[at]
    const found = decideGone(entry, here)
    const decision = found === 'conflict' && conflicts === 'source' ? 'removed' : found
    report[decision]++
    if (decision === 'conflict') noteConflict(report, entry.key, conflicts !== undefined)
    if (!apply || (decision === 'conflict' && conflicts === undefined)) continue
    if (decision === 'removed') {
      if (here) await target.remove(ctx, [{ key: entry.key, version: here.version }])
      // What the source has again after it was gone on both sides is new.
      await ctx.records('importEntry').delete(entry.id)
    } else await ctx.records('importEntry').update(entry.id, { digest: '', version: null, taken: ctx.now })
  }
  return report
}

/** Ids of users whose address the source has not verified, and who have proved it here since an earlier run. */
export async function findWithheld(
  ctx: AnyContext,
  page: readonly UserParts[],
  made: ReadonlySet<string>,
  apply: boolean,
): Promise<readonly string[]> {
  const asked = page.filter(({ id, user }) => !made.has(id) && user.emailVerified !== true && user.email).map(({ id }) => id)
  if (asked.length === 0) return []
  try {
    const users = await ctx.service('store').getUsers([...new Set(asked)])
    return users.filter(({ emailVerified }) => Boolean(emailVerified)).map(({ id }) => id)
  } catch (error) {
    // Before the first migration there are no tables.
    if (!apply && error instanceof AdapterError) return []
    throw error
  }
}

/** The user without what signs in. What an earlier run stored stays as it is. */
export function withoutCredentials({ password: _password, factor: _factor, phone: _phone, ...rest }: UserParts): UserParts {
  return { ...rest, user: { ...rest.user, accounts: [] }, accounts: [] }
}

async function readOrNone<T>(apply: boolean, read: () => Promise<T[]>): Promise<T[]> {
  try {
    return await read()
  } catch (error) {
    // Before the first migration there are no tables.
    if (apply) throw error
    return []
  }
}
