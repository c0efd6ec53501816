/** Users of the SQL adapter, alone and with their first account. */
import type { Adapter, AdapterAccount, AdapterUser, NewAdapterAccount, UserQuery } from 'authkernel/kernel'
import { sql } from 'kysely'
import type { Database, Runner } from './database.ts'
import { isConflict } from './dialect.ts'
import { isUnique } from './introspect.ts'
import { canExist, findMany, findRows, insertInto, insertOwned, insertRow, matchFields, removeRows, updateRows, valuesOf } from './rows.ts'
import { columnOf, columnRef, Slot, tableRef } from './statements.ts'
import type { Sql, Table } from './types.ts'
import { selectColumns, toRecord } from './values.ts'

type Users = Pick<
  Required<Adapter>,
  | 'createUser'
  | 'getUser'
  | 'getUsers'
  | 'listUsers'
  | 'getUserByEmail'
  | 'getUserByAccount'
  | 'updateUser'
  | 'deleteUser'
  | 'createUserWithAccount'
>

/** `eraser` makes the function that deletes the records of a user, in the transaction that deletes the user. */
export function userMethods(database: Database, eraser: () => Promise<(runner: Runner, userId: string) => Promise<void>>): Users {
  const { db, repeat, retry, table, transaction } = database

  async function create(runner: Runner, users: Table, given: AdapterUser): Promise<AdapterUser> {
    const user = withId(given)
    return insertRow<AdapterUser>(database, runner, users, user, canExist(users, { id: user.id }) ? { id: user.id } : { email: user.email })
  }
  async function createFree(runner: Runner, users: Table, user: AdapterUser): Promise<AdapterUser> {
    await assertEmailFree(database, runner, users, user.email)
    return create(runner, users, user)
  }
  return {
    async createUser(user) {
      const users = await table('users')
      if (!isUnique(users, 'email')) return transaction((tx) => createFree(tx, users, user), true)
      return unlessTaken(
        () => retry(() => create(db, users, user)),
        () => retry(() => createFree(db, users, user)),
      )
    },
    async createUserWithAccount(user, record) {
      const [users, accounts] = [await table('users'), await table('accounts')]
      const guarded = isUnique(users, 'email') && isUnique(accounts, 'provider', 'providerAccountId')
      const careful = (): Promise<AdapterUser> =>
        transaction(async (tx) => {
          await assertAccountFree(database, tx, accounts, users, record)
          const stored = await createFree(tx, users, user)
          await insertOwned(database, tx, accounts, users, { ...record, userId: stored.id })
          return stored
        }, !guarded)
      if (!guarded) return careful()
      const plain = (): Promise<AdapterUser> =>
        canInsertBoth(database, users, accounts)
          ? retry(() => insertBoth(database, db, users, accounts, { user: withId(user), account: record }))
          : transaction(async (tx) => {
              const stored = await create(tx, users, user)
              await insertOwned(database, tx, accounts, users, { ...record, userId: stored.id })
              return stored
            })
      return unlessTaken(plain, careful)
    },
    async getUser(id) {
      const users = await table('users')
      return (await repeat(() => findRows<AdapterUser>(database, db, users, { id })))[0] ?? null
    },
    async getUsers(ids) {
      const users = await table('users')
      const known = ids.filter((id) => canExist(users, { id }))
      return repeat(() => findMany<AdapterUser>(database, db, users, 'id', known))
    },
    async listUsers(query) {
      const users = await table('users')
      return repeat(() => listUsers(database, db, users, query))
    },
    async getUserByEmail(email) {
      const users = await table('users')
      return repeat(() => findByEmail(database, db, users, email))
    },
    async getUserByAccount({ provider, providerAccountId }) {
      const [users, accounts] = [await table('users'), await table('accounts')]
      const match = { provider, providerAccountId }
      if (!canExist(accounts, match)) return null
      const { rows } = await repeat(() =>
        database.run(
          db,
          accounts,
          'user by account',
          () => sql`select ${selectColumns(users, 'u')} from ${tableRef(users)} as u
        join ${tableRef(accounts)} as a on ${columnRef(accounts, 'userId', 'a')} = ${columnRef(users, 'id', 'u')}
        where ${matchFields(database, accounts, ['provider', 'providerAccountId'], 'a')}`,
          match,
        ),
      )
      return rows[0] ? toRecord<AdapterUser>(users, rows[0]) : null
    },
    async updateUser({ id, ...change }) {
      const users = await table('users')
      return transaction(
        async (tx) => {
          if (change.email) await assertEmailFree(database, tx, users, change.email, id)
          await updateRows(database, tx, users, { id }, change)
          // Looked for: some drivers do not count a row that stayed as it was.
          const [user] = await findRows<AdapterUser>(database, tx, users, { id })
          if (!user) throw new Error('[sql] updateUser: no user has this id')
          return user
        },
        change.email !== undefined && !isUnique(users, 'email'),
      )
    },
    async deleteUser(id) {
      const users = await table('users')
      const belongings = await Promise.all((['accounts', 'sessions', 'authenticators'] as const).map(database.maybe))
      const tokens = await database.maybe('tokens')
      const erase = await eraser()
      return transaction(async (tx) => {
        // Locked first: a request that stores something for this user waits, and then finds no user.
        const [user] = await findRows<AdapterUser>(database, tx, users, { id }, true)
        if (!user) return null
        for (const each of belongings) if (each) await removeRows(database, tx, each, { userId: id })
        // A link that is still in the mail must not bring the user back.
        if (tokens && user.email) await removeRows(database, tx, tokens, { identifier: user.email })
        await erase(tx, id)
        await removeRows(database, tx, users, { id })
        return user
      })
    },
  }
}

