/** Four processes, one store: one signing key at the start and at a rotation, also when a process is killed in the middle of it. */
import type { Adapter } from 'authkernel/kernel'
import { describe, expect, it } from 'vitest'
import { reachable } from './_servers.ts'
import { signingHost } from './_signing.ts'
import { dropStore, newDatabase, newStore, openStore } from './_stores.ts'
import { startWorkers, type Worker } from './_workers.ts'

const there = { libsql: true, postgres: await reachable('postgres'), mysql: await reachable('mysql'), redis: await reachable('redis') }
const day = 86_400_000
const tenMinutes = 600_000

describe.each(['postgres', 'mysql', 'redis', 'libsql'] as const)('%s', (kind) => {
  it.skipIf(!there[kind])('four processes have one signing key, and a kill before or after the write leaves one', async () => {
    const store = kind === 'redis' ? newStore(kind) : await newDatabase(kind)
    const adapter = openStore(store) as Required<Adapter>
    const workers = await startWorkers(4, store)
    const [victim, second, ...others] = workers as [Worker, Worker, Worker, Worker]
    const kids = async (from: readonly Worker[], ahead: number): Promise<unknown[]> => {
      const answers = await Promise.all(from.map((worker) => worker.ask({ do: 'sign', times: 5, ahead })))
      expect(answers.flatMap(({ rejected }) => rejected)).toEqual([])
      return [...new Set(answers.flatMap(({ fulfilled }) => fulfilled))]
    }
    const published = async (ahead: number) => {
      const auth = signingHost(adapter, ahead)
      return (await auth.jwt.jwks(new Request('http://localhost:3000/'))).keys.map(({ kid }) => kid)
    }
    try {
      const [first, ...more] = await kids(workers, 0)
      expect([more, await published(0)]).toEqual([[], [first]])

      // Killed with the lease and without a key: the former one signs on, and when the lease has ended the next one is published.
      await expect(victim.ask({ do: 'sign', times: 1, ahead: day, die: 'before' })).rejects.toThrow('SIGKILL')
      expect(await kids([second, ...others], day)).toEqual([first])
      expect(await kids([second, ...others], day + tenMinutes)).toEqual([first])
      expect(await published(day + tenMinutes)).toEqual([expect.any(String), first])
      const [next, ...none] = await kids([second, ...others], day + 4 * tenMinutes)
      expect([none, (await published(day + 4 * tenMinutes))[0]]).toEqual([[], next])
      expect(next).not.toBe(first)

      // Killed right after the write: the key is there, and the former one has its end.
      await expect(second.ask({ do: 'sign', times: 1, ahead: 3 * day, die: 'after' })).rejects.toThrow('SIGKILL')
      expect(await kids(others, 3 * day)).toEqual([next])
      const [last, ...rest] = await kids(others, 3 * day + 2 * tenMinutes + 5000)
      expect([rest, await published(3 * day + 5 * tenMinutes)]).toEqual([[], [last]])
    } finally {
      await Promise.all(workers.map((worker) => worker.kill()))
      await adapter.close?.()
      await dropStore(store)
    }
  })
})
