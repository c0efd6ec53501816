/** Bans of another product, for a move that may be run again. */
import {
  type AnyContext,
  type ImportState,
  type ImportTarget,
  type NewRow,
  RecordConflict,
  type Row,
  sha256,
  toHex,
} from 'authkernel/kernel'
import { endAccess } from 'authkernel/kernel/users'
import { banId } from './bans.ts'
import { type BanRow, never } from './tables.ts'

/** A ban as another product has it. */
export interface BanTaken {
  userId: string
  reason: string
  /** Null: it does not end by itself. */
  until: Date | null
  /** Who banned: the name of the product, or an id. */
  by: string
}

declare module 'authkernel/kernel' {
  interface Services {
    /** Stores bans of another product. Keys are ids of users. Sessions of banned users end. */
    banImport: ImportTarget<BanTaken>
  }
}

export const banTarget: ImportTarget<BanTaken> = {
  async read(ctx, rows) {
    const ids = await Promise.all(rows.map(({ key }) => banId(key)))
    const found = new Map((await ctx.records('userBan').getMany(ids)).map((row) => [row.id, row]))
    return Promise.all(rows.map(({ value }, at) => toState(found.get(ids[at]!), value)))
  },
  async write(ctx, rows) {
    const versions: (string | undefined)[] = []
    for (const { key, value, over } of rows) {
      const version = await writeBan(ctx, await banId(key), value, over)
      versions.push(version)
      // The row first: a sign-in at this moment is refused, or ended by this.
      if (version !== undefined && over === undefined) await endAccess(ctx, { userId: value.userId }, 'admin.ban', 'ban')
    }
    return versions
  },
  async remove(ctx, rows) {
    let removed = 0
    for (const { key, version } of rows) {
      const id = await banId(key)
      const row = await ctx.records('userBan').get(id)
      if (row && (await versionOf(row)) === version && (await ctx.records('userBan').take(id, { if: { since: row.since, by: row.by } })))
        removed++
    }
    return removed
  },
}

async function writeBan(
  ctx: AnyContext,
  id: string,
  { userId, reason, until, by }: BanTaken,
  over: string | undefined,
): Promise<string | undefined> {
  const bans = ctx.records('userBan')
  const fields = {
    userId,
    reason: reason.slice(0, 500),
    by: by.slice(0, 255),
    since: ctx.now,
    until: until && until < never ? until : never,
  }
  if (over === undefined) return createBan(ctx, { id, ...fields })
  const former = await bans.get(id)
  if (!former || (await versionOf(former)) !== over) return undefined
  const row = await bans.update(id, fields, { if: { since: former.since, by: former.by } })
  return row ? versionOf(row) : undefined
}

async function createBan(ctx: AnyContext, row: NewRow<BanRow>): Promise<string | undefined> {
  try {
    return await versionOf(await ctx.records('userBan').create(row))
  } catch (error) {
    if (error instanceof RecordConflict) return undefined
    throw error
  }
}

async function toState(row: Row<BanRow> | undefined, value: BanTaken | undefined): Promise<ImportState | undefined> {
  if (!row) return undefined
  const until = value?.until && value.until < never ? value.until : never
  const same = value !== undefined && row.reason === value.reason.slice(0, 500) && row.until.getTime() === until.getTime()
  return { version: await versionOf(row), same }
}

/** Another ban has another date. */
async function versionOf({ reason, by, since, until }: BanRow): Promise<string> {
  return toHex(await sha256(JSON.stringify([reason, by, since, until])))
}
