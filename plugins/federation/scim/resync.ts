/** Brings the app to what the directory said last, a page of users at a time. */
import type { Row } from 'authkernel/kernel'
import { endDirectoryAccess } from './access.ts'
import type { Connection } from './caller.ts'
import { findDifferences, listDifferences, type ScimDifference } from './differences.ts'
import { toHttpError } from './errors.ts'
import { removeMembership, restoreMembership } from './membership.ts'
import { updateStoredUser } from './persons.ts'
import { applyRules } from './rules.ts'
import type { ScimUserRow } from './tables.ts'
import { joinResource } from './users.ts'

/** What a resync did with one difference. */
export interface ResyncedDifference extends ScimDifference {
  /** Why it is there still; null: it is gone. */
  problem: string | null
}
/** What one page of a resync did. */
export interface ResyncReport {
  /** Differences that it found, each with its outcome. Those that a resync leaves alone are among them. */
  differences: ResyncedDifference[]
  /** Give it as `cursor`; undefined: this was the last page. */
  cursor: string | undefined
}

/** Idempotent, so that it may be repeated after a failure. `restore`: memberships that an owner removed or suspended come back. */
export async function resyncDirectory(
  connection: Connection,
  { cursor, limit, restore }: { cursor?: string | undefined; limit: number; restore: boolean },
): Promise<ResyncReport> {
  const page = await listDifferences(connection, { cursor, limit })
  const differences: ResyncedDifference[] = []
  for (const difference of page.differences)
    differences.push({ ...difference, problem: (await resyncOne(connection, difference, restore)) ?? null })
  return { differences, cursor: page.cursor }
}

async function resyncOne(connection: Connection, difference: ScimDifference, restore: boolean): Promise<string | undefined> {
  const { id, resync } = difference
  const row = id === null ? null : await connection.ctx.records('scimUser').get(id)
  if (!row || resync === 'leaves') return 'A resync leaves this alone.'
  if (resync === 'restores' && !restore) return 'An owner may have ended the membership. Resync with `restore`.'
  return repair(connection, row, difference)
}

/** Undefined: it is done. */
async function repair(connection: Connection, row: Row<ScimUserRow>, { kind }: ScimDifference): Promise<string | undefined> {
  const { ctx } = connection
  try {
    if (kind === 'access') await endDirectoryAccess(ctx, row)
    else if (kind === 'member') await giveMembership(connection, row)
    else if (kind === 'email' || kind === 'name') await updateStoredUser(connection, row.userId, joinResource(row))
    else await applyRules(connection, row.userId)
  } catch (error) {
    const known = toHttpError(error)
    if (!known) throw error
    return known.message
  }
  const now = await ctx.records('scimUser').get(row.id)
  const stored = now && (await ctx.service('store').getUser(now.userId))
  const left = now ? await findDifferences(connection, now, stored ?? undefined) : []
  return left.some((one) => one.kind === kind) ? 'It could not be changed: the last owner keeps role and membership.' : undefined
}

/** The directory may switch the user off, or remove the user, at the same moment: what it says counts. */
async function giveMembership(connection: Connection, row: Row<ScimUserRow>): Promise<void> {
  const { ctx } = connection
  await restoreMembership(connection, row.userId)
  const now = await ctx.records('scimUser').get(row.id)
  if (now?.active) return
  await endDirectoryAccess(ctx, row)
  if (!now) await removeMembership(ctx, row)
}
