/** Rules of records: one of many gets a key, conditions and bounds hold, commits are all or nothing. */
import { RecordConflict } from 'authkernel/kernel'
import { expect, it } from './runner.ts'
import { unique } from './adapter-subject.ts'
import type { RecordSubject } from './record-options.ts'

export function writeRules({ host }: RecordSubject): void {
  const times = <T>(count: number, work: (at: number) => Promise<T>): Promise<PromiseSettledResult<T>[]> =>
    Promise.allSettled([...Array(count).keys()].map(work))

  it('race: one of fifty creations of a key is done', async () => {
    const items = await host().items()
    const group = unique()
    const answers = await times(50, (at) => items.create({ group, name: 'one', place: at }))
    const refused = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as unknown] : []))
    expect(refused).toHaveLength(49)
    for (const error of refused) expect(error).toBeInstanceOf(RecordConflict)
    expect(refused[0]).toMatchObject({ record: 'contractItem', fields: ['group', 'name'] })
    expect(await items.count({ group })).toBe(1)
    const { id } = (await items.get({ group, name: 'one' }))!
    await expect(items.create({ id, group, name: 'two' })).rejects.toMatchObject({ fields: ['id'] })
  })

  it('update changes what is named, if the condition holds', async () => {
    const items = await host().items()
    const group = unique()
    const { id } = await items.create({ group, name: 'a', at: new Date(1), text: 'kept' })
    expect(await items.update(id, { place: 1 }, { if: { place: 0, at: new Date(1), done: false, owner: null } })).toMatchObject({
      place: 1,
      text: 'kept',
      at: new Date(1),
    })
    expect(await items.update(id, { place: 2 }, { if: { place: 0 } })).toBeNull()
    expect(await items.update(id, { place: 2 }, { if: { owner: 'x' } })).toBeNull()
    // The same value again, and null.
    expect(await items.update(id, { place: 1, at: null })).toMatchObject({ place: 1, at: null })
    expect(await items.update(id, {})).toMatchObject({ place: 1 })
    expect(await items.update(unique(), { place: 1 })).toBeNull()
    await items.create({ group, name: 'b' })
    await expect(items.update(id, { name: 'b' })).rejects.toMatchObject({ type: 'RecordConflict', fields: ['group', 'name'] })
    expect(await items.get(id)).toMatchObject({ name: 'a', place: 1 })
    expect(await items.update(id, { name: 'c' })).toMatchObject({ name: 'c' })
    await items.create({ group, name: 'a' })
  })

  it('race: compare-and-set lets one of many through', async () => {
    const items = await host().items()
    const { id } = await items.create({ group: unique(), name: 'a' })
    const answers = await times(20, (at) => items.update(id, { place: at + 1 }, { if: { place: 0 } }))
    const won = answers.flatMap((answer) => (answer.status === 'fulfilled' && answer.value ? [answer.value.place] : []))
    expect(won).toHaveLength(1)
    expect((await items.get(id))?.place).toBe(won[0])
  })

  it('race: increment counts every call, up to its bound', async () => {
    const items = await host().items()
    const { id } = await items.create({ group: unique(), name: 'a' })
    const answers = await times(20, () => items.increment(id, 'place', 1, { max: 12, set: { done: true } }))
    const numbers = answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : Number.NaN))
    expect(numbers.filter((number) => number !== null).sort((a, b) => a - b)).toEqual([...Array(12).keys()].map((at) => at + 1))
    expect(await items.get(id)).toMatchObject({ place: 12, done: true })
    expect(await items.increment(id, 'place', -13, { min: 0 })).toBeNull()
    expect(await items.increment(id, 'place', -12, { min: 0, if: { done: true } })).toBe(0)
    expect(await items.increment(id, 'place', 1, { if: { done: false } })).toBeNull()
    expect(await items.increment(id, 'place', Number.MAX_SAFE_INTEGER)).toBe(Number.MAX_SAFE_INTEGER)
    expect(await items.increment(id, 'place', 1)).toBeNull()
    expect(await items.increment(unique(), 'place', 1)).toBeNull()
  })

  it('race: one of many takes a row', async () => {
    const items = await host().items()
    const group = unique()
    const made = await items.create({ group, name: 'a', secret: 's' })
    expect(await items.take(made.id, { if: { place: 1 } })).toBeNull()
    const answers = await times(20, (at) => (at % 2 === 0 ? items.take(made.id) : items.take({ group, name: 'a' })))
    expect(answers.flatMap((answer) => (answer.status === 'fulfilled' && answer.value ? [answer.value] : []))).toEqual([made])
    expect(await items.get(made.id)).toBeNull()
  })

  it('put creates and replaces by id', async () => {
    const items = await host().items()
    const [group, id] = [unique(), unique()]
    await items.put({ id, group, name: 'a', text: 'first' })
    expect(await items.put({ id, group, name: 'b' })).toMatchObject({ name: 'b', text: null })
    expect([await items.get({ group, name: 'a' }), (await items.get(id))?.name]).toEqual([null, 'b'])
    await items.create({ group, name: 'a' })
    await expect(items.put({ id, group, name: 'a' })).rejects.toMatchObject({ type: 'RecordConflict', fields: ['group', 'name'] })
    expect((await items.get(id))?.name).toBe('b')
    const answers = await times(10, (at) => items.put({ id: `${id}x`, group, name: 'raced', place: at }))
    expect(answers.filter(({ status }) => status === 'rejected')).toEqual([])
    expect(await items.delete(`${id}x`)).toBe(true)
    expect(await items.delete(`${id}x`)).toBe(false)
  })

  it('many are created together or not at all', async () => {
    const items = await host().items()
    const group = unique()
    const rows = [...Array(120).keys()].map((at) => ({
      group,
      name: `${at}`,
      place: at,
      at: new Date(at),
      secret: at % 50 === 0 ? 's' : null,
    }))
    const made = await items.createMany(rows)
    expect(made.map(({ name }) => name)).toEqual(rows.map(({ name }) => name))
    expect(await items.count({ group })).toBe(120)
    const again = unique()
    await expect(
      items.createMany([
        { group: again, name: 'x' },
        { group: again, name: 'y' },
        { group, name: '7' },
      ]),
    ).rejects.toBeInstanceOf(RecordConflict)
    await expect(
      items.createMany([
        { group: again, name: 'x' },
        { group: again, name: 'x' },
      ]),
    ).rejects.toMatchObject({
      fields: ['group', 'name'],
    })
    expect(await items.count({ group: again })).toBe(0)
  })

  it('atomic writes are all done or none', async () => {
    const { atomic } = host()
    const items = await host().items()
    const group = unique()
    const record = 'contractItem'
    const { id } = await items.create({ group, name: 'a' })
    const [b, c] = [unique('b'), unique('a')]
    expect(
      await atomic([
        { record, create: { id: b, group, name: 'b' } },
        { record, increment: id, field: 'place', by: 2 },
        { record, put: { id: c, group, name: 'c' } },
        { record, update: b, change: { name: 'b2' }, if: { name: 'b' } },
        { record, create: { group, name: 'b' } },
      ]),
    ).toMatchObject([{ name: 'b' }, 2, { name: 'c' }, { name: 'b2' }, { name: 'b' }])
    const refused = [
      [
        { record, delete: id },
        { record, update: b, change: {}, if: { name: 'x' } },
      ],
      [
        { record, take: { group, name: 'a' } },
        { record, create: { group, name: 'c' } },
      ],
      [
        { record, put: { id, group, name: 'new' } },
        { record, increment: b, field: 'place', by: 1, max: 0 },
      ],
      [
        { record, create: { id: unique(), group, name: 'd' } },
        { record, take: unique() },
      ],
    ]
    for (const writes of refused) expect(await atomic(writes)).toBe(false)
    expect((await items.find({ where: { group } })).rows.map(({ name }) => name).sort()).toEqual(['a', 'b', 'b2', 'c'])
    expect(await items.get(id)).toMatchObject({ name: 'a', place: 2 })
    // What one write frees, the next one may have.
    expect(
      await atomic([
        { record, delete: id },
        { record, create: { group, name: 'a', place: 9 } },
      ]),
    ).toMatchObject([true, { place: 9 }])
  })

  it('race: atomic writes over the same rows, in any order, all come through', async () => {
    const { atomic } = host()
    const items = await host().items()
    const group = unique()
    const ids = [...Array(3).keys()].map(() => unique())
    for (const [at, id] of ids.entries()) await items.create({ id, group, name: `${at}` })
    const answers = await times(12, (at) => {
      const order = at % 2 === 0 ? ids : ids.toReversed()
      return atomic(order.map((id) => ({ record: 'contractItem', increment: id, field: 'place', by: 1 })))
    })
    expect(answers.filter((answer) => answer.status === 'rejected' || answer.value === false)).toEqual([])
    for (const id of ids) expect((await items.get(id))?.place).toBe(12)
  })
}
