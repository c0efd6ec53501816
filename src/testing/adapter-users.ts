/** Contract: users. */
import type { UserSearchQuery } from 'authkernel/kernel'
import { expect } from './runner.ts'
import {
  accountKey,
  newAccount,
  newAuthenticator,
  newSession,
  newToken,
  newUser,
  type Subject,
  tokenKey,
  unique,
} from './adapter-subject.ts'

export function userRules({ rule, storeUser }: Subject): void {
  rule('row 163: createUser stores the user and returns it; the returned id counts (D28)', ['createUser', 'getUser'], async (adapter) => {
    const given = newUser({ image: 'https://cdn.example/ada.png' })
    const user = await adapter.createUser(given)
    expect(typeof user.id).toBe('string')
    expect(user).toMatchObject({ name: given.name, email: given.email, image: given.image, emailVerified: null })
    expect(await adapter.getUser(user.id)).toMatchObject({
      id: user.id,
      name: given.name,
      email: given.email,
      image: given.image,
      emailVerified: null,
    })
    expect(await adapter.getUserByEmail(given.email)).toMatchObject({ id: user.id })
  })

  rule('getUsers answers those that are there', ['getUsers', 'createUser'], async (adapter) => {
    const users = [await storeUser(adapter), await storeUser(adapter), await storeUser(adapter)]
    const ids = [users[0]!.id, crypto.randomUUID(), users[2]!.id]
    expect((await adapter.getUsers(ids)).map(({ id }) => id).sort()).toEqual([users[0]!.id, users[2]!.id].sort())
    expect(await adapter.getUsers([])).toEqual([])
    const many = await adapter.getUsers([...users.map(({ id }) => id), ...[...Array(150).keys()].map(() => crypto.randomUUID())])
    expect(many).toHaveLength(3)
  })

  rule('getUsers finds no user for an id of another shape', ['getUsers', 'createUser'], async (adapter) => {
    const { id } = await storeUser(adapter)
    expect((await adapter.getUsers(['a\'"; --', id])).map((user) => user.id)).toEqual([id])
  })

  rule('listUsers pages by the id, and by the beginning of the address', ['listUsers', 'createUser'], async (adapter) => {
    const begin = unique('page%_!')
    const ids: string[] = []
    for (let at = 0; at < 5; at++) ids.push((await storeUser(adapter, { email: `${begin}.${at}@example.com` })).id)
    const other = await storeUser(adapter)
    const found: string[] = []
    for (let after: string | undefined; found.length <= 5;) {
      const page = await adapter.listUsers({ email: `${begin}.`, after, limit: 2 })
      found.push(...page.map(({ id }) => id))
      after = page.at(-1)?.id
      if (page.length < 2) break
    }
    expect(found).toHaveLength(5)
    expect([...found].sort()).toEqual(ids.sort())
    const all = await adapter.listUsers({ limit: 100_000 })
    expect(all.filter(({ id }) => id === other.id)).toHaveLength(1)
    expect(all.map(({ id }) => id).filter((id) => ids.includes(id))).toEqual(found)
    expect(await adapter.listUsers({ email: unique('unknown'), limit: 5 })).toEqual([])
  })

  rule('searchUsers finds parts in any case, filters, sorts, pages and counts', ['searchUsers', 'createUser'], async (adapter) => {
    const begin = unique('search%_!')
    const ids: string[] = []
    for (let at = 0; at < 5; at++) {
      const emailVerified = at === 0 ? new Date(1_000_000) : null
      ids.push((await storeUser(adapter, { email: `${begin}.${at}@example.com`, name: `${begin} Name${9 - at}`, emailVerified })).id)
    }
    const search = async (query: Partial<UserSearchQuery>): Promise<[string[], number]> => {
      const { users, total } = await adapter.searchUsers({ text: begin, limit: 10, ...query })
      return [users.map(({ id }) => id), total]
    }
    const byEmail = await search({ text: `${begin.slice(1)}.`.toUpperCase(), sort: 'email' })
    expect(byEmail).toEqual([ids, 5])
    expect(await search({ sort: 'email', order: 'desc', offset: 1, limit: 2 })).toEqual([[ids[3], ids[2]], 5])
    expect(await search({ sort: 'email', offset: 7, limit: 2 })).toEqual([[], 5])
    expect(await search({ text: `${begin} name`, sort: 'name' })).toEqual([ids.toReversed(), 5])
    // A short id may be a part of the addresses, too.
    expect((await search({ text: ids[3]!, among: ids }))[0]).toContain(ids[3])
    expect(await search({ verified: true })).toEqual([[ids[0]], 1])
    expect((await search({ verified: false }))[1]).toBe(4)
    expect(await search({ among: [ids[1]!, ids[2]!], sort: 'email' })).toEqual([[ids[1], ids[2]], 2])
    expect(await search({ among: [] })).toEqual([[], 0])
    expect(await search({ except: ids.slice(1) })).toEqual([[ids[0]], 1])
    expect(await search({ text: unique('unknown') })).toEqual([[], 0])
  })

  rule('searchUsers finds users by their accounts', ['searchUsers', 'createUser', 'linkAccount'], async (adapter) => {
    const { id } = await storeUser(adapter)
    const account = newAccount(id, { provider: unique('acme'), providerAccountId: unique('subject') })
    await adapter.linkAccount(account)
    for (const query of [{ provider: account.provider }, { text: account.providerAccountId.slice(1) }])
      expect(await adapter.searchUsers({ ...query, limit: 5 })).toMatchObject({ users: [{ id }], total: 1 })
  })

  rule('reads return null when nothing is there', ['getUser', 'getUserByEmail', 'getUserByAccount'], async (adapter) => {
    expect(await adapter.getUser(crypto.randomUUID())).toBeNull()
    expect(await adapter.getUserByEmail(`${unique()}@example.com`)).toBeNull()
    expect(await adapter.getUserByAccount({ provider: 'acme', providerAccountId: unique() })).toBeNull()
  })

  rule('row 174: emailVerified is a Date to the millisecond, or null', ['createUser', 'updateUser'], async (adapter) => {
    for (const emailVerified of dates) {
      const user = await storeUser(adapter, { emailVerified })
      expect(user.emailVerified).toEqual(emailVerified)
      expect((await adapter.getUser(user.id))?.emailVerified).toEqual(emailVerified)
    }
    const user = await storeUser(adapter)
    expect((await adapter.updateUser({ id: user.id, emailVerified: dates[0]! })).emailVerified).toEqual(dates[0])
    expect((await adapter.getUserByEmail(user.email))?.emailVerified).toEqual(dates[0])
  })

  rule('null stays null, and no user owns an absent name', ['createUser', 'getUser'], async (adapter) => {
    const user = await storeUser(adapter, { name: null, image: null })
    const read = await adapter.getUser(user.id)
    expect(read?.name ?? null).toBeNull()
    expect(read?.image ?? null).toBeNull()
    expect(read?.emailVerified ?? null).toBeNull()
  })

  rule('unicode of every plane comes back as it went in', ['createUser', 'getUserByEmail'], async (adapter) => {
    for (const name of ['Zoë Ångström', 'e\u0301 is not \u00e9', '李小龍', 'مرحبا', '👩‍👩‍👧 𝔄𝔡𝔞', 'a\u00a0b\u200bc']) {
      const user = await storeUser(adapter, { name, email: `${unique('ü-李')}@bücher.example` })
      expect((await adapter.getUserByEmail(user.email))?.name).toBe(name)
    }
  })

  rule('hostile strings are data', ['createUser', 'getUser', 'getUserByEmail', 'updateUser'], async (adapter) => {
    const bystander = await storeUser(adapter)
    for (const text of hostile) {
      const user = await storeUser(adapter, { name: text, email: `${unique(text)}@example.com` })
      expect((await adapter.getUserByEmail(user.email))?.name).toBe(text)
      expect(await adapter.getUserByEmail(text)).toBeNull()
      // Some stores number their users.
      if (!/^\d+$/.test(text)) expect(await adapter.getUser(text)).toBeNull()
    }
    expect(await adapter.getUserByEmail('%')).toBeNull()
    expect((await adapter.getUser(bystander.id))?.email).toBe(bystander.email)
  })

  rule('updateUser changes what it names and nothing else', ['createUser', 'updateUser', 'getUser'], async (adapter) => {
    const other = await storeUser(adapter)
    const user = await storeUser(adapter, { image: 'https://cdn.example/1.png' })
    const email = `${unique('new')}@example.com`
    expect(await adapter.updateUser({ id: user.id, name: 'Countess', email })).toMatchObject({
      id: user.id,
      name: 'Countess',
      email,
      image: user.image,
    })
    expect(await adapter.updateUser({ id: user.id, name: null })).toMatchObject({ id: user.id, email })
    expect(await adapter.getUser(user.id)).toMatchObject({ name: null, email, image: user.image })
    expect(await adapter.getUserByEmail(user.email)).toBeNull()
    expect(await adapter.getUserByEmail(email)).toMatchObject({ id: user.id })
    expect(await adapter.getUser(other.id)).toMatchObject({ name: other.name, email: other.email })
  })

  rule(
    'users without an address, where the adapter says so: many, findable by id alone, and each may get one',
    ['createUser', 'updateUser'],
    async (adapter) => {
      if (!adapter.nullableEmail) return
      // The type of a user has the word of adapters without it.
      const noEmail = null as never
      const [one, two] = [await storeUser(adapter, { email: noEmail }), await storeUser(adapter, { email: noEmail })]
      expect((await adapter.getUser(one.id))?.email ?? null).toBeNull()
      for (const absent of ['', 'null', 'undefined']) expect(await adapter.getUserByEmail(absent)).toBeNull()
      const email = `${unique('late')}@example.com`
      await adapter.updateUser({ id: one.id, email })
      expect(await adapter.getUserByEmail(email)).toMatchObject({ id: one.id })
      await adapter.updateUser({ id: one.id, email: noEmail })
      expect(await adapter.getUserByEmail(email)).toBeNull()
      expect((await adapter.getUser(two.id))?.email ?? null).toBeNull()
    },
  )

  rule('updateUser of an unknown user fails and makes none', ['updateUser', 'getUser'], async (adapter) => {
    const id = crypto.randomUUID()
    const email = `${unique()}@example.com`
    await expect(adapter.updateUser({ id, name: 'Ghost', email })).rejects.toBeInstanceOf(Error)
    expect(await adapter.getUser(id)).toBeNull()
    expect(await adapter.getUserByEmail(email)).toBeNull()
  })

  rule('one address has one user: createUser and updateUser throw on a taken one', ['createUser', 'updateUser'], async (adapter) => {
    const owner = await storeUser(adapter)
    await expect(storeUser(adapter, { email: owner.email })).rejects.toBeInstanceOf(Error)
    const other = await storeUser(adapter)
    await expect(adapter.updateUser({ id: other.id, email: owner.email })).rejects.toBeInstanceOf(Error)
    expect(await adapter.getUserByEmail(owner.email)).toMatchObject({ id: owner.id })
    expect(await adapter.getUser(other.id)).toMatchObject({ email: other.email })
  })

  rule('what is returned is a copy', ['createUser', 'getUser'], async (adapter) => {
    const given = newUser()
    const user = await adapter.createUser(given)
    const email = user.email
    given.name = 'changed'
    user.name = 'changed'
    const read = await adapter.getUser(user.id)
    expect(read).toMatchObject({ name: 'Ada', email })
    read!.name = 'changed'
    expect((await adapter.getUser(user.id))?.name).toBe('Ada')
  })

  rule(
    'deleteUser takes the accounts, sessions and links of the user, and nothing of others',
    ['deleteUser', 'linkAccount', 'createSession'],
    async (adapter) => {
      const [user, other] = [await storeUser(adapter), await storeUser(adapter)]
      const [account, kept] = [newAccount(user.id), newAccount(other.id)]
      const [session, otherSession] = [newSession(user.id), newSession(other.id)]
      for (const row of [account, kept]) await adapter.linkAccount(row)
      for (const row of [session, newSession(user.id), otherSession]) await adapter.createSession(row)
      const link = newToken({ identifier: user.email })
      await adapter.createVerificationToken(link)
      await adapter.deleteUser(user.id)

      expect(await adapter.getUser(user.id)).toBeNull()
      expect(await adapter.getUserByEmail(user.email)).toBeNull()
      expect(await adapter.getUserByAccount(accountKey(account))).toBeNull()
      expect(await adapter.getSessionAndUser(session.sessionToken)).toBeNull()
      expect(await adapter.useVerificationToken(tokenKey(link))).toBeNull()
      expect(await adapter.getUserByAccount(accountKey(kept))).toMatchObject({ id: other.id })
      expect((await adapter.getSessionAndUser(otherSession.sessionToken))?.user.id).toBe(other.id)
      // The address and the account are free again.
      const again = await storeUser(adapter, { email: user.email })
      await adapter.linkAccount({ ...account, userId: again.id })
      expect(await adapter.getUserByAccount(accountKey(account))).toMatchObject({ id: again.id })
    },
  )

  rule('deleteUser takes the authenticators of the user', ['deleteUser', 'createAuthenticator', 'getAuthenticator'], async (adapter) => {
    const user = await storeUser(adapter)
    const authenticator = newAuthenticator(user.id)
    await adapter.linkAccount(
      newAccount(user.id, { provider: 'passkey', type: 'webauthn', providerAccountId: authenticator.providerAccountId }),
    )
    await adapter.createAuthenticator(authenticator)
    await adapter.deleteUser(user.id)
    expect(await adapter.getAuthenticator(authenticator.credentialID)).toBeNull()
    expect(await adapter.listAuthenticatorsByUserId(user.id)).toEqual([])
  })

  rule('deleteUser of an unknown user is harmless', ['deleteUser'], async (adapter) => {
    expect((await adapter.deleteUser(crypto.randomUUID())) ?? null).toBeNull()
  })
}

/** Midnight, an hour that daylight saving time skips in Europe, one that it repeats in America, far away, long ago. */
export const dates: readonly Date[] = [
  '2026-01-01T00:00:00.000Z',
  '2026-03-29T01:30:00.123Z',
  '2026-11-01T05:30:00.999Z',
  '2037-12-31T23:59:59.001Z',
  '1999-06-15T12:00:00.010Z',
].map((text) => new Date(text))

/** Strings that mean something to a database, a shell, a template, a path or a prototype. */
export const hostile: readonly string[] = [
  `'; DROP TABLE users; --`,
  `" OR ""="`,
  '%',
  '_',
  '\\',
  "\\' OR 1=1 #",
  '$1 $$ ${x} {{x}}',
  '?',
  ':name @name',
  '*',
  '../../etc/passwd',
  '__proto__',
  'constructor',
  '{"id":"1"}',
  '[1]',
  'null',
  'true',
  '12',
  '1e5',
  '\r\nX: y',
]
