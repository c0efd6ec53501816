/** Users of the SQL adapter. */
import type { Adapter, AdapterAccount, AdapterUser, NewAdapterAccount, UserQuery } from 'authkernel/kernel'
import { sql } from 'kysely'
import type { Database, Runner } from './database.ts'
import { isConflict } from './dialect.ts'
import { isUnique } from './introspect.ts'
import { selection, toRecord } from './records.ts'
import { nameOf, ref } from './refs.ts'
import { find, findMany, insert, insertOwned, matching, possible, remove, update } from './rows.ts'
import { canInsertBoth, insertBoth } from './sign-up.ts'
import { Slot } from './statements.ts'
import type { Table } from './types.ts'

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

/** `eraser` makes what deletes the records of a person, in the transaction that deletes the person. */
export function users(database: Database, eraser: () => Promise<(runner: Runner, userId: string) => Promise<void>>): Users {
  const { db, repeat, retry, table, transaction } = database

  async function create(runner: Runner, people: Table, given: AdapterUser): Promise<AdapterUser> {
    const user = withId(given)
    return insert<AdapterUser>(database, runner, people, user, possible(people, { id: user.id }) ? { id: user.id } : { email: user.email })
  }
  async function createFree(runner: Runner, people: Table, user: AdapterUser): Promise<AdapterUser> {
    await needFreeEmail(database, runner, people, user.email)
    return create(runner, people, user)
  }
  return {
    async createUser(user) {
      const people = await table('users')
      if (!isUnique(people, 'email')) return transaction((tx) => createFree(tx, people, user), true)
      return unlessTaken(
        () => retry(() => create(db, people, user)),
        () => retry(() => createFree(db, people, user)),
      )
    },
    async createUserWithAccount(user, record) {
      const [people, accounts] = [await table('users'), await table('accounts')]
      const guarded = isUnique(people, 'email') && isUnique(accounts, 'provider', 'providerAccountId')
      const careful = (): Promise<AdapterUser> =>
        transaction(async (tx) => {
          await needFreeAccount(database, tx, accounts, people, record)
          const created = await createFree(tx, people, user)
          await insertOwned(database, tx, accounts, people, { ...record, userId: created.id })
          return created
        }, !guarded)
      if (!guarded) return careful()
      const plain = (): Promise<AdapterUser> =>
        canInsertBoth(database, people, accounts)
          ? retry(() => insertBoth(database, db, people, accounts, { user: withId(user), account: record }))
          : transaction(async (tx) => {
              const created = await create(tx, people, user)
              await insertOwned(database, tx, accounts, people, { ...record, userId: created.id })
              return created
            })
      return unlessTaken(plain, careful)
    },
    async getUser(id) {
      const people = await table('users')
      return (await repeat(() => find<AdapterUser>(database, db, people, { id })))[0] ?? null
    },
    async getUsers(ids) {
      const people = await table('users')
      const known = ids.filter((id) => possible(people, { id }))
      return repeat(() => findMany<AdapterUser>(database, db, people, 'id', known))
    },
    async listUsers(query) {
      const people = await table('users')
      return repeat(() => listUsers(database, db, people, query))
    },
    async getUserByEmail(email) {
      const people = await table('users')
      return repeat(() => findByEmail(database, db, people, email))
    },
    async getUserByAccount({ provider, providerAccountId }) {
      const [people, accounts] = [await table('users'), await table('accounts')]
      const match = { provider, providerAccountId }
      if (!possible(accounts, match)) return null
      const { rows } = await repeat(() =>
        database.run(
          db,
          accounts,
          'user by account',
          () => sql`select ${selection(people, 'u')} from ${nameOf(people)} as u
        join ${nameOf(accounts)} as a on ${ref(accounts, 'userId', 'a')} = ${ref(people, 'id', 'u')}
        where ${matching(database, accounts, ['provider', 'providerAccountId'], 'a')}`,
          match,
        ),
      )
      return rows[0] ? toRecord<AdapterUser>(people, rows[0]) : null
    },
    async updateUser({ id, ...change }) {
      const people = await table('users')
      return transaction(
        async (tx) => {
          if (change.email) await needFreeEmail(database, tx, people, change.email, id)
          await update(database, tx, people, { id }, change)
          // Looked for: some drivers do not count a row that stayed as it was.
          const [user] = await find<AdapterUser>(database, tx, people, { id })
          if (!user) throw new Error('[sql] updateUser: no user has this id')
          return user
        },
        change.email !== undefined && !isUnique(people, 'email'),
      )
    },
    async deleteUser(id) {
      const people = await table('users')
      const belongings = await Promise.all((['accounts', 'sessions', 'authenticators'] as const).map(database.maybe))
      const tokens = await database.maybe('tokens')
      const erase = await eraser()
      return transaction(async (tx) => {
        // Locked first: whoever stores something for this person waits, and then finds nobody.
        const [user] = await find<AdapterUser>(database, tx, people, { id }, true)
        if (!user) return null
        for (const each of belongings) if (each) await remove(database, tx, each, { userId: id })
        // A link that is still in the mail must not bring the person back.
        if (tokens && user.email) await remove(database, tx, tokens, { identifier: user.email })
        await erase(tx, id)
        await remove(database, tx, people, { id })
        return user
      })
    },
  }
}

