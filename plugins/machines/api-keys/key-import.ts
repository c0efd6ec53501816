/** Keys of another product, for a move that may be run again: the same texts go on, and are compared by the SHA-256 that the product stored. */
import { type AnyContext, equal, type ImportTarget, RecordConflict, type Row, sha256, toHex } from 'authkernel/kernel'
import type { ResolvedOptions } from './options.ts'
import { type ApiKeyRow, never } from './tables.ts'

/** A key as another product has it. */
export interface KeyTaken {
  userId: string
  name: string
  /** SHA-256 of the whole text of the key, in hex. */
  hash: string
  scopes: readonly string[]
  created: Date
  expires: Date | null
  limit: { max: number; seconds: number } | null
}

declare module 'authkernel/kernel' {
  interface Services {
    /** Stores keys of another product. Keys of the rows are the SHA-256 of the texts. */
    keyImport: ImportTarget<KeyTaken>
  }
}

const env = 'imported'

export function keyTarget(options: ResolvedOptions): ImportTarget<KeyTaken> {
  return {
    refuse(_ctx, { scopes, hash }) {
      const unknown = scopes.find((scope) => options.scopes && !options.scopes.includes(scope))
      if (unknown !== undefined) return `\`scopes\` of apiKeysPlugin does not have "${unknown}"`
      return /^[0-9a-f]{64}$/.test(hash) ? undefined : 'the hash of the key is no SHA-256'
    },
    isEmpty: async (ctx) => (await ctx.records('apiKey').count({}, { max: 1 })) === 0,
    async read(ctx, rows) {
      const found = new Map((await ctx.records('apiKey').getMany(rows.map(({ key }) => rowId(key)))).map((row) => [row.id, row]))
      return Promise.all(
        rows.map(async ({ key, value }) => {
          const row = found.get(rowId(key))
          return row && { version: await versionOf(row), same: value?.hash === row.hash }
        }),
      )
    },
    async write(ctx, rows) {
      const drafts = rows.map(({ value, over }) => ({ over, row: toRow(value) }))
      const stored = new Map<string, Row<ApiKeyRow>>()
      for (const row of await createKeys(
        ctx,
        drafts.filter(({ over }) => over === undefined).map(({ row }) => row),
      ))
        stored.set(row.id, row)
      for (const { over, row } of drafts) {
        if (over === undefined) continue
        const former = await ctx.records('apiKey').get(row.id)
        if (!former || (await versionOf(former)) !== over) continue
        const { id, used: _used, ...change } = row
        const done = await ctx.records('apiKey').update(id, change, { if: { expires: former.expires } })
        if (done) stored.set(id, done)
      }
      return Promise.all(drafts.map(({ row }) => (stored.has(row.id) ? versionOf(stored.get(row.id)!) : undefined)))
    },
    async remove(ctx, rows) {
      let removed = 0
      for (const { key, version } of rows) {
        const row = await ctx.records('apiKey').get(rowId(key))
        if (row && (await versionOf(row)) === version && (await ctx.records('apiKey').delete(row.id))) removed++
      }
      return removed
    },
  }
}

/** The row of a text that another product gave out; null: none. */
export async function findImportedKey(ctx: AnyContext, text: string): Promise<Row<ApiKeyRow> | null> {
  if (text.length < 16 || text.length > 512) return null
  const hash = toHex(await sha256(text))
  const row = await ctx.records('apiKey').get(rowId(hash))
  return row && row.env === env && equal(row.hash, hash) ? row : null
}

// Longer than an id of a key that was made here, so that none has it.
function rowId(hash: string): string {
  return `i${hash.slice(0, 31)}`
}

function toRow({ userId, name, hash, scopes, created, expires, limit }: KeyTaken): Row<ApiKeyRow> {
  const id = rowId(hash)
  return {
    id,
    family: id,
    name: name.slice(0, 100),
    env,
    hash,
    tail: '',
    scopes: [...scopes],
    userId,
    owner: null,
    organization: null,
    created,
    expires: expires ?? never,
    used: null,
    max: limit?.max ?? null,
    seconds: limit?.seconds ?? null,
    rotated: false,
  }
}

async function createKeys(ctx: AnyContext, rows: readonly Row<ApiKeyRow>[]): Promise<Row<ApiKeyRow>[]> {
  try {
    return await ctx.records('apiKey').createMany(rows)
  } catch (error) {
    // Another run was faster.
    if (error instanceof RecordConflict) return []
    throw error
  }
}

/** A key that was rotated or renewed here has another end. */
async function versionOf({ name, scopes, expires, max, seconds, rotated }: ApiKeyRow): Promise<string> {
  return toHex(await sha256(JSON.stringify([name, scopes, expires, max, seconds, rotated])))
}
