/** Accounts and authenticators of the SQL adapter. */
import type { AccountKey, AccountOwner, Adapter, AdapterAccount, AdapterAuthenticator } from 'authkernel/kernel'
import { sql } from 'kysely'
import type { Database, Runner } from './database.ts'
import { isUnique } from './introspect.ts'
import { findRows, insertOwned, listBatches, listPlaces, listSlots, takeRow, updateRows } from './rows.ts'
import { columnRef, lookUpEach, Slot, tableRef } from './statements.ts'
import type { Sql, Table } from './types.ts'
import { assertAccountFree, unlessTaken } from './users.ts'

type Accounts = Pick<
  Required<Adapter>,
  'linkAccount' | 'unlinkAccount' | 'getAccount' | 'updateAccount' | 'listAccountsByUserId' | 'listAccountOwners'
>
type Authenticators = Pick<
  Required<Adapter>,
  'createAuthenticator' | 'getAuthenticator' | 'listAuthenticatorsByUserId' | 'updateAuthenticatorCounter' | 'deleteAuthenticator'
>

export function accountMethods(database: Database): Accounts {
  const { db, repeat, retry, table, transaction } = database
  return {
    async linkAccount(account) {
      const [rows, users] = [await table('accounts'), await table('users')]
      const careful = async (runner: Runner): Promise<void> => {
        await assertAccountFree(database, runner, rows, users, account)
        await insertOwned(database, runner, rows, users, account)
      }
      if (!isUnique(rows, 'provider', 'providerAccountId')) await transaction(careful, true)
      else
        await unlessTaken(
          () => retry(() => insertOwned(database, db, rows, users, account)),
          () => retry(() => careful(db)),
        )
      return account
    },
    async unlinkAccount({ provider, providerAccountId }) {
      const rows = await table('accounts')
      return retry(() => takeRow<AdapterAccount>(database, db, rows, { provider, providerAccountId }))
    },
    async getAccount(providerAccountId, provider) {
      const rows = await table('accounts')
      return (await repeat(() => findRows<AdapterAccount>(database, db, rows, { provider, providerAccountId })))[0] ?? null
    },
    async updateAccount({ provider, providerAccountId, ...change }) {
      const rows = await table('accounts')
      const match = { provider, providerAccountId }
      // The owner is not a token field: an account never moves to another user.
      const { userId: _owner, id: _id, ...tokens } = change as Record<string, unknown>
      return retry(async () => {
        await updateRows(database, db, rows, match, tokens)
        return (await findRows<AdapterAccount>(database, db, rows, match))[0] ?? null
      })
    },
    async listAccountsByUserId(userId) {
      const rows = await table('accounts')
      return repeat(() => findRows<AdapterAccount>(database, db, rows, { userId }))
    },
    async listAccountOwners(keys) {
      const rows = await table('accounts')
      return repeat(() => findOwners(database, rows, keys))
    },
  }
}

const ownerFields = ['provider', 'providerAccountId', 'userId'] as const

/** A provider at a time: no database looks for pairs as fast as for the values of one column. */
async function findOwners(database: Database, accounts: Table, keys: readonly AccountKey[]): Promise<AccountOwner[]> {
  const columns = sql.join(ownerFields.map((field) => sql`${columnRef(accounts, field)} as ${sql.id(field)}`))
  const build = (): Sql => {
    const here = sql`select ${columns} from ${tableRef(accounts)} where ${columnRef(accounts, 'provider')} = ${new Slot('provider')}`
    const id = columnRef(accounts, 'providerAccountId')
    return database.dialect === 'postgres'
      ? lookUpEach(sql`${here} and ${id}`, listPlaces('id'))
      : sql`${here} and ${id} in (${listSlots('id')})`
  }
  const found: AccountOwner[] = []
  for (const provider of new Set(keys.map((key) => key.provider))) {
    const ids = keys.filter((key) => key.provider === provider).map(({ providerAccountId }) => providerAccountId)
    const wanted = new Set(ids)
    for (const values of listBatches('id', ids)) {
      const { rows } = await database.run<AccountOwner>(database.db, accounts, 'many owners', build, { ...values, provider })
      // A collation may take others for them.
      const exact = rows.filter((row) => row.provider === provider && wanted.has(row.providerAccountId))
      found.push(...exact.map((row) => ({ ...row, userId: String(row.userId) })))
    }
  }
  return found
}

export function authenticatorMethods(database: Database): Authenticators {
  const { db, repeat, retry, table, transaction } = database
  const get = async (runner: Runner, rows: Table, credentialID: string): Promise<AdapterAuthenticator | null> =>
    (await findRows<AdapterAuthenticator>(database, runner, rows, { credentialID }))[0] ?? null
  return {
    async createAuthenticator(authenticator) {
      const [rows, users] = [await table('authenticators'), await table('users')]
      const store = async (runner: Runner): Promise<void> => {
        if (await get(runner, rows, authenticator.credentialID)) throw new Error('[sql] this credential is already taken')
        await insertOwned(database, runner, rows, users, authenticator)
      }
      await (isUnique(rows, 'credentialID') ? retry(() => store(db)) : transaction(store, true))
      return authenticator
    },
    async getAuthenticator(credentialID) {
      const rows = await table('authenticators')
      return repeat(() => get(db, rows, credentialID))
    },
    async listAuthenticatorsByUserId(userId) {
      const rows = await table('authenticators')
      return repeat(() => findRows<AdapterAuthenticator>(database, db, rows, { userId }))
    },
    async updateAuthenticatorCounter(credentialID, newCounter) {
      const rows = await table('authenticators')
      const counter = columnRef(rows, 'counter')
      // WebAuthn 7.2 step 22: a counter that does not grow means a cloned authenticator; 0 after 0 is a synced passkey.
      const grows =
        newCounter === 0
          ? { key: 'zero', sql: () => sql`and ${counter} = 0` }
          : { key: 'grows', sql: () => sql`and ${counter} < ${new Slot('below')}`, values: { below: newCounter } }
      return retry(async () => {
        const changed = await updateRows(database, db, rows, { credentialID }, { counter: newCounter }, grows)
        const authenticator = await get(db, rows, credentialID)
        if (!authenticator) throw new Error('[sql] updateAuthenticatorCounter: no authenticator has this credential id')
        // Some drivers do not count a row that stayed as it was: 0 after 0.
        if (changed === 0 && (newCounter !== 0 || authenticator.counter !== 0)) {
          throw new Error(`[sql] updateAuthenticatorCounter: ${newCounter} does not exceed the stored ${authenticator.counter}`)
        }
        return { ...authenticator, counter: newCounter }
      })
    },
    async deleteAuthenticator(credentialID) {
      const rows = await table('authenticators')
      return retry(() => takeRow<AdapterAuthenticator>(database, db, rows, { credentialID }))
    },
  }
}
