/** `searchUsers` of the SQL adapter: one statement a page. */
import type { Adapter, AdapterUser, UserSearchQuery } from 'authkernel/kernel'
import { sql } from 'kysely'
import type { Database } from './database.ts'
import { canExist } from './rows.ts'
import { columnRef, Slot, tableRef } from './statements.ts'
import type { Sql, SqlExpression, Table } from './types.ts'
import { selectColumns, toRecord } from './values.ts'

/** A statement is compiled for lists of these lengths; a list is filled up with its last value. */
const sizes = [10, 100, 1_000, 10_000]

export function searchMethods(database: Database): Pick<Required<Adapter>, 'searchUsers'> {
  return {
    async searchUsers(query) {
      const [users, accounts] = [await database.table('users'), await database.table('accounts')]
      const among = query.among?.filter((id) => canExist(users, { id }))
      const except = query.except?.filter((id) => canExist(users, { id })) ?? []
      if (among?.length === 0) return { users: [], total: 0 }
      return database.repeat(() => runSearch(database, users, accounts, { ...query, among, except }))
    },
  }
}

async function runSearch(
  database: Database,
  users: Table,
  accounts: Table,
  query: UserSearchQuery,
): Promise<{ users: AdapterUser[]; total: number }> {
  const { within = '', text, verified, provider, among, except = [], sort = 'id', order = 'asc', offset = 0, limit } = query
  const lists = { among: paddedList(among ?? []), except: paddedList(except) }
  const shape = [text !== undefined, verified, provider !== undefined, lists.among.length, lists.except.length, sort, order, within.length]
  const where = (): SqlExpression => conditionsOf(database, users, accounts, { ...query, within }, lists)
  const values = {
    within: `${escapePattern(within)}%`,
    text: `%${escapePattern(text?.toLowerCase() ?? '')}%`,
    provider,
    offset,
    limit,
    ...Object.fromEntries(Object.entries(lists).flatMap(([name, list]) => list.map((id, at) => [`${name}.${at}`, id]))),
  }
  const page = (): Sql => {
    const way = sql.raw(order === 'desc' ? 'desc' : 'asc')
    const id = columnRef(users, 'id', users.name)
    const by = sort === 'id' ? sql`${id} ${way}` : sql`coalesce(${columnRef(users, sort, users.name)}, '') ${way}, ${id} ${way}`
    return sql`select ${selectColumns(users)}, count(*) over () as found_total from ${tableRef(users)} where ${where()}
      order by ${by} limit ${new Slot('limit')} offset ${new Slot('offset')}`
  }
  // `many`: the best plan depends on the values, so that none is kept by name.
  const { rows } = await database.run<{ found_total: unknown }>(database.db, users, `many search ${shape.join()}`, page, values)
  const found = rows.map((row) => toRecord<AdapterUser>(users, row))
  if (rows[0] || offset === 0) return { users: found, total: Number(rows[0]?.found_total ?? 0) }
  // The page lies behind the end: no row has told the total.
  const count = (): Sql => sql`select count(*) as found_total from ${tableRef(users)} where ${where()}`
  const counted = await database.run<{ found_total: unknown }>(database.db, users, `many count ${shape.join()}`, count, values)
  return { users: [], total: Number(counted.rows[0]?.found_total ?? 0) }
}

/** What a row must be. */
function conditionsOf(
  { dialect }: Database,
  users: Table,
  accounts: Table,
  { within = '', text, verified, provider }: UserSearchQuery,
  lists: { among: readonly string[]; except: readonly string[] },
): SqlExpression {
  const [id, email] = [columnRef(users, 'id', users.name), columnRef(users, 'email', users.name)]
  const like = (value: SqlExpression, slot: string): Sql => sql`${value} like ${new Slot(slot)} escape '!'`
  // Ids may be numbers or uuids, and MySQL has no type "text" to cast to.
  const lower = (value: SqlExpression): Sql => sql`lower(cast(${value} as ${sql.raw(dialect === 'mysql' ? 'char' : 'text')}))`
  const owners = (condition: SqlExpression): Sql =>
    sql`${id} in (select ${columnRef(accounts, 'userId')} from ${tableRef(accounts)} where ${condition})`
  const own = within === '' ? email : sql`substr(${email}, ${sql.lit(within.length + 1)})`
  const conditions: Sql[] = [
    within === '' ? sql`(${email} is null or ${email} not like '~%' or ${email} like '~~%')` : like(email, 'within'),
  ]
  if (text !== undefined) {
    const parts = [own, columnRef(users, 'name', users.name), id].map((value) => like(lower(value), 'text'))
    parts.push(owners(like(lower(columnRef(accounts, 'providerAccountId')), 'text')))
    conditions.push(sql`(${sql.join(parts, sql` or `)})`)
  }
  if (verified !== undefined) {
    const date = columnRef(users, 'emailVerified', users.name)
    const flag = users.columns.get('emailVerified')?.form === 'flag'
    const isSet = flag ? sql`coalesce(${date}, false)` : sql`${date} is not null`
    conditions.push(verified ? isSet : sql`not (${isSet})`)
  }
  if (provider !== undefined) conditions.push(owners(sql`${columnRef(accounts, 'provider')} = ${new Slot('provider')}`))
  for (const name of ['among', 'except'] as const) {
    if (lists[name].length === 0) continue
    const slots = sql.join(lists[name].map((_, at) => sql`${new Slot(`${name}.${at}`)}`))
    conditions.push(name === 'among' ? sql`${id} in (${slots})` : sql`${id} not in (${slots})`)
  }
  return sql.join(conditions, sql` and `)
}

function paddedList(values: readonly string[]): readonly string[] {
  if (values.length === 0) return []
  const size = sizes.find((each) => each >= values.length) ?? values.length
  return [...values, ...Array<string>(size - values.length).fill(values.at(-1)!)]
}

function escapePattern(text: string): string {
  return text.replaceAll(/[!%_]/g, '!$&')
}
