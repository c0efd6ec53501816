/** Tables of a source that is a library over a database of the host, read in pages in the order of ids. */
import { AuthError } from 'authkernel/kernel'
import type { ImportDatabase } from './options.ts'
import type { ExportedRow, SourceTables } from './sources/shape.ts'

type Row = Record<string, unknown>
/** As much of Kysely as is used here. */
interface Reader {
  withoutPlugins(): Reader
  introspection: { getTables(): Promise<readonly { name: string; schema?: string | undefined }[]> }
  selectFrom(table: string): Query
}
interface Query {
  selectAll(): Query
  where(column: string, operator: string, value: unknown): Query
  orderBy(column: string): Query
  limit(rows: number): Query
  execute(): Promise<Row[]>
}

const pageSize = 500

/** Users with lists of the rows that point to them. Throws AuthError when there is no table of users. */
export async function* readTables(database: ImportDatabase, { schema, users, more }: SourceTables): AsyncGenerator<ExportedRow> {
  // The tables of the host are known at run time. `Reader` is the part of Kysely that is used.
  const db = (database as unknown as Reader).withoutPlugins()
  const there = new Set(
    (await db.introspection.getTables()).filter((table) => schema === undefined || table.schema === schema).map(({ name }) => name),
  )
  const find = (names: readonly string[]): string | undefined => {
    const found = names.find((name) => there.has(name))
    return found !== undefined && schema !== undefined ? `${schema}.${found}` : found
  }
  const main = find(users)
  if (main === undefined)
    throw new AuthError(`import: the database has no table ${users.join(', ')}${schema === undefined ? '' : ` in the schema ${schema}`}.`)
  const parts = Object.entries(more).flatMap(([name, { tables, column }]) => {
    const table = find(tables)
    return table === undefined ? [] : [{ name, table, column }]
  })
  let last: unknown
  for (;;) {
    const query = db.selectFrom(main).selectAll().orderBy('id').limit(pageSize)
    const page = await (last === undefined ? query : query.where('id', '>', last)).execute()
    const ids = page.map(({ id }) => id)
    const lists = new Map<unknown, Row>()
    for (const { name, table, column } of ids.length > 0 ? parts : []) {
      for (const row of await db.selectFrom(table).selectAll().where(column, 'in', ids).execute()) {
        const owner = String(row[column])
        const own = lists.get(owner) ?? {}
        own[name] = [...((own[name] as Row[] | undefined) ?? []), row]
        lists.set(owner, own)
      }
    }
    for (const user of page) yield { ...user, ...lists.get(String(user['id'])) }
    if (page.length < pageSize) return
    last = page.at(-1)!['id']
  }
}