function withId(user: AdapterUser): AdapterUser {
  return { ...user, id: user.id ?? crypto.randomUUID() }
}

async function listUsers(database: Database, db: Runner, people: Table, { email = '', after, limit }: UserQuery): Promise<AdapterUser[]> {
  if (after !== undefined && !possible(people, { id: after })) return []
  const id = ref(people, 'id')
  const build = () => {
    // With the table's name: without it the order would be that of what is read.
    const conditions = [
      ...(after === undefined ? [] : [sql`${id} > ${new Slot('after')}`]),
      ...(email === '' ? [] : [sql`${ref(people, 'email')} like ${new Slot('email')} escape '!'`]),
    ]
    const where = conditions.length > 0 ? sql`where ${sql.join(conditions, sql` and `)}` : sql``
    return sql`select ${selection(people)} from ${nameOf(people)} ${where} order by ${ref(people, 'id', people.name)} limit ${new Slot('limit')}`
  }
  const begin = `${email.replaceAll(/[!%_]/g, '!$&')}%`
  const { rows } = await database.run(db, people, `list users ${after === undefined} ${email === ''}`, build, {
    after,
    email: begin,
    limit,
  })
  return rows.map((row) => toRecord<AdapterUser>(people, row))
}

/** Inserts; where a unique index refuses that, `careful` says what is taken, or makes room. */
export async function unlessTaken<T>(plain: () => Promise<T>, careful: () => Promise<T>): Promise<T> {
  try {
    return await plain()
  } catch (error) {
    if (!isConflict(error)) throw error
    return careful()
  }
}

/** Collations may find `zoë@…` for `zoe@…`: only letter case may differ, as in rows that were written before addresses were lowered. */
async function findByEmail(database: Database, db: Runner, people: Table, email: string): Promise<AdapterUser | null> {
  if (!possible(people, { email })) return null
  const { rows } = await database.run(
    db,
    people,
    'user by email',
    () => sql`select ${selection(people)} from ${nameOf(people)} where ${ref(people, 'email')} = ${new Slot('email')}`,
    { email },
  )
  const found = rows.map((row) => toRecord<AdapterUser>(people, row))
  return found.find((user) => user.email === email) ?? found.find((user) => user.email.toLowerCase() === email.toLowerCase()) ?? null
}

async function needFreeEmail(database: Database, db: Runner, people: Table, email: string | null | undefined, id?: string): Promise<void> {
  const owner = email ? await findByEmail(database, db, people, email) : null
  if (owner && owner.id !== id) throw new Error('[sql] this email is already taken')
}

/**
 * Throws when the account has an owner: unique indexes say so too, where there are any. One whose user is gone, as others leave them where no
 * foreign key says otherwise, is nobody's and makes room: the person could never sign in again.
 */
export async function needFreeAccount(
  database: Database,
  db: Runner,
  accounts: Table,
  people: Table,
  { provider, providerAccountId }: NewAdapterAccount,
): Promise<void> {
  for (const { userId } of await find<AdapterAccount>(database, db, accounts, { provider, providerAccountId })) {
    if ((await find(database, db, people, { id: userId })).length > 0) throw new Error('[sql] this account is already taken')
    await remove(database, db, accounts, { provider, providerAccountId, userId })
  }
}
