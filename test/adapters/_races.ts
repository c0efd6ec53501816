/** Races between processes: what the contract proves within one process, between four. */
import type { Adapter } from 'authkernel/kernel'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { register } from '../../src/testing/adapter-authenticators.ts'
import { inHours, newAccount, newSession, newToken, newUser } from '../../src/testing/adapter-subject.ts'
import { useOp } from '../_op/journey.ts'
import { createPerson } from './_journeys.ts'
import { openStore, type SplitSpec, type StoreSpec } from './_stores.ts'
import { startWorker, startWorkers, type Worker } from './_workers.ts'

/** Defines the races over a store that several processes may open. */
export function testRaces(
  name: string,
  store: () => StoreSpec | SplitSpec,
  { processes = 4, times = 25, rounds = 3 }: { processes?: number; times?: number; rounds?: number } = {},
): void {
  describe(`races between ${processes} processes: ${name}`, () => {
    let adapter: Required<Adapter>
    let workers: Worker[] = []
    const op = useOp()
    beforeAll(async () => {
      adapter = openStore(store()) as Required<Adapter>
      workers = await startWorkers(processes, store())
    })
    afterAll(async () => {
      await Promise.all(workers.map((worker) => worker.kill()))
      await adapter?.close()
    })
    const all = async (method: keyof Adapter, args: unknown[]): Promise<{ fulfilled: unknown[]; rejected: string[] }> => {
      const answers = await Promise.all(workers.map((worker) => worker.ask({ do: 'call', method, args, times })))
      return { fulfilled: answers.flatMap(({ fulfilled }) => fulfilled), rejected: answers.flatMap(({ rejected }) => rejected) }
    }

    it('row 169: one token is used once', async () => {
      for (let round = 0; round < rounds; round++) {
        const token = newToken()
        await adapter.createVerificationToken(token)
        const { fulfilled, rejected } = await all('useVerificationToken', [token])
        expect(rejected).toEqual([])
        expect(fulfilled.filter((answer) => answer !== null)).toHaveLength(1)
      }
    })

    it('D32: first sign-ins of one person make one user, and everybody finds it', async () => {
      for (let round = 0; round < rounds; round++) {
        const { userId: _none, ...account } = newAccount('')
        const user = newUser()
        const { fulfilled } = await all('createUserWithAccount', [user, account])
        expect(fulfilled).toHaveLength(1)
        const { fulfilled: found } = await all('getUserByAccount', [
          { provider: account.provider, providerAccountId: account.providerAccountId },
        ])
        expect(new Set(found.map((each) => (each as { id: string }).id))).toEqual(new Set([user.id]))
        expect(await adapter.listAccountsByUserId(user.id)).toHaveLength(1)
      }
    })

    it('D32: people who sign up in all processes at once end signed in, as one user', async () => {
      for (let round = 0; round < rounds; round++) {
        const who = createPerson()
        const { issuer, clientId, clientSecret } = op()
        const provider = { issuer, clientId, clientSecret }
        const answers = await Promise.all(workers.map((worker) => worker.ask({ do: 'signIn', provider, who, times: 5 })))
        expect(answers.flatMap(({ rejected }) => rejected)).toEqual([])
        for (const answer of answers.flatMap(({ fulfilled }) => fulfilled)) {
          expect(answer).toEqual({ end: expect.stringMatching(/3000\/?$/), email: who.email, errors: [] })
        }
        const owner = await adapter.getUserByAccount({ provider: 'acme', providerAccountId: who.id })
        expect(await adapter.listSessionsByUserId(owner!.id)).toHaveLength(processes * 5)
      }
    })

    it('one account links to one user', async () => {
      const users = await Promise.all(workers.map(() => adapter.createUser(newUser())))
      const account = newAccount('')
      const answers = await Promise.all(
        workers.map((worker, index) =>
          worker.ask({ do: 'call', method: 'linkAccount', args: [{ ...account, userId: users[index]!.id }], times: 5 }),
        ),
      )
      expect(answers.flatMap(({ fulfilled }) => fulfilled)).toHaveLength(1)
      const owner = await adapter.getUserByAccount(account)
      const lists = await Promise.all(users.map((user) => adapter.listAccountsByUserId(user.id)))
      expect(lists.flat()).toHaveLength(1)
      expect(lists[users.findIndex((user) => user.id === owner!.id)]).toHaveLength(1)
    })

    it("D27: an authenticator's counter ends at the highest value and never goes back", async () => {
      const authenticator = await register(adapter, await adapter.createUser(newUser()))
      const highest = 1 + processes * times
      const lists = workers.map((_worker, index) =>
        [...Array(times).keys()].map((step) => [authenticator.credentialID, 2 + ((step * 37 + 11) % times) * processes + index]),
      )
      const seen: number[] = []
      const ended = new AbortController()
      const watch = (async () => {
        while (!ended.signal.aborted) {
          seen.push((await adapter.getAuthenticator(authenticator.credentialID))!.counter)
          // SQLite answers within one turn of the event loop, and messages of workers need another.
          await new Promise((resolve) => setImmediate(resolve))
        }
      })()
      await Promise.all(
        workers.map((worker, index) => worker.ask({ do: 'calls', method: 'updateAuthenticatorCounter', list: lists[index]! })),
      )
      ended.abort()
      await watch
      expect(seen).toEqual([...seen].sort((left, right) => left - right))
      expect((await adapter.getAuthenticator(authenticator.credentialID))!.counter).toBe(highest)
    })

    it('dates mean the same in every time zone', async () => {
      const [west, east] = await Promise.all(['America/New_York', 'Asia/Kolkata'].map((TZ) => startWorker({ TZ })))
      for (const worker of [west!, east!]) await worker.ask({ do: 'open', store: store() })
      for (const expires of [new Date('2037-03-08T07:30:00.123Z'), inHours(5)]) {
        const user = newUser()
        const session = newSession(user.id, { expires })
        await west!.ask({ do: 'call', method: 'createUser', args: [user] })
        expect((await west!.ask({ do: 'call', method: 'createSession', args: [session] })).rejected).toEqual([])
        const { fulfilled } = await east!.ask({ do: 'call', method: 'getSessionAndUser', args: [session.sessionToken] })
        expect(fulfilled[0]).toMatchObject({ session: { expires: expires.toISOString() } })
        expect((await adapter.getSessionAndUser(session.sessionToken))!.session.expires).toEqual(expires)
      }
      await Promise.all([west!.kill(), east!.kill()])
    })

    it('a session that is signed out while it is extended stays signed out', async () => {
      const user = await adapter.createUser(newUser())
      for (let round = 0; round < rounds; round++) {
        const session = newSession(user.id)
        await adapter.createSession(session)
        const change = { sessionToken: session.sessionToken, expires: inHours(5) }
        const extended = all('updateSession', [change])
        await adapter.deleteSession(session.sessionToken)
        await extended
        expect(await adapter.getSessionAndUser(session.sessionToken)).toBeNull()
        expect((await adapter.updateSession(change)) ?? null).toBeNull()
      }
    })

    it('a deleted user leaves nothing, whatever sign-in runs meanwhile', async () => {
      for (let round = 0; round < rounds; round++) {
        const user = await adapter.createUser(newUser())
        const sessions = workers.map(() => [...Array(5).keys()].map(() => newSession(user.id)))
        const signedIn = Promise.all(
          workers.map((worker, index) =>
            worker.ask({ do: 'calls', method: 'createSession', list: sessions[index]!.map((session) => [session]) }),
          ),
        )
        await adapter.deleteUser(user.id)
        await signedIn
        for (const session of sessions.flat()) expect((await adapter.updateSession({ ...session, expires: inHours(2) })) ?? null).toBeNull()
        expect(await adapter.listSessionsByUserId(user.id)).toEqual([])
      }
    })
  })
}
