/** Kills processes at random points of their writes, and looks at what they left. */
import type { Adapter } from 'authkernel/kernel'
import { expect } from 'vitest'
import { newToken } from '../../src/testing/adapter-subject.ts'
import { openStore, type SplitSpec, type StoreSpec } from './_stores.ts'
import { expectKept, findHalves } from './_whole.ts'
import { startWorker } from './_workers.ts'

/** Every run kills at the same points, as far as a clock allows: AUTHKERNEL_SEED names others. */
const seed = Number(process.env.AUTHKERNEL_SEED ?? 1)

/** So many times: a process writes, is killed without a word, and the store must be whole and open for the next one. */
export async function killAtRandom(spec: StoreSpec | SplitSpec, times: number): Promise<void> {
  const random = randomFrom(seed)
  for (let time = 0; time < times; time++) {
    const worker = await startWorker()
    await worker.ask({ do: 'open', store: spec })
    // Not at a report, when a write has just ended, but up to some writes later.
    const [reports, delay] = [1 + Math.floor(random() * 30), random() * 20]
    const enough = new Promise<void>((resolve, reject) => {
      worker.child.on('message', () => worker.told.length >= reports && resolve())
      worker.child.once('exit', () => reject(new Error('the worker ended by itself')))
    })
    await worker.ask({ do: 'churn' })
    await enough
    await new Promise((resolve) => setTimeout(resolve, delay))
    await worker.kill()

    const at = `seed ${seed}, kill ${time + 1}: after ${reports} reports and ${delay.toFixed(1)} ms`
    const adapter = openStore(spec) as Required<Adapter>
    // What it had sent may still be at work in the server, and its folder is taken over by the first operation.
    await adapter.getUser('1')
    await expectKept(adapter, worker.told)
    await expect.poll(() => findHalves(spec.kind === 'split' ? spec.users : spec), { message: at, timeout: 10_000 }).toEqual([])
    const token = newToken()
    await adapter.createVerificationToken(token)
    expect(await adapter.useVerificationToken(token), at).not.toBeNull()
    await adapter.close()
  }
}

/** Numbers from 0 to 1 that are the same for the same seed. */
function randomFrom(start: number): () => number {
  let state = start >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
