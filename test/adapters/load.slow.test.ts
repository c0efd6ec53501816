/** Races with many more rounds, and two processes on one store under load for a minute. */
import type { Adapter } from 'authkernel/kernel'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newAccount, newAuthenticator, newUser } from '../../src/testing/adapter-subject.ts'
import { attempts, type LoadReport } from './_load.ts'
import { testRaces } from './_races.ts'
import { reachable } from './_servers.ts'
import { dropStore, newDatabase, newStore, openStore, type StoreSpec } from './_stores.ts'
import { findHalves } from './_whole.ts'
import { startWorkers } from './_workers.ts'

const seconds = Number(process.env.AUTHKERNEL_LOAD_SECONDS ?? 60)
const there = { libsql: true, postgres: await reachable('postgres'), mysql: await reachable('mysql'), redis: await reachable('redis') }
const kinds = (['libsql', 'postgres', 'mysql', 'redis'] as const).filter((kind) => there[kind])

async function newSpec(kind: keyof typeof there): Promise<StoreSpec> {
  return kind === 'redis' ? newStore('redis') : newDatabase(kind)
}

describe.each(kinds)('%s', (kind) => {
  let spec: StoreSpec
  beforeAll(async () => {
    spec = await newSpec(kind)
    const adapter = openStore(spec)
    await adapter.getUser!('1')
    await adapter.close!()
  })
  afterAll(() => dropStore(spec))

  testRaces(kind, () => spec, { times: 60, rounds: 8 })
})

describe(`two processes on one store for ${seconds} seconds`, () => {
  const minute = new Map<string, Promise<LoadReport[]>>()
  const specs = new Map<string, StoreSpec>()
  const adapters = new Map<string, Required<Adapter>>()
  beforeAll(
    async () => {
      const ready = kinds.map(async (kind) => {
        const spec = await newSpec(kind)
        specs.set(kind, spec)
        const adapter = openStore(spec) as Required<Adapter>
        adapters.set(kind, adapter)
        const { userId: _none, ...account } = newAccount('')
        const user = await adapter.createUserWithAccount(newUser(), account)
        await adapter.createAuthenticator(newAuthenticator(user.id, { credentialID: kind }))
        return startWorkers(2, spec)
      })
      const workers = await Promise.all(ready)
      // All stores share the minute.
      const start = Date.now() + 500
      kinds.forEach((kind, index) => {
        const tasks = workers[index]!.map((worker, turn) =>
          worker.ask({ do: 'load', name: kind, turn: turn as 0 | 1, start, seconds }).then(async ({ fulfilled, rejected }) => {
            await worker.kill()
            if (rejected.length > 0) throw new Error(rejected[0])
            return fulfilled[0] as LoadReport
          }),
        )
        const reports = Promise.all(tasks)
        // A caller that asks is told; until then a failure of one store is not the end of the others.
        reports.catch(() => {})
        minute.set(kind, reports)
      })
      await Promise.allSettled(minute.values())
    },
    (seconds + 60) * 1_000,
  )
  afterAll(async () => {
    for (const adapter of adapters.values()) await adapter.close()
    for (const spec of specs.values()) await dropStore(spec)
  })

  it.each(kinds)('%s: every operation works, and what was promised holds', async (kind) => {
    const reports = await minute.get(kind)!
    expect(reports.flatMap(({ errors }) => errors)).toEqual([])
    const all = (name: 'rounds' | 'made' | 'used' | 'onces' | 'linked' | 'deleted'): number[] =>
      reports.flatMap((report) => report[name]).sort((left, right) => left - right)
    const rounds = [...new Set(all('rounds'))]
    // Else the two did not meet. A slow machine has fewer rounds, so the bound is far below one a beat.
    const least = seconds / 10
    expect(all('rounds').length - rounds.length).toBeGreaterThan(least)
    for (const { heap } of reports) expect(heap).toBeLessThan(256 * 1024 * 1024)

    expect(all('made').length).toBeGreaterThan(least)
    expect(all('used')).toEqual(all('made'))
    expect(all('onces')).toEqual(rounds)
    expect(all('linked')).toEqual(rounds)
    const allowed = new Map<string, number>()
    for (const [key, times] of reports.flatMap((report) => Object.entries(report.allowed)))
      allowed.set(key, (allowed.get(key) ?? 0) + times)
    expect(Math.max(...allowed.values())).toBe(attempts)

    const adapter = adapters.get(kind)!
    const deleted = new Set(all('deleted'))
    expect(deleted.size).toBeGreaterThan(least)
    for (const round of rounds) {
      const user = await adapter.getUserByEmail(`${kind}-${round}@example.com`)
      const owner = await adapter.getUserByAccount({ provider: 'acme', providerAccountId: `${kind}-${round}` })
      expect(owner?.id, `round ${round}`).toBe(user?.id)
      if (deleted.has(round)) expect(user).toBeNull()
      else expect(await adapter.listAccountsByUserId(user!.id)).toHaveLength(1)
    }
    expect(await findHalves(specs.get(kind)!)).toEqual([])
  })
})
