/** What is read is what was written, whole records compared: nothing is added but an own `id`, which tables have. Auth.js holds its adapters to the same. */
import type { Adapter } from 'authkernel/kernel'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { describe, expect, it } from 'vitest'
import { newAccount, newAuthenticator, newSession, newToken, newUser } from '../../src/testing/adapter-subject.ts'
import { reachable } from './_servers.ts'
import { dropStore, newDatabase, newStore, openStore, type StoreSpec } from './_stores.ts'

const there = {
  memory: true,
  fs: true,
  libsql: true,
  redis: await reachable('redis'),
  postgres: await reachable('postgres'),
  mysql: await reachable('mysql'),
}

async function newSpec(kind: keyof typeof there): Promise<StoreSpec | undefined> {
  if (kind === 'memory') return undefined
  return kind === 'fs' || kind === 'redis' ? newStore(kind) : newDatabase(kind)
}

describe.each(['memory', 'fs', 'redis', 'libsql', 'postgres', 'mysql'] as const)('%s', (kind) => {
  it.skipIf(!there[kind])('gives back whole records', async () => {
    const spec = await newSpec(kind)
    const adapter = (spec ? openStore(spec) : memoryAdapter()) as Required<Adapter>
    const ownId = (row: object | null | undefined): object => ('id' in row! ? { id: row.id } : {})
    const user = newUser({ emailVerified: new Date('2026-03-29T01:30:00.123Z') })
    expect(await adapter.createUser(user)).toEqual(user)
    for (const found of [await adapter.getUser(user.id), await adapter.getUserByEmail(user.email)]) expect(found).toEqual(user)

    // A caller that gives no `createdAt` is not given one; the kernel gives it.
    for (const session of [newSession(user.id), newSession(user.id, { createdAt: new Date('2026-02-03T04:05:06.789Z') })]) {
      expect(await adapter.createSession(session)).toMatchObject(session)
      const found = (await adapter.getSessionAndUser(session.sessionToken))!
      expect(found).toEqual({ session: { ...session, ...ownId(found.session) }, user })
      expect(await adapter.deleteSession(session.sessionToken)).toEqual(found.session)
    }

    const account = newAccount(user.id)
    await adapter.linkAccount(account)
    const stored = (await adapter.getAccount(account.providerAccountId, account.provider))!
    expect(stored).toEqual({ ...account, ...ownId(stored) })
    expect(await adapter.getUserByAccount(account)).toEqual(user)
    expect(await adapter.listAccountsByUserId(user.id)).toEqual([stored])

    const [token, authenticator] = [newToken(), newAuthenticator(user.id)]
    await adapter.createVerificationToken(token)
    expect(await adapter.useVerificationToken(token)).toEqual(token)
    await adapter.createAuthenticator(authenticator)
    expect(await adapter.getAuthenticator(authenticator.credentialID)).toEqual(authenticator)
    expect(await adapter.updateAuthenticatorCounter(authenticator.credentialID, 7)).toEqual({ ...authenticator, counter: 7 })
    expect(await adapter.deleteUser(user.id)).toEqual(user)
    await adapter.close()
    if (spec) await dropStore(spec)
  })
})
