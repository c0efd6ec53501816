/** unstorageAdapter on what `@auth/unstorage-adapter` wrote. */
import { unstorageAdapter } from 'authkernel/plugins/unstorage'
import { afterAll, describe, expect, it } from 'vitest'
import { inHours, newAccount, newAuthenticator, newSession, newToken, newUser } from '../../src/testing/adapter-subject.ts'
import { installed, published } from './_published.ts'
import { reachable } from './_servers.ts'
import { dropStore, newStore, storageOf } from './_stores.ts'

const kinds = ['fs', ...((await reachable('redis')) ? (['redis'] as const) : [])] as const
const stores: ReturnType<typeof newStore>[] = []
afterAll(() => Promise.all(stores.map(dropStore)))

describe.skipIf(!installed()).each(kinds)('written by @auth/unstorage-adapter to %s', (kind) => {
  it('people, accounts, sessions, links and authenticators are found, used and deleted', async () => {
    const spec = newStore(kind)
    stores.push(spec)
    const storage = storageOf(spec)
    const { adapter: theirs } = await published.find((each) => each.package === '@auth/unstorage-adapter')!.open(storage)
    const user = await theirs.createUser!(
      newUser({ email: 'Ada.Lovelace@Example.com', emailVerified: new Date('2026-03-29T01:30:00.123Z') }),
    )
    // They keep the name of the latest account and session only: ours finds all.
    const accounts = [newAccount(user.id, { providerAccountId: 'UPPER-1' }), newAccount(user.id, { providerAccountId: 'with/slash' })]
    const sessions = [newSession(user.id), newSession(user.id, { sessionToken: 'Token-With-UPPER' })]
    for (const account of accounts) await theirs.linkAccount!(account)
    for (const session of sessions) await theirs.createSession!(session)
    const [token, authenticator] = [newToken({ identifier: user.email }), newAuthenticator(user.id)]
    await theirs.createVerificationToken!(token)
    await theirs.createAuthenticator!(authenticator)
    await theirs.createAuthenticator!(newAuthenticator(user.id))

    const ours = unstorageAdapter(storage)
    expect(await ours.getUserByEmail(user.email)).toEqual(user)
    for (const account of accounts) expect(await ours.getUserByAccount(account)).toMatchObject({ id: user.id })
    for (const session of sessions) expect((await ours.getSessionAndUser(session.sessionToken))?.session).toMatchObject(session)
    expect(await ours.useVerificationToken(token)).toMatchObject(token)
    expect(await ours.useVerificationToken(token)).toBeNull()
    expect(await ours.listAccountsByUserId(user.id)).toHaveLength(2)
    expect(await ours.listSessionsByUserId(user.id)).toHaveLength(2)
    expect(await ours.listAuthenticatorsByUserId(user.id)).toHaveLength(2)
    expect(await ours.updateAuthenticatorCounter(authenticator.credentialID, 9)).toMatchObject({ counter: 9 })

    // What they hold is taken.
    await expect(ours.createUser(newUser({ email: user.email }))).rejects.toThrow(/email is already taken/)
    await expect(ours.linkAccount(accounts[0]!)).rejects.toThrow(/account is already taken/)
    await ours.updateUser({ id: user.id, email: 'new@example.com' })
    expect(await ours.getUserByEmail(user.email)).toBeNull()
    await ours.deleteSession('Token-With-UPPER')
    expect(await ours.listSessionsByUserId(user.id)).toHaveLength(1)
    await ours.deleteUser(user.id)
    expect((await storage.getKeys()).filter((key) => !key.startsWith('.'))).toEqual([])
    await ours.close()
  })

  it('a sign-in of such a person looks at no other records; a list of all sessions does, and ends them all', async () => {
    const spec = newStore(kind)
    stores.push(spec)
    const storage = storageOf(spec)
    const { adapter: theirs } = await published.find((each) => each.package === '@auth/unstorage-adapter')!.open(storage)
    const user = await theirs.createUser!(newUser())
    for (const account of [newAccount(user.id), newAccount(user.id)]) await theirs.linkAccount!(account)
    const former = [newSession(user.id), newSession(user.id)]
    for (const session of former) await theirs.createSession!(session)

    const ours = unstorageAdapter(storage)
    const looks = countLooks(storage)
    const session = newSession(user.id)
    await ours.createSession(session)
    await ours.updateSession({ sessionToken: session.sessionToken, expires: inHours(9) })
    await ours.linkAccount(newAccount(user.id))
    await ours.deleteSession(former[0]!.sessionToken)
    await ours.deleteSessions([newSession(user.id).sessionToken])
    expect(looks()).toBe(0)
    expect((await ours.listSessionsByUserId(user.id)).map(({ sessionToken }) => sessionToken).sort()).toEqual(
      [former[1]!, session].map(({ sessionToken }) => sessionToken).sort(),
    )
    expect(await ours.listAccountsByUserId(user.id)).toHaveLength(3)
    expect(looks()).toBeGreaterThan(0)
    await ours.deleteSessionsByUserId(user.id)
    expect(await ours.getSessionAndUser(former[1]!.sessionToken)).toBeNull()
    expect(await ours.getSessionAndUser(session.sessionToken)).toBeNull()
    await ours.deleteUser(user.id)
    expect((await storage.getKeys()).filter((key) => !key.startsWith('.'))).toEqual([])
    await ours.close()
  })
})

/** How often all keys of a folder were asked for. */
function countLooks(storage: ReturnType<typeof storageOf>): () => number {
  let looks = 0
  const count = (target: object, name: string): void => {
    const before = (target as Record<string, (...args: unknown[]) => unknown>)[name]!
    const counted = (...args: unknown[]): unknown => {
      looks++
      return before.apply(target, args)
    }
    Object.assign(target, { [name]: counted })
  }
  count(storage, 'getKeys')
  if (kindOf(storage) === 'redis') count(storage.getMount('').driver.getInstance!() as object, 'scan')
  return () => looks
}

function kindOf(storage: ReturnType<typeof storageOf>): string | undefined {
  return storage.getMount('').driver.name
}
