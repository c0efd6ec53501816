/** A new user with an account: one statement where the database can, else a transaction. */
import type { AdapterUser, NewAdapterAccount } from 'authkernel/kernel'
import { sql } from 'kysely'
import type { Database, Runner } from './database.ts'
import { selection, toRecord } from './records.ts'
import { columnOf, nameOf, ref } from './refs.ts'
import { into, valuesOf } from './rows.ts'
import type { Sql, Table } from './types.ts'

/** Whether `insertBoth` can be asked: PostgreSQL inserts into two tables at once, and an id needs no other type on its way into the second. */
export function canInsertBoth({ dialect }: Database, people: Table, accounts: Table): boolean {
  return dialect === 'postgres' && columnOf(people, 'id').type === columnOf(accounts, 'userId').type
}

/** Inserts a user and the account that belongs to it, and returns the user as stored: all or nothing. */
export async function insertBoth(
  database: Database,
  db: Runner,
  people: Table,
  accounts: Table,
  { user, account }: { user: AdapterUser; account: NewAdapterAccount },
): Promise<AdapterUser> {
  const [person, linked] = [valuesOf(people, user), valuesOf(accounts, account)]
  const fields = linked.fields.filter((field) => field !== 'userId')
  const build = (): Sql => {
    const first = into(database, people, person.fields)
    const columns = sql.join(['userId', ...fields].map((field) => ref(accounts, field)))
    const { values } = into(database, accounts, fields, undefined, 'account.')
    return sql`with person as (${first.head} values (${first.values}) returning *),
      linked as (insert into ${nameOf(accounts)} (${columns}) select ${ref(people, 'id', 'person')}, ${values} from person)
      select ${selection(people, 'person')} from person`
  }
  const given = { ...person.row, ...Object.fromEntries(fields.map((field) => [`account.${field}`, linked.row[field]])) }
  const { rows } = await database.run(db, people, `sign up ${person.fields.join()} ${fields.join()}`, build, given)
  return toRecord<AdapterUser>(people, rows[0])
}
