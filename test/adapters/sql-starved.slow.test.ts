/** One SQLite file, four processes that write, and a machine that has no time for them: writes wait, none fails as busy. */
import { type ChildProcess, spawn } from 'node:child_process'
import { afterAll, expect, it } from 'vitest'
import { newAccount, newUser } from '../../src/testing/adapter-subject.ts'
import { dropStore, newDatabase, openStore } from './_stores.ts'
import { findHalves } from './_whole.ts'
import { startWorkers } from './_workers.ts'

const burners: ChildProcess[] = []
afterAll(() => burners.forEach((burner) => burner.kill('SIGKILL')))

it('four processes on one file with a starved CPU: every write is done', async () => {
  const spec = await newDatabase('libsql')
  const adapter = openStore(spec)
  await adapter.getUser!('1')
  const workers = await startWorkers(4, spec)
  // They end by themselves, should this process be killed.
  const burn = 'const end = Date.now() + 60_000; while (Date.now() < end);'
  for (let n = 0; n < 8; n++) burners.push(spawn(process.execPath, ['-e', burn], { stdio: 'ignore' }))
  const list = (): unknown[][] =>
    [...Array(10).keys()].map(() => {
      const { userId: _none, ...account } = newAccount('')
      return [newUser(), account]
    })
  const errors: string[] = []
  for (let round = 0; round < 12; round++) {
    const answers = await Promise.all(workers.map((worker) => worker.ask({ do: 'calls', method: 'createUserWithAccount', list: list() })))
    errors.push(...answers.flatMap(({ rejected }) => rejected))
  }
  burners.forEach((burner) => burner.kill('SIGKILL'))
  await Promise.all(workers.map((worker) => worker.kill()))
  expect(errors).toEqual([])
  expect(await findHalves(spec)).toEqual([])
  await adapter.close!()
  await dropStore(spec)
}, 180_000)
