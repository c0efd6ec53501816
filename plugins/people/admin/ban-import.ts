/** Bans of another product, for a move that may be run again. */
import { type AnyContext, type ImportState, type ImportTarget, RecordConflict, type Row, sha256, toHex } from 'authkernel/kernel'
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

// Users who are banned, and whose access ends, at once. Few: the access of these alone goes on if the process ends between the two.
const width = 10

export const banTarget: ImportTarget<BanTaken> = {
  isEmpty: async (ctx) => (await ctx.records('userBan').count({}, { max: 1 })) === 0,
  async read(ctx, rows) {
    const ids = await Promise.all(rows.map(({ key }) => banId(key)))
    const found = new Map((await ctx.records('userBan').getMany(ids)).map((row) => [row.id, row]))
    return Promise.all(rows.map(({ value }, at) => toState(found.get(ids[at]!), value)))
  },
  async write(ctx, rows) {
    const drafts = await Promise.all(
      rows.map(async ({ key, value, over }) => ({ over, row: { id: await banId(key), ...toFields(ctx, value) } })),
    )
    const fresh = drafts.filter(({ over }) => over === undefined).map(({ row }) => row)
    const made = new Map<string, string>()
    for (let at = 0; at < fresh.length; at += width) {
      // The rows first: a sign-in at this moment is refused, or ended by this.
      const rows = await createBans(ctx, fresh.slice(at, at + width))
      await Promise.all(rows.map(({ userId }) => endAccess(ctx, { userId }, 'admin.ban', 'ban')))
      for (const row of rows) made.set(row.id, await versionOf(row))
    }
    const versions: (string | undefined)[] = []
    for (const { over, row } of drafts) versions.push(over === undefined ? made.get(row.id) : await replaceBan(ctx, row, over))
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

function toFields(ctx: AnyContext, { userId, reason, until, by }: BanTaken): BanRow {
  return { userId, reason: reason.slice(0, 500), by: by.slice(0, 255), since: ctx.now, until: until && until < never ? until : never }
}

async function replaceBan(ctx: AnyContext, { id, ...fields }: Row<BanRow>, over: string): Promise<string | undefined> {
  const bans = ctx.records('userBan')
  const former = await bans.get(id)
  if (!former || (await versionOf(former)) !== over) return undefined
  const row = await bans.update(id, fields, { if: { since: former.since, by: former.by } })
  return row ? versionOf(row) : undefined
}

/** All at once, or one by one where a user was banned here meanwhile: that one is left out. */
async function createBans(ctx: AnyContext, rows: readonly Row<BanRow>[]): Promise<Row<BanRow>[]> {
  const bans = ctx.records('userBan')
  try {
    return await bans.createMany(rows)
  } catch (error) {
    if (!(error instanceof RecordConflict)) throw error
  }
  const made: Row<BanRow>[] = []
  for (const row of rows) {
    try {
      made.push(await bans.create(row))
    } catch (error) {
      if (!(error instanceof RecordConflict)) throw error
    }
  }
  return made
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
