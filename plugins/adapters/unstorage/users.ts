/** Users of the unstorage adapter. */
import type { AccountKey, Adapter, AdapterAccount, AdapterUser } from 'authkernel/kernel'
import { searchAmong } from 'authkernel/kernel/stores'
import type { Model } from './model.ts'
import type { Transaction } from './types.ts'
import { copyForStore, loadValue, takenError } from './values.ts'

type Users = Pick<
  Required<Adapter>,
  | 'createUser'
  | 'getUser'
  | 'getUsers'
  | 'listUsers'
  | 'searchUsers'
  | 'getUserByEmail'
  | 'getUserByAccount'
  | 'updateUser'
  | 'deleteUser'
  | 'createUserWithAccount'
  | 'createUsers'
>

/** `erase` deletes what plugins keep for a user, in the transaction that deletes the user. */
export function userMethods(model: Model, erase: (tx: Transaction, userId: string) => Promise<void>): Users {
  const { engine, keys } = model
  async function claimEmail(tx: Transaction, user: AdapterUser): Promise<void> {
    if (!user.email) return
    const owner = await model.userByEmail(tx, user.email)
    if (owner && owner.id !== user.id) throw takenError('email')
    tx.put(await keys.email(user.email), user.id)
  }
  async function create(tx: Transaction, given: AdapterUser): Promise<AdapterUser> {
    const user = copyForStore({ ...given, id: given.id ?? crypto.randomUUID() })
    if (await loadValue(tx, 'user', await keys.user(user.id), user.id)) throw takenError('user id')
    tx.put(await keys.user(user.id), user)
    await claimEmail(tx, user)
    return copyForStore(user)
  }
  return {
    createUser: (user) => engine.transact((tx) => create(tx, user)),
    createUserWithAccount: (given, record) =>
      engine.transact(async (tx) => {
        const user = await create(tx, given)
        await linkAccount(model, tx, { ...record, userId: user.id })
        return user
      }),
    createUsers: (entries) =>
      engine.transact(async (tx) => {
        const users: AdapterUser[] = []
        for (const { user: given, accounts } of entries) {
          const user = await create(tx, given)
          for (const account of accounts) await linkAccount(model, tx, { ...account, userId: user.id })
          users.push(user)
        }
        return users
      }),
    getUser: async (id) => loadValue(engine, 'user', await keys.user(id), id),
    async getUsers(ids) {
      const found = await Promise.all(
        ids.map(async (id): Promise<AdapterUser | null> => loadValue(engine, 'user', await keys.user(id), id)),
      )
      return found.filter((user) => user !== null)
    },
    async listUsers({ email = '', after = '', limit }) {
      const found = await readUsers(model, (row) => String(row.id) > after && (row.email ?? '').startsWith(email))
      return found.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, limit)
    },
    async searchUsers(query) {
      const users = await readUsers(model, () => true)
      if (query.provider === undefined && query.text === undefined) return searchAmong(users, query, () => [])
      const accounts: { userId: string; provider: string; providerAccountId: string }[] = []
      for (const { id } of users)
        for (const { key } of await model.entries(engine, 'account', id))
          accounts.push({ userId: id, provider: key[0]!, providerAccountId: key[1]! })
      return searchAmong(users, query, () => accounts)
    },
    getUserByEmail: (email) => model.userByEmail(engine, email),
    async getUserByAccount({ provider, providerAccountId }) {
      const account = await loadValue(engine, 'account', await keys.account(provider, providerAccountId), provider, providerAccountId)
      return account && loadValue(engine, 'user', await keys.user(account.userId), account.userId)
    },
    updateUser: (change) =>
      engine.transact(async (tx) => {
        const before = await model.needUser(tx, change.id, 'updateUser')
        const user: AdapterUser = { ...before, ...copyForStore(change) }
        if (user.email !== before.email) {
          await claimEmail(tx, user)
          if (before.email) tx.remove(await keys.email(before.email))
        }
        tx.put(await keys.user(user.id), user)
        return copyForStore(user)
      }),
    deleteUser: (id) =>
      engine.transact(async (tx) => {
        const user = await loadValue(tx, 'user', await keys.user(id), id)
        if (!user) return null
        await removeBelongings(model, tx, id)
        await erase(tx, id)
        if (user.email) {
          if ((await model.userByEmail(tx, user.email))?.id === id) tx.remove(await keys.email(user.email))
          // A link that is still in the mail must not bring the user back.
          const tokens = await keys.tokensOf(user.email)
          for (const { key } of await model.list(tx, tokens)) tx.remove(await keys.token(user.email, key[0]!))
          tx.remove(tokens)
        }
        tx.remove(await keys.user(id))
        return user
      }),
  }
}

/** Users that fit, in no order: the store has no index, so all are read. */
async function readUsers({ engine, keys }: Model, fits: (row: Partial<AdapterUser>) => boolean): Promise<AdapterUser[]> {
  const found: AdapterUser[] = []
  const folder = keys.folder('user')
  for await (const page of engine.scan(folder)) {
    const paths = page.filter((path) => !path.slice(folder.length).includes(':'))
    const rows = await Promise.all(paths.map((path) => engine.get({ path })))
    for (const row of rows as Partial<AdapterUser>[]) {
      const { id } = row ?? {}
      if (typeof id !== 'string' || !fits(row)) continue
      const user: AdapterUser | null = await loadValue(engine, 'user', await keys.user(id), id)
      if (user) found.push(user)
    }
  }
  return found
}

async function removeBelongings({ entries, keys, list }: Model, tx: Transaction, userId: string): Promise<void> {
  for (const { key } of await entries(tx, 'account', userId)) tx.remove(await keys.account(key[0]!, key[1]!))
  for (const { key } of await entries(tx, 'session', userId)) tx.remove(await keys.session(key[0]!))
  for (const { key } of await list(tx, await keys.authenticatorsOf(userId))) tx.remove(await keys.authenticator(key[0]!))
  for (const index of [keys.accountsOf, keys.sessionsOf, keys.authenticatorsOf]) tx.remove(await index(userId))
}

/** Stores an account; its user must be known in the transaction. */
export async function linkAccount({ knownEntries, keys, add }: Model, tx: Transaction, given: AdapterAccount): Promise<AdapterAccount> {
  const account = copyForStore(given)
  const { provider, providerAccountId, userId }: AccountKey & { userId: string } = account
  const key = await keys.account(provider, providerAccountId)
  const before = await loadValue(tx, 'account', key, provider, providerAccountId)
  // One whose user is gone, by an eviction or as others delete them, makes room: its user could never sign in again.
  if (before && (await loadValue(tx, 'user', await keys.user(before.userId), before.userId))) throw takenError('account')
  tx.put(key, account)
  add(tx, await keys.accountsOf(userId), await knownEntries(tx, 'account', userId), { key: [provider, providerAccountId] })
  return copyForStore(account)
}
