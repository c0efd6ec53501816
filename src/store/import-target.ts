/** Rows of another product in one record: compared, stored, refreshed and removed, for a move that may be run again. */
import type { AnyContext } from '../contract/context.ts'
import type { NewRow, Records, RecordTable, Row } from '../contract/records.ts'
import type { ImportTarget } from '../contract/services.ts'
import { RecordConflict } from './record-spec.ts'
import { sha256, toHex } from '../keys/crypto.ts'

/** How values of another product become rows. */
export interface RecordTargetSpec<K extends keyof Records, T> {
  /** Name of the record. */
  record: K
  /** Why a value cannot be stored, in words; undefined: it can. */
  refuse?: ((ctx: AnyContext, value: T) => Promise<string | undefined> | string | undefined) | undefined
  /** The whole row. Its id is `rowId(key)`. Undefined: something that it needs is not here any more. */
  toRow(ctx: AnyContext, value: T, id: string): Promise<NewRow<Records[K]> | undefined>
  /** Default: a hash of the key. */
  rowId?: ((key: string) => string | Promise<string>) | undefined
  /** What users, clients and the host change: another value is another version. */
  factsOf(row: Records[K]): readonly unknown[]
  /** Fields whose values in the row must still be there when it is replaced or removed. No lists and no secrets. */
  guard: readonly (keyof Records[K] & string)[]
  /** Fields that a refresh leaves as they are here. */
  keep?: readonly (keyof Records[K] & string)[] | undefined
  /** Called after a row was stored. `isNew`: instead of none. */
  afterWrite?: ((ctx: AnyContext, row: Row<Records[K]>, value: T, isNew: boolean) => Promise<void>) | undefined
  /** Called after a row was removed. */
  afterRemove?: ((ctx: AnyContext, row: Row<Records[K]>) => Promise<void>) | undefined
}

/** A target of `importPages` for one record. */
export function recordTarget<K extends keyof Records, T>(spec: RecordTargetSpec<K, T>): ImportTarget<T> {
  type Stored = Row<Records[K]>
  const { rowId = idOfKey } = spec
  // The fields of a record whose name is a type parameter: the compiler does not see that they are the same.
  const tableOf = (ctx: AnyContext) => ctx.records(spec.record) as unknown as RecordTable<Records[K]>
  const versionOf = async (row: Records[K]): Promise<string> => toHex(await sha256(JSON.stringify(spec.factsOf(row))))
  const guardOf = (row: Stored): Partial<Records[K]> =>
    // The computed names are fields of the record, which TypeScript widens to string.
    Object.fromEntries(spec.guard.map((field) => [field, row[field]])) as Partial<Records[K]>
  return {
    refuse: (ctx, value) => spec.refuse?.(ctx, value),
    isEmpty: async (ctx) => (await tableOf(ctx).count({}, { max: 1 })) === 0,
    async read(ctx, rows) {
      const ids = await Promise.all(rows.map(({ key }) => rowId(key)))
      const found = new Map((await tableOf(ctx).getMany(ids)).map((row) => [row.id, row]))
      return Promise.all(
        rows.map(async ({ value }, at) => {
          const row = found.get(ids[at]!)
          if (!row) return undefined
          const version = await versionOf(row)
          const wanted = value === undefined ? undefined : await spec.toRow(ctx, value, ids[at]!)
          // A draft has every field of a row.
          return { version, same: wanted !== undefined && version === (await versionOf(wanted as Records[K])) }
        }),
      )
    },
    async write(ctx, rows) {
      const versions: (string | undefined)[] = []
      for (const { key, value, over } of rows) {
        const id = await rowId(key)
        const draft = await spec.toRow(ctx, value, id)
        const written = draft && (await (over === undefined ? create(ctx, { ...draft, id }) : replace(ctx, id, draft, over)))
        if (written) await spec.afterWrite?.(ctx, written, value, over === undefined)
        versions.push(written ? await versionOf(written) : undefined)
      }
      return versions
    },
    async remove(ctx, rows) {
      let removed = 0
      for (const { key, version } of rows) {
        const row = await tableOf(ctx).get(await rowId(key))
        if (!row || (await versionOf(row)) !== version || !(await tableOf(ctx).take(row.id, { if: guardOf(row) }))) continue
        await spec.afterRemove?.(ctx, row)
        removed++
      }
      return removed
    },
  }

  async function create(ctx: AnyContext, row: NewRow<Records[K]>): Promise<Stored | undefined> {
    try {
      return await tableOf(ctx).create(row)
    } catch (error) {
      // Another run, or another row with the same name.
      if (error instanceof RecordConflict) return undefined
      throw error
    }
  }

  async function replace(ctx: AnyContext, id: string, draft: NewRow<Records[K]>, over: string): Promise<Stored | undefined> {
    const former = await tableOf(ctx).get(id)
    if (!former || (await versionOf(former)) !== over) return undefined
    const keep = new Set<string>(['id', ...(spec.keep ?? [])])
    const change = Object.fromEntries(Object.entries(draft).filter(([field]) => !keep.has(field)))
    try {
      // The fields that are left are fields of the record.
      return (await tableOf(ctx).update(id, change as Partial<Records[K]>, { if: guardOf(former) })) ?? undefined
    } catch (error) {
      if (error instanceof RecordConflict) return undefined
      throw error
    }
  }
}

/** A number for a row that counts its changes: another content has another one. */
export async function contentVersion(content: unknown): Promise<number> {
  return Number.parseInt(toHex(await sha256(JSON.stringify(content))).slice(0, 7), 16)
}

/** Id of a row whose key is no id here. */
export async function idOfKey(key: string): Promise<string> {
  return toHex(await sha256(key)).slice(0, 32)
}
