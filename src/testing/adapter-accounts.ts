/** Contract: accounts. */
import type { NewAdapterAccount } from 'authkernel/kernel'
import { expect } from './runner.ts'
import { accountKey, newAccount, newUser, type Subject, unique } from './adapter-subject.ts'

export function accountRules({ rule, storeUser }: Subject): void {
  rule('row 165: linkAccount stores the token fields, getAccount returns them', ['linkAccount', 'getAccount'], async (adapter) => {
    const user = await storeUser(adapter)
    const account = newAccount(user.id)
    await adapter.linkAccount(account)
    const read = await adapter.getAccount(account.providerAccountId, account.provider)
    expect(read).toMatchObject(account)
  })

  rule('row 164: getUserByAccount finds the owner', ['linkAccount', 'getUserByAccount'], async (adapter) => {
    const [user, other] = [await storeUser(adapter), await storeUser(adapter)]
    const account = newAccount(user.id)
    const second = newAccount(user.id, { provider: 'other' })
    await adapter.linkAccount(account)
    await adapter.linkAccount(second)
    await adapter.linkAccount(newAccount(other.id))
    expect(await adapter.getUserByAccount(accountKey(account))).toMatchObject({ id: user.id, email: user.email })
    expect(await adapter.getUserByAccount(accountKey(second))).toMatchObject({ id: user.id })
    expect(await adapter.getUserByAccount({ provider: 'third', providerAccountId: account.providerAccountId })).toBeNull()
  })

  rule('row 171: getAccount returns null when absent', ['getAccount'], async (adapter) => {
    expect(await adapter.getAccount(unique(), 'acme')).toBeNull()
  })

  rule('an account without tokens is fine', ['linkAccount', 'getAccount'], async (adapter) => {
    const user = await storeUser(adapter)
    const account = { userId: user.id, type: 'email' as const, provider: 'email', providerAccountId: user.email }
    await adapter.linkAccount(account)
    expect(await adapter.getAccount(user.email, 'email')).toMatchObject(account)
  })

  rule('tokens of 16 kB and account ids of 255 characters fit', ['linkAccount', 'getAccount'], async (adapter) => {
    const user = await storeUser(adapter)
    const big = (letter: string): string => letter.repeat(16_384)
    const account = newAccount(user.id, {
      providerAccountId: unique('a').padEnd(255, 'x'),
      access_token: big('a'),
      refresh_token: big('r'),
      id_token: big('i'),
      scope: 'scope '.repeat(400).trim(),
      session_state: 's'.repeat(1_000),
    })
    await adapter.linkAccount(account)
    expect(await adapter.getAccount(account.providerAccountId, account.provider)).toMatchObject(account)
  })

  rule('one account has one owner: linkAccount throws on a taken key', ['linkAccount', 'getUserByAccount'], async (adapter) => {
    const [owner, thief] = [await storeUser(adapter), await storeUser(adapter)]
    const account = newAccount(owner.id)
    await adapter.linkAccount(account)
    await expect(adapter.linkAccount({ ...account, userId: thief.id })).rejects.toBeInstanceOf(Error)
    await expect(adapter.linkAccount(account)).rejects.toBeInstanceOf(Error)
    expect(await adapter.getUserByAccount(accountKey(account))).toMatchObject({ id: owner.id })
  })

  rule('an account belongs to a stored user', ['linkAccount', 'getAccount'], async (adapter) => {
    const account = newAccount(crypto.randomUUID())
    await expect(adapter.linkAccount(account)).rejects.toBeInstanceOf(Error)
    expect(await adapter.getAccount(account.providerAccountId, account.provider)).toBeNull()
  })

  rule('unlinkAccount takes one account and leaves the user and the others', ['unlinkAccount', 'linkAccount'], async (adapter) => {
    const user = await storeUser(adapter)
    const [account, kept] = [newAccount(user.id), newAccount(user.id)]
    await adapter.linkAccount(account)
    await adapter.linkAccount(kept)
    await adapter.unlinkAccount({ provider: account.provider, providerAccountId: account.providerAccountId })
    expect(await adapter.getUserByAccount(accountKey(account))).toBeNull()
    expect(await adapter.getUserByAccount(accountKey(kept))).toMatchObject({ id: user.id })
    expect((await adapter.unlinkAccount(accountKey(account))) ?? null).toBeNull()
    // And it may come back, to another user.
    const other = await storeUser(adapter)
    await adapter.linkAccount({ ...account, userId: other.id })
    expect(await adapter.getUserByAccount(accountKey(account))).toMatchObject({ id: other.id })
  })

  rule('updateAccount replaces tokens and never the owner (D15)', ['updateAccount', 'linkAccount', 'getAccount'], async (adapter) => {
    const [user, other] = [await storeUser(adapter), await storeUser(adapter)]
    const account = newAccount(user.id)
    await adapter.linkAccount(account)
    const { provider, providerAccountId } = account
    await adapter.updateAccount({ provider, providerAccountId, access_token: 'fresh', expires_at: 2_000_000_000 })
    expect(await adapter.getAccount(providerAccountId, provider)).toMatchObject({
      ...account,
      access_token: 'fresh',
      expires_at: 2_000_000_000,
    })
    await adapter.updateAccount({ provider, providerAccountId, userId: other.id, scope: 'openid' })
    expect(await adapter.getUserByAccount(accountKey(account))).toMatchObject({ id: user.id })
    await adapter.updateAccount({ provider, providerAccountId: unique(), access_token: 'ghost' })
    expect(await adapter.getAccount(providerAccountId, provider)).toMatchObject({ access_token: 'fresh', scope: 'openid' })
  })

  rule('updateAccount makes no account', ['updateAccount', 'getAccount'], async (adapter) => {
    const providerAccountId = unique()
    expect((await adapter.updateAccount({ provider: 'acme', providerAccountId, access_token: 'ghost' })) ?? null).toBeNull()
    expect(await adapter.getAccount(providerAccountId, 'acme')).toBeNull()
  })

  rule('listAccountsByUserId lists the accounts of one user', ['listAccountsByUserId', 'linkAccount'], async (adapter) => {
    const [user, other] = [await storeUser(adapter), await storeUser(adapter)]
    expect(await adapter.listAccountsByUserId(user.id)).toEqual([])
    const accounts = [newAccount(user.id), newAccount(user.id, { provider: 'other' })]
    for (const account of [...accounts, newAccount(other.id)]) await adapter.linkAccount(account)
    const listed = await adapter.listAccountsByUserId(user.id)
    expect(listed.map((account) => account.providerAccountId).sort()).toEqual(accounts.map((account) => account.providerAccountId).sort())
    expect(await adapter.listAccountsByUserId(crypto.randomUUID())).toEqual([])
  })

  rule('createUserWithAccount stores both (D32)', ['createUserWithAccount', 'getAccount'], async (adapter) => {
    const { userId: _none, ...account } = newAccount('')
    const user = await adapter.createUserWithAccount(newUser(), account)
    expect(await adapter.getUser(user.id)).toMatchObject({ email: user.email })
    expect(await adapter.getAccount(account.providerAccountId, account.provider)).toMatchObject({ ...account, userId: user.id })
  })

  rule('createUserWithAccount leaves nothing behind when it fails (D32)', ['createUserWithAccount', 'linkAccount'], async (adapter) => {
    const owner = await storeUser(adapter)
    const { userId: _owner, ...taken } = newAccount(owner.id)
    await adapter.linkAccount({ ...taken, userId: owner.id })
    const user = newUser()
    await expect(adapter.createUserWithAccount(user, taken)).rejects.toBeInstanceOf(Error)
    expect(await adapter.getUserByEmail(user.email)).toBeNull()
    expect(await adapter.getUser(user.id)).toBeNull()

    const { userId: _none, ...free } = newAccount('')
    await expect(adapter.createUserWithAccount(newUser({ email: owner.email }), free)).rejects.toBeInstanceOf(Error)
    expect(await adapter.getAccount(free.providerAccountId, free.provider)).toBeNull()
    expect(await adapter.getUserByEmail(owner.email)).toMatchObject({ id: owner.id })
  })

  rule('listAccountOwners answers whose accounts are there', ['listAccountOwners', 'linkAccount'], async (adapter) => {
    const owners = [await storeUser(adapter), await storeUser(adapter)]
    const accounts = owners.map(({ id }) => newAccount(id))
    for (const account of accounts) await adapter.linkAccount(account)
    const keys = accounts.map(accountKey)
    const unknown = [...Array(150).keys()].map((at) => ({ ...keys[0]!, providerAccountId: `unknown ${at}` }))
    // The key of one in capitals is another key.
    const capitals = keys.map((key) => ({ ...key, provider: key.provider.toUpperCase() }))
    const found = await adapter.listAccountOwners([keys[0]!, ...unknown, ...capitals, keys[1]!])
    const ownerOf = (key: object): string | undefined =>
      found.find((account) => JSON.stringify(accountKey(account)) === JSON.stringify(key))?.userId
    expect([found.length, ...keys.map(ownerOf)]).toEqual([2, ...owners.map(({ id }) => id)])
    expect(await adapter.listAccountOwners([])).toEqual([])
  })

  rule('createUsers stores users with their accounts', ['createUsers', 'getAccount', 'getUsers'], async (adapter) => {
    const entries = [...Array(120).keys()].map((at) => ({
      user: newUser({ emailVerified: at % 2 === 0 ? new Date('2026-03-29T01:30:00.123Z') : null }),
      accounts: [...Array(at % 3).keys()].map(() => withoutOwner()),
    }))
    const made = await adapter.createUsers(entries)
    expect(made.map(({ email }) => email)).toEqual(entries.map(({ user }) => user.email))
    expect(await adapter.getUsers(made.map(({ id }) => id))).toHaveLength(120)
    expect(await adapter.getUser(made[2]!.id)).toMatchObject({
      email: entries[2]!.user.email,
      emailVerified: entries[2]!.user.emailVerified,
    })
    for (const { provider, providerAccountId } of entries[2]!.accounts)
      expect(await adapter.getAccount(providerAccountId, provider)).toMatchObject({ userId: made[2]!.id })
    expect(await adapter.createUsers([])).toEqual([])
  })

  rule(
    'createUsers leaves nothing behind when an address, an account or an id is taken',
    ['createUsers', 'linkAccount'],
    async (adapter) => {
      const owner = await storeUser(adapter)
      const account = withoutOwner()
      await adapter.linkAccount({ ...account, userId: owner.id })
      const free = { user: newUser(), accounts: [withoutOwner()] }
      const refused = [
        { user: newUser({ email: owner.email }), accounts: [] },
        { user: newUser(), accounts: [account] },
        { user: free.user, accounts: [] },
      ]
      for (const one of refused) await expect(adapter.createUsers([free, one])).rejects.toBeInstanceOf(Error)
      expect(await adapter.getUserByEmail(free.user.email)).toBeNull()
      expect(await adapter.getAccount(free.accounts[0]!.providerAccountId, free.accounts[0]!.provider)).toBeNull()
      expect(await adapter.getAccount(account.providerAccountId, account.provider)).toMatchObject({ userId: owner.id })
    },
  )
}

function withoutOwner(): NewAdapterAccount {
  const { userId: _none, ...account } = newAccount('')
  return account
}
