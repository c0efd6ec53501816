/** All rows of a query: `find` answers them a page at a time. */
import type { FindOptions, RecordTable, Row } from '../contract/records.ts'

/** Where to look, and how: a query of `find` without its cursor. `limit`: rows a page, default 1000. */
export type RowQuery<T> = Omit<FindOptions<T>, 'cursor'>

const pageSize = 1000

/**
 * Yields all rows of a query in the order of its index, and reads the next page when it is needed. A row that was read may be changed or deleted
 * meanwhile. Throws like `find`.
 */
export async function* readRows<T>(table: Pick<RecordTable<T>, 'find'>, query: RowQuery<T> = {}): AsyncGenerator<Row<T>, void, undefined> {
  let cursor: string | undefined
  do {
    const page = await table.find({ limit: pageSize, ...query, cursor })
    yield* page.rows
    cursor = page.cursor
  } while (cursor !== undefined)
}

/** All rows of a query in one list. Throws like `find`. */
export async function listRows<T>(table: Pick<RecordTable<T>, 'find'>, query: RowQuery<T> = {}): Promise<Row<T>[]> {
  const rows: Row<T>[] = []
  for await (const row of readRows(table, query)) rows.push(row)
  return rows
}
