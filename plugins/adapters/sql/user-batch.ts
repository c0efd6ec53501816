/** Many users at once, for imports: a few statements for hundreds of rows. */
import type { Adapter, AdapterUser, NewUserWithAccounts } from 'authkernel/kernel'
import { sql } from 'kysely'
import type { Database, Runner } from './database.ts'
import { isUnique } from './introspect.ts'
import { canExist, insertOwned, insertRow, valuesOf } from './rows.ts'
import { columnOf, columnRef, tableRef } from './statements.ts'
import type { Sql, Table } from './types.ts'
import { assertAccountFree, assertEmailFree } from './users.ts'
import { writeExpression } from './values.ts'

// Rows of one insert. Few sizes, so that few statements are compiled.
const sizes = [500, 100, 10, 1]
// PostgreSQL counts values by 16 bits, and SQLite takes 32,766.
const maxValues = 15_000

/** `createUsers` of the adapter. */
export function userBatchMethods(database: Database): Pick<Required<Adapter>, 'createUsers'> {
  const { table, transaction } = database
  return {
    async createUsers(entries) {
      const [users, accounts] = [await table('users'), await table('accounts')]
      const guarded = isUnique(users, 'email') && isUnique(accounts, 'provider', 'providerAccountId')
      // An id that the database makes is known only after each single insert.
      const plain = guarded && entries.every(({ user }) => user.id !== undefined && canExist(users, { id: user.id }))
      return transaction(
        (tx) => (plain ? insertAll(database, tx, users, accounts, entries) : insertEach(database, tx, users, accounts, entries)),
        !guarded,
      )
    },
  }
}

async function insertAll(
  database: Database,
  tx: Runner,
  users: Table,
  accounts: Table,
  entries: readonly NewUserWithAccounts[],
): Promise<AdapterUser[]> {
  await insertMany(
    database,
    tx,
    users,
    entries.map(({ user }) => user),
  )
  const owned = entries.flatMap(({ user, accounts: own }) => own.map((account) => ({ ...account, userId: user.id })))
  await insertMany(database, tx, accounts, owned)
  return entries.map(({ user }) => user)
}

async function insertEach(
  database: Database,
  tx: Runner,
  users: Table,
  accounts: Table,
  entries: readonly NewUserWithAccounts[],
): Promise<AdapterUser[]> {
  const stored: AdapterUser[] = []
  for (const { user: given, accounts: own } of entries) {
    const user = { ...given, id: given.id ?? crypto.randomUUID() }
    await assertEmailFree(database, tx, users, user.email)
    const match = canExist(users, { id: user.id }) ? { id: user.id } : { email: user.email }
    const made = await insertRow<AdapterUser>(database, tx, users, user, match)
    for (const account of own) {
      await assertAccountFree(database, tx, accounts, users, account)
      await insertOwned(database, tx, accounts, users, { ...account, userId: made.id })
    }
    stored.push(made)
  }
  return stored
}

async function insertMany(database: Database, tx: Runner, table: Table, records: readonly object[]): Promise<void> {
  const values = records.map((record) => valuesOf(table, record))
  const groups = new Map<string, typeof values>()
  for (const value of values) {
    const key = value.fields.join()
    const group = groups.get(key)
    if (group) group.push(value)
    else groups.set(key, [value])
  }
  for (const group of groups.values()) await insertGroup(database, tx, table, group[0]!.fields, group)
}

/** Rows with the same fields. */
async function insertGroup(
  database: Database,
  tx: Runner,
  table: Table,
  fields: readonly string[],
  rows: readonly { row: Readonly<Record<string, unknown>> }[],
): Promise<void> {
  let at = 0
  for (const size of sizes) {
    if (size * fields.length > maxValues) continue
    const build = (): Sql => {
      const places = [...Array(size).keys()].map(
        (n) => sql`(${sql.join(fields.map((field) => writeExpression(database.dialect, columnOf(table, field), `${field}.${n}`)))})`,
      )
      const columns = sql.join(fields.map((field) => columnRef(table, field)))
      return sql`insert into ${tableRef(table)} (${columns}) values ${sql.join(places)}`
    }
    for (; rows.length - at >= size; at += size) {
      const values: Record<string, unknown> = {}
      for (let n = 0; n < size; n++) for (const field of fields) values[`${field}.${n}`] = rows[at + n]!.row[field]
      await database.run(tx, table, `insert many ${size} ${fields.join()}`, build, values)
    }
  }
}
