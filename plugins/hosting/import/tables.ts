/** The ledger of moves: what was taken from another product, and what was written here for it. */
import { type AnyContext, type RecordSpec, type Row, sha256, toHex } from 'authkernel/kernel'

/**
 * One thing that was taken. Its id is the SHA-256 of source, kind and key. It stays when the user is deleted or the thing is revoked here, so that a later
 * run does not bring it back. It has digests, and nothing that opens anything.
 */
export interface ImportEntryRow {
  /** The other product: `better-auth`. */
  source: string
  /** `password`, `factor`, `ban` … */
  kind: string
  /** Names the thing there and here. */
  key: string
  /** SHA-256 of what the source had when it was taken last. Empty: the source no longer has it. */
  digest: string
  /** Version of what was written here. Null: what is here was not written by the move, and was kept. */
  version: string | null
  userId: string | null
  taken: Date
}

/** A user about whom the former service is not asked any more. Its id is the SHA-256 of the user's id. */
export interface LegacyPasswordRow {
  userId: string
  /** When a password was stored here. */
  at: Date
}

declare module 'authkernel/kernel' {
  interface Records {
    importEntry: ImportEntryRow
    legacyPassword: LegacyPasswordRow
  }
}

export const entryTable: RecordSpec<ImportEntryRow> = {
  id: 'given',
  fields: {
    source: { type: 'string', max: 32 },
    kind: { type: 'string', max: 32 },
    key: { type: 'string', max: 512 },
    digest: { type: 'string', max: 64 },
    version: { type: 'string', max: 128, optional: true },
    userId: { type: 'string', max: 255, optional: true },
    taken: { type: 'date' },
  },
  index: [['source', 'kind', 'key']],
}

export const legacyTable: RecordSpec<LegacyPasswordRow> = {
  id: 'given',
  fields: { userId: { type: 'string', max: 255 }, at: { type: 'date' } },
  owner: 'user',
}

/** The id of an entry. */
export async function entryId(source: string, kind: string, key: string): Promise<string> {
  return toHex(await sha256(JSON.stringify([source, kind, key])))
}

/** Entries of up to 500 keys, in their order; undefined: never taken. */
export async function readEntries(
  ctx: AnyContext,
  source: string,
  kind: string,
  keys: readonly string[],
): Promise<(Row<ImportEntryRow> | undefined)[]> {
  const ids = await Promise.all(keys.map((key) => entryId(source, kind, key)))
  const rows = new Map((await ctx.records('importEntry').getMany(ids)).map((row) => [row.id, row]))
  return ids.map((id) => rows.get(id))
}
