/** Races with many more rounds, and two processes on one store under load for a minute. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testRaces } from './_races.ts'
import { reachable } from './_servers.ts'
import { dropStore, newDatabase, newStore, openStore, type StoreSpec } from './_stores.ts'
import { startWorkers } from './_workers.ts'

const seconds = Number(process.env.AUTHKERNEL_LOAD_SECONDS ?? 60)
const there = { libsql: true, postgres: await reachable('postgres'), mysql: await reachable('mysql'), redis: await reachable('redis') }

describe.each(['libsql', 'postgres', 'mysql', 'redis'] as const)('%s', (kind) => {
  describe.skipIf(!there[kind])('under load', () => {
    let spec: StoreSpec
    beforeAll(async () => {
      spec = kind === 'redis' ? newStore('redis') : await newDatabase(kind)
      const adapter = openStore(spec)
      await adapter.getUser!('1')
      await adapter.close!()
    })
    afterAll(() => dropStore(spec))

    testRaces(kind, () => spec, { times: 60, rounds: 8 })

    it(
      `two processes for ${seconds} seconds: everything works, and what was promised is there`,
      async () => {
        const workers = await startWorkers(2, spec)
        for (const worker of workers) await worker.ask({ do: 'churn' })
        const ended = workers.map((worker) => new Promise((resolve) => worker.child.once('exit', resolve)))
        const time = new Promise((resolve) => setTimeout(resolve, seconds * 1_000, 'time'))
        // A failing operation would end its process.
        expect(await Promise.race([time, ...ended])).toBe('time')
        for (const worker of workers) await worker.kill()
        const adapter = openStore(spec) as Required<ReturnType<typeof openStore>>
        for (const { told } of workers) {
          const deleting = new Set(told.flatMap((message) => ('deleting' in message ? [message.deleting] : [])))
          const made = told.flatMap((message) => (message.made ? [message.made as { user: string; email: string; account: string }] : []))
          expect(made.length).toBeGreaterThan(seconds)
          for (const { user, email, account } of made.filter((each) => !deleting.has(each.user)).slice(-500)) {
            expect(await adapter.getUserByEmail(email)).toMatchObject({ id: user })
            expect(await adapter.getUserByAccount({ provider: 'acme', providerAccountId: account })).toMatchObject({ id: user })
          }
        }
        await adapter.close()
      },
      (seconds + 120) * 1_000,
    )
  })
})
