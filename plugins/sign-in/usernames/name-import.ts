/** Names of another product, for a move that may be run again. */
import { type AnyContext, type ImportTarget, type NewRow, RecordConflict, type Row, sha256, toHex } from 'authkernel/kernel'
import type { NameRules } from './options.ts'
import { toName } from './rules.ts'
import { skeletonOf } from './skeleton.ts'
import type { UserNameRow } from './tables.ts'

/** A name as another product has it. */
export interface NameTaken {
  userId: string
  /** As the user typed it, or in one form. */
  name: string
}

declare module 'authkernel/kernel' {
  interface Services {
    /** Stores usernames of another product. Keys are ids of users. */
    nameImport: ImportTarget<NameTaken>
  }
}

/** Rows have an id that is made of the user's, so that a page of them is read at once. */
export function nameTarget(rules: NameRules): ImportTarget<NameTaken> {
  const canonical = (typed: string): string | undefined => {
    const found = toName(typed, rules)
    return 'error' in found ? undefined : found.name
  }
  return {
    refuse: (_ctx, { name }) =>
      canonical(name) === undefined ? 'usernamesPlugin does not take the name: it is reserved, or has other characters' : undefined,
    isEmpty: async (ctx) => (await ctx.records('userName').count({}, { max: 1 })) === 0,
    async read(ctx, rows) {
      const ids = await Promise.all(rows.map(({ key }) => rowId(key)))
      const found = new Map((await ctx.records('userName').getMany(ids)).map((row) => [row.id, row]))
      return rows.map(({ value }, at) => {
        const row = found.get(ids[at]!)
        return row && { version: versionOf(row), same: value !== undefined && row.name === canonical(value.name) }
      })
    },
    async write(ctx, rows) {
      const drafts = await Promise.all(
        rows.map(async ({ key, value, over }) => {
          const name = canonical(value.name) ?? value.name
          return { over, row: { id: await rowId(key), userId: key, name, skeleton: skeletonOf(name), changed: ctx.now } }
        }),
      )
      const fresh = drafts.filter(({ over }) => over === undefined).map(({ row }) => row)
      const stored = await createNames(ctx, fresh)
      const versions: (string | undefined)[] = []
      for (const { over, row } of drafts) versions.push(over === undefined ? stored.get(row.id) : await replaceName(ctx, row, over))
      return versions
    },
    async remove(ctx, rows) {
      let removed = 0
      for (const { key, version } of rows) {
        const row = await ctx.records('userName').get(await rowId(key))
        if (row && versionOf(row) === version && (await ctx.records('userName').take(row.id, { if: { changed: row.changed } }))) removed++
      }
      return removed
    },
  }
}

/** Versions by id. A name that another user has, or that looks like one, is left out. */
async function createNames(ctx: AnyContext, rows: readonly NewRow<UserNameRow>[]): Promise<Map<string, string>> {
  const names = ctx.records('userName')
  const stored = new Map<string, string>()
  const keep = (made: Row<UserNameRow>): void => void stored.set(made.id, versionOf(made))
  try {
    for (const made of await names.createMany(rows)) keep(made)
    return stored
  } catch (error) {
    if (!(error instanceof RecordConflict)) throw error
  }
  for (const row of rows) {
    try {
      keep(await names.create(row))
    } catch (error) {
      if (!(error instanceof RecordConflict)) throw error
    }
  }
  return stored
}

async function replaceName(ctx: AnyContext, { id, ...change }: Row<UserNameRow>, over: string): Promise<string | undefined> {
  const former = await ctx.records('userName').get(id)
  if (!former || versionOf(former) !== over) return undefined
  try {
    const row = await ctx.records('userName').update(id, change, { if: { changed: former.changed, name: former.name } })
    return row ? versionOf(row) : undefined
  } catch (error) {
    if (error instanceof RecordConflict) return undefined
    throw error
  }
}

function versionOf({ name, changed }: UserNameRow): string {
  return `${changed.toISOString()} ${name}`
}

async function rowId(userId: string): Promise<string> {
  return toHex(await sha256(`user name ${userId}`))
}
