/** Rules of records between processes. */
import { RecordConflict, type RecordStore, type StoredRow, type StoredTable, type StoredWrite } from 'authkernel/kernel'
import { afterAll, beforeAll, describe, expect, it } from './runner.ts'
import { unique } from './adapter-subject.ts'
import type { RecordProcess, RecordSubject, RecordTask } from './record-options.ts'

const none = { max: 255, optional: false, default: undefined }
const table: StoredTable = {
  name: 'contractRace',
  fields: [
    { ...none, name: 'group', type: 'string', max: 64 },
    { ...none, name: 'name', type: 'string', max: 64 },
    { ...none, name: 'place', type: 'integer' },
  ],
  unique: [['group', 'name']],
  index: [['group', 'place']],
  owner: undefined,
  expires: undefined,
}

/** Runs in a separate process: does what the races between processes ask. Returns null for a rejection, `conflict` for a taken key. */
export async function workOnRecords(store: RecordStore, task: RecordTask): Promise<readonly unknown[]> {
  store.define([table])
  if (task.do === 'churn') {
    for (let at = 0; ; at++) {
      const row = rowOf(task.group, `${process.pid}-${at}`)
      await store.write([incrementOf(task.id), { op: 'create', table: table.name, row }, incrementOf(`${task.id}-too`)], Date.now())
    }
  }
  const answers = await Promise.allSettled([...Array(task.times).keys()].map(async () => store.write(task.writes, Date.now())))
  return answers.map((answer) => {
    if (answer.status === 'fulfilled') return answer.value
    if (answer.reason instanceof RecordConflict) return 'conflict'
    return String(answer.reason)
  })
}

export function raceRules({ host, options }: RecordSubject): void {
  const { processes } = options
  if (!processes) return
  describe('between four processes', () => {
    let workers: readonly RecordProcess[] = []
    let store: RecordStore
    beforeAll(async () => {
      store = host().store
      store.define([table])
      await store.migrate?.({ apply: true })
      workers = await processes(4)
    })
    afterAll(() => Promise.all(workers.map((worker) => worker.kill())))
    const all = async (writes: readonly StoredWrite[], times = 10): Promise<unknown[]> =>
      (await Promise.all(workers.map((worker) => worker.run({ do: 'write', writes, times })))).flat()
    const get = async (id: string): Promise<StoredRow | null> => store.get(table.name, '', { id }, Date.now())
    const add = (group: string, name: string): Promise<StoredRow> => createRow(store, rowOf(group, name))

    it('a key is created once', async () => {
      const group = unique()
      const answers = await all([{ op: 'create', table: table.name, row: rowOf(group, 'one', unique()) }])
      expect(answers.filter((answer) => answer !== 'conflict')).toHaveLength(1)
      expect(answers).toHaveLength(40)
    })

    it('compare-and-set, take and bounds let through what they may', async () => {
      const group = unique()
      const [one, two, three] = [await add(group, '1'), await add(group, '2'), await add(group, '3')]
      const updated = await all([{ op: 'update', table: table.name, ns: '', id: one.id, change: { place: 1 }, if: { place: 0 } }])
      expect(updated.filter((answer) => answer !== null)).toHaveLength(1)
      const taken = await all([{ op: 'take', table: table.name, ns: '', key: { group, name: '2' }, if: {} }])
      expect(taken.filter((answer) => answer !== null)).toHaveLength(1)
      expect(await get(two.id)).toBeNull()
      const counted = await all([{ ...incrementOf(three.id), max: 23 }])
      expect(counted.filter((answer) => answer !== null)).toHaveLength(23)
      expect((await get(three.id))?.['place']).toBe(23)
    })

    it('commits over the same rows are all done', async () => {
      const group = unique()
      const [one, two] = [await add(group, '1'), await add(group, '2')]
      const [up, down] = [
        [incrementOf(one.id), incrementOf(two.id)],
        [incrementOf(two.id), incrementOf(one.id)],
      ]
      const answers = await Promise.all(workers.map((worker, at) => worker.run({ do: 'write', writes: at % 2 ? up : down, times: 10 })))
      expect(answers.flat().filter((answer) => !Array.isArray(answer))).toEqual([])
      expect([(await get(one.id))?.['place'], (await get(two.id))?.['place']]).toEqual([40, 40])
    })

    it('a commit of a process that is killed is done or not done', async () => {
      const [group, id] = [unique(), unique()]
      await createRow(store, rowOf(group, 'counter', id))
      await createRow(store, rowOf(group, 'counter too', `${id}-too`))
      const extra = await processes(2)
      for (const worker of extra) worker.run({ do: 'churn', id, group }).catch(() => {})
      // Killed in the middle of it, at different moments.
      const begin = Date.now()
      while (Number((await get(id))?.['place']) < 20 && Date.now() - begin < 20_000) await new Promise((resolve) => setTimeout(resolve, 10))
      await Promise.all(extra.map((worker) => worker.kill()))
      const query = { ns: '', where: { group }, by: 'place', index: ['group', 'place'], range: {}, order: 'asc', after: undefined } as const
      let [count, before] = [0, -1]
      // A server may still finish the last one.
      while (count !== before) {
        before = count
        await new Promise((resolve) => setTimeout(resolve, 100))
        count = await store.count(table.name, { ...query, limit: 100_000 }, Date.now())
      }
      const places = [(await get(id))?.['place'], (await get(`${id}-too`))?.['place']]
      expect(places).toEqual([count - 2, count - 2])
      expect(count).toBeGreaterThan(20)
    })
  })
}

async function createRow(store: RecordStore, row: StoredRow): Promise<StoredRow> {
  await store.write([{ op: 'create', table: table.name, row }], Date.now())
  return row
}

function rowOf(group: string, name: string, id = unique()): StoredRow {
  return { ns: '', id, group, name, place: 0 }
}

function incrementOf(id: string): Extract<StoredWrite, { op: 'increment' }> {
  return { op: 'increment', table: table.name, ns: '', id, field: 'place', by: 1, min: undefined, max: undefined, if: {}, set: {} }
}
