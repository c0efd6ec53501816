/** Answers that are lost with their connection, after the store has done its work: what is done once knows its own repetition. */
import type { HealedFault } from 'authkernel/kernel'
import type { SqlAdapter } from 'authkernel/plugins/sql'
import { type UnstorageAdapter, unstorageAdapter } from 'authkernel/plugins/unstorage'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inHours, newAccount, newAuthenticator, newSession, newToken, newUser } from '../../src/testing/adapter-subject.ts'
import { type Proxy, startProxy } from './_proxy.ts'
import { reachable, servers } from './_servers.ts'
import { dropStore, newDatabase, newStore, openDatabase, openSql, openStore, storageOf, type StoreSpec } from './_stores.ts'
import { startWorker, type Worker } from './_workers.ts'

const kinds = ['redis', 'postgres', 'mysql'] as const
const there = { redis: await reachable('redis'), postgres: await reachable('postgres'), mysql: await reachable('mysql') }
// The statements that write, as they are seen on the wire.
const writes = { redis: /eval/i, postgres: /(insert into|update|delete from) /i, mysql: /(insert into|update|delete from) /i }

describe.each(kinds)('%s', (kind) => {
  describe.skipIf(!there[kind])('answers that are lost', () => {
    let spec: StoreSpec
    let proxy: Proxy
    let adapter: SqlAdapter | UnstorageAdapter
    const healed: HealedFault[] = []
    beforeAll(async () => {
      spec = kind === 'redis' ? newStore('redis') : await newDatabase(kind)
      proxy = await startProxy(servers[kind])
      adapter = 'base' in spec ? unstorageAdapter(storageOf(spec, proxy.url)) : openSql(openDatabase(spec as never, proxy.url))
      await adapter.getUser('1')
      adapter.onHealed((fault) => healed.push(fault))
    })
    afterAll(async () => {
      await adapter.close()
      await proxy.close()
      await dropStore(spec)
    })

    /** Does it while the answer to its first write is lost. */
    async function losing<T>(work: () => T, pattern = writes[kind]): Promise<Awaited<T>> {
      const before = proxy.lost
      healed.length = 0
      proxy.loseNext(pattern)
      const answer = await work()
      expect(proxy.lost).toBe(before + 1)
      // One fault is told once.
      expect(healed).toHaveLength(1)
      return answer
    }

    it('once.take is accepted, and no other caller gets it', async () => {
      for (let n = 0; n < 5; n++) {
        const key = crypto.randomUUID()
        expect(await losing(() => adapter.once.take(key, 600))).toBe(true)
        expect(await adapter.once.take(key, 600)).toBe(false)
      }
    })

    it('once.take of what another caller has is refused all the same', async () => {
      const key = crypto.randomUUID()
      expect(await adapter.once.take(key, 600)).toBe(true)
      if (kind !== 'redis') expect(await losing(() => adapter.once.take(key, 600))).toBe(false)
      expect(await adapter.once.take(key, 600)).toBe(false)
    })

    it('useVerificationToken finds the row that it took, once', async () => {
      for (let n = 0; n < 5; n++) {
        const token = newToken()
        await adapter.createVerificationToken(token)
        expect(await losing(() => adapter.useVerificationToken(token))).toEqual(token)
        expect(await adapter.useVerificationToken(token)).toBeNull()
        expect(await adapter.useVerificationToken(token)).toBeNull()
      }
      // The second of the statements of SQL: the row is used, and swept with the others.
      if (kind === 'redis') return
      const token = newToken()
      await adapter.createVerificationToken(token)
      expect(await losing(() => adapter.useVerificationToken(token), /delete from/i)).toEqual(token)
      expect(await adapter.useVerificationToken(token)).toBeNull()
    })

    it('limit.take counts one attempt, and refund takes one back', async () => {
      const key = crypto.randomUUID()
      const rule = { max: 3, seconds: 600 }
      for (let n = 0; n < 3; n++) expect((await losing(() => adapter.limit.take(key, rule))).allowed).toBe(true)
      expect((await adapter.limit.take(key, rule)).allowed).toBe(false)
      await losing(() => adapter.limit.refund(key))
      expect((await adapter.limit.take(key, rule)).allowed).toBe(true)
      expect((await adapter.limit.take(key, rule)).allowed).toBe(false)
    })

    it('a new session and a new link are there, and are no conflict of another caller', async () => {
      const user = await adapter.createUser(newUser())
      const session = newSession(user.id)
      await losing(() => adapter.createSession(session))
      expect(await adapter.getSessionAndUser(session.sessionToken)).toMatchObject({ session, user: { id: user.id } })
      await expect(async () => adapter.createSession(session)).rejects.toThrow()
      expect(await losing(() => adapter.updateSession({ sessionToken: session.sessionToken, expires: inHours(7) }))).toMatchObject({
        sessionToken: session.sessionToken,
      })
      const token = newToken()
      await losing(() => adapter.createVerificationToken(token))
      await expect(async () => adapter.createVerificationToken(token)).rejects.toThrow()
      expect(await adapter.useVerificationToken(token)).toMatchObject(token)
    })

    const others = (): void =>
      it('every other write on Redis knows itself', async () => {
        const { userId: _none, ...account } = newAccount('')
        const user = await losing(() => adapter.createUserWithAccount(newUser(), account))
        const linked = newAccount(user.id)
        await losing(() => adapter.linkAccount(linked))
        expect(await losing(() => adapter.unlinkAccount(linked))).toMatchObject({ userId: user.id })
        const authenticator = newAuthenticator(user.id)
        await losing(() => adapter.createAuthenticator(authenticator))
        const next = authenticator.counter + 1
        expect(await losing(() => adapter.updateAuthenticatorCounter(authenticator.credentialID, next))).toMatchObject({ counter: next })
        expect(await losing(() => adapter.deleteUser(user.id))).toMatchObject({ id: user.id })
        expect(await adapter.getUser(user.id)).toBeNull()
      })
    if (kind === 'redis') others()

    it('between four processes, each key has one taker and each link one user, whatever is lost', async () => {
      const workers: Worker[] = await Promise.all(
        [1, 2, 3, 4].map(() => startWorker({ [`AUTHKERNEL_TEST_${kind.toUpperCase()}_URL`]: proxy.url })),
      )
      for (const worker of workers) await worker.ask({ do: 'open', store: spec })
      // So that all have found the tables.
      await Promise.all(workers.map((worker) => worker.ask({ do: 'call', method: 'getUser', args: ['1'] })))
      const keys = [...Array(24).keys()].map(() => crypto.randomUUID())
      const links = keys.map(() => newToken())
      const direct = openStore(spec)
      for (const link of links) await direct.createVerificationToken!(link)
      const before = proxy.lost
      proxy.loseSome(writes[kind], 0.15)
      const [taken, used] = [new Map<unknown, number>(), new Map<unknown, number>()]
      const count = (map: Map<unknown, number>, key: unknown): unknown => map.set(key, (map.get(key) ?? 0) + 1)
      const errors: string[] = []
      for (let at = 0; at < keys.length; at += 4) {
        const some = keys.slice(at, at + 4)
        const answers = await Promise.all(workers.map((worker) => worker.ask({ do: 'take', keys: some })))
        for (const { fulfilled, rejected } of answers) {
          errors.push(...rejected)
          for (const key of fulfilled) count(taken, key)
        }
        const list = links.slice(at, at + 4).map(({ identifier, token }) => [{ identifier, token }])
        for (const { fulfilled, rejected } of await Promise.all(
          workers.map((worker) => worker.ask({ do: 'calls', method: 'useVerificationToken', list })),
        )) {
          errors.push(...rejected)
          for (const row of fulfilled) if (row) count(used, (row as { token: string }).token)
        }
      }
      proxy.loseSome(writes[kind], 0)
      await Promise.all(workers.map((worker) => worker.kill()))
      await direct.close!()
      expect(proxy.lost - before).toBeGreaterThan(5)
      expect(errors).toEqual([])
      expect(keys.map((key) => taken.get(key) ?? 0)).toEqual(keys.map(() => 1))
      expect(links.map(({ token }) => used.get(token) ?? 0)).toEqual(links.map(() => 1))
    })
  })
})