function withId(user: AdapterUser): AdapterUser {
  return { ...user, id: user.id ?? crypto.randomUUID() }
}

/** Whether `insertBoth` works: PostgreSQL inserts into two tables at once, and an id needs no other type on its way into the second. */
function canInsertBoth({ dialect }: Database, users: Table, accounts: Table): boolean {
  return dialect === 'postgres' && columnOf(users, 'id').type === columnOf(accounts, 'userId').type
}

/** Inserts a user and the account that belongs to it, and returns the user as stored: all or nothing. */
async function insertBoth(
  database: Database,
  db: Runner,
  users: Table,
  accounts: Table,
  { user, account }: { user: AdapterUser; account: NewAdapterAccount },
): Promise<AdapterUser> {
  const [person, linked] = [valuesOf(users, user), valuesOf(accounts, account)]
  const fields = linked.fields.filter((field) => field !== 'userId')
  const build = (): Sql => {
    const first = insertInto(database, users, person.fields)
    const columns = sql.join(['userId', ...fields].map((field) => columnRef(accounts, field)))
    const { values } = insertInto(database, accounts, fields, undefined, 'account.')
    return sql`with person as (${first.head} values (${first.values}) returning *),
      linked as (insert into ${tableRef(accounts)} (${columns}) select ${columnRef(users, 'id', 'person')}, ${values} from person)
      select ${selectColumns(users, 'person')} from person`
  }
  const values = { ...person.row, ...Object.fromEntries(fields.map((field) => [`account.${field}`, linked.row[field]])) }
  const { rows } = await database.run(db, users, `sign up ${person.fields.join()} ${fields.join()}`, build, values)
  return toRecord<AdapterUser>(users, rows[0])
}

async function listUsers(database: Database, db: Runner, users: Table, { email = '', after, limit }: UserQuery): Promise<AdapterUser[]> {
  if (after !== undefined && !canExist(users, { id: after })) return []
  const id = columnRef(users, 'id')
  const build = () => {
    // With the table's name: without it the order would be that of what is read.
    const conditions = [
      ...(after === undefined ? [] : [sql`${id} > ${new Slot('after')}`]),
      ...(email === '' ? [] : [sql`${columnRef(users, 'email')} like ${new Slot('email')} escape '!'`]),
    ]
    const where = conditions.length > 0 ? sql`where ${sql.join(conditions, sql` and `)}` : sql``
    return sql`select ${selectColumns(users)} from ${tableRef(users)} ${where} order by ${columnRef(users, 'id', users.name)} limit ${new Slot('limit')}`
  }
  const begin = `${email.replaceAll(/[!%_]/g, '!$&')}%`
  const { rows } = await database.run(db, users, `list users ${after === undefined} ${email === ''}`, build, {
    after,
    email: begin,
    limit,
  })
  return rows.map((row) => toRecord<AdapterUser>(users, row))
}

/** Collations may find `zoë@…` for `zoe@…`: only letter case may differ, as in rows that were written before addresses were lowered. */
async function findByEmail(database: Database, db: Runner, users: Table, email: string): Promise<AdapterUser | null> {
  if (!canExist(users, { email })) return null
  const { rows } = await database.run(
    db,
    users,
    'user by email',
    () => sql`select ${selectColumns(users)} from ${tableRef(users)} where ${columnRef(users, 'email')} = ${new Slot('email')}`,
    { email },
  )
  const found = rows.map((row) => toRecord<AdapterUser>(users, row))
  return found.find((user) => user.email === email) ?? found.find((user) => user.email.toLowerCase() === email.toLowerCase()) ?? null
}

/** Inserts; where a unique index rejects that, `careful` says what is taken, or makes room. */
export async function unlessTaken<T>(plain: () => Promise<T>, careful: () => Promise<T>): Promise<T> {
  try {
    return await plain()
  } catch (error) {
    if (!isConflict(error)) throw error
    return careful()
  }
}

/** Throws when another user has the address: unique indexes say so too, where there are any. */
export async function assertEmailFree(
  database: Database,
  db: Runner,
  users: Table,
  email: string | null | undefined,
  id?: string,
): Promise<void> {
  const owner = email ? await findByEmail(database, db, users, email) : null
  if (owner && owner.id !== id) throw new Error('[sql] this email is already taken')
}

/**
 * Throws when the account has an owner: unique indexes say so too, where there are any. One whose user is gone, as others leave them where no
 * foreign key says otherwise, makes room: its user could never sign in again.
 */
export async function assertAccountFree(
  database: Database,
  db: Runner,
  accounts: Table,
  users: Table,
  { provider, providerAccountId }: NewAdapterAccount,
): Promise<void> {
  for (const { userId } of await findRows<AdapterAccount>(database, db, accounts, { provider, providerAccountId })) {
    if ((await findRows(database, db, users, { id: userId })).length > 0) throw new Error('[sql] this account is already taken')
    await removeRows(database, db, accounts, { provider, providerAccountId, userId })
  }
}
