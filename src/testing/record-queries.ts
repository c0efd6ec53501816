/** Rules of records: order, ranges, cursors that survive changes, counts and deletions by a query. */
import { expect, it } from './runner.ts'
import { unique } from './adapter-subject.ts'
import type { RecordSubject } from './record-options.ts'

export function queryRules({ host }: RecordSubject): void {
  const names = (page: { rows: readonly { name: string }[] }): string[] => page.rows.map(({ name }) => name)

  it('numbers, dates and texts are in order: negative, before 1970, by bytes', async () => {
    const items = await host().items()
    const group = unique()
    const places = [-Number.MAX_SAFE_INTEGER, -1000, -1, 0, 1, 9, 10, 1000, Number.MAX_SAFE_INTEGER]
    for (const place of places.toReversed()) await items.create({ group, name: `p${place}`, place })
    expect(
      (await items.find({ where: { group }, range: { place: { gte: -Number.MAX_SAFE_INTEGER } } })).rows.map(({ place }) => place),
    ).toEqual(places)
    const days = ['1066-10-14', '1912-06-23', '1969-12-31', '1970-01-01', '1970-01-02', '2026-11-22', '9000-01-01']
    const dates = unique()
    for (const day of days.toReversed()) await items.create({ group: dates, name: day, at: new Date(day) })
    await items.create({ group: dates, name: 'none' })
    expect(names(await items.find({ where: { group: dates }, range: { at: { gt: new Date('1000-01-01') } } }))).toEqual(days)
    expect(names(await items.find({ where: { group: dates }, range: { at: {} } }))).toEqual(['none', ...days])
    expect(names(await items.find({ where: { group: dates }, range: { at: {} }, order: 'desc' }))).toEqual([...days.toReversed(), 'none'])
    const bytes = unique()
    const texts = ['', ' ', 'A', 'Z', 'a', 'a ', 'a!', 'aa', 'b', 'é', '\uffee', '🜁']
    for (const name of texts.toReversed()) await items.create({ group: bytes, name })
    expect(names(await items.find({ where: { group: bytes }, range: { name: { gte: '' } } }))).toEqual(texts)
    expect(names(await items.find({ where: { group: bytes }, range: { name: { gt: 'a', lt: 'b' } } }))).toEqual(['a ', 'a!', 'aa'])
  })

  it('many ids are read at once: each row once, and nothing for an id without a row', async () => {
    const items = await host().items()
    const group = unique()
    const made = await items.createMany([...Array(230).keys()].map((at) => ({ group, name: `${at}` })))
    const ids = made.map(({ id }) => id)
    const readMany = async (some: readonly string[]) => names({ rows: await items.getMany(some) }).toSorted((a, b) => Number(a) - Number(b))
    expect(await readMany([...ids, ...ids.slice(0, 3), 'none'])).toEqual([...ids.keys()].map(String))
    expect([await readMany([ids[7]!]), await readMany(ids.slice(8, 10)), await readMany([]), await readMany(['none'])]).toEqual([
      ['7'],
      ['8', '9'],
      [],
      [],
    ])
    await expect(items.getMany(Array.from({ length: 501 }, (_, at) => `${at}`))).rejects.toThrow('at most 500')
  })

  it('ranges have ends that count or not, and null is in none', async () => {
    const items = await host().items()
    const group = unique()
    for (const place of [1, 2, 3, 4]) await items.create({ group, name: `${place}`, place, at: place === 1 ? null : new Date(place) })
    const places = async (range: object, order: 'asc' | 'desc' = 'asc') =>
      names(await items.find({ where: { group }, range: { place: range }, order }))
    expect(await places({ gt: 1, lt: 4 })).toEqual(['2', '3'])
    expect(await places({ gte: 2, lte: 3 }, 'desc')).toEqual(['3', '2'])
    expect(await places({ gt: 4 })).toEqual([])
    expect(names(await items.find({ where: { group }, range: { at: { lte: new Date(3) } } }))).toEqual(['2', '3'])
    expect(names(await items.find({ where: { group, at: null } }))).toEqual(['1'])
    expect(names(await items.find({ where: { group, place: 3 } }))).toEqual(['3'])
    expect(await items.count({ group }, { range: { place: { gte: 2 } } })).toBe(3)
    expect([await items.count({ group }, { max: 2 }), await items.count({ group: unique() })]).toEqual([2, 0])
    expect(await items.count({ group }, { max: Number.MAX_SAFE_INTEGER })).toBe(await items.count({ group }))
  })

  it.each(['asc', 'desc'] as const)('pages go on where they ended while rows come and go (%s)', async (order) => {
    const items = await host().items()
    const group = unique()
    // Rows without a date, and several of one.
    const rows = [...Array(25).keys()].map((at) => ({ group, name: `${at}`, at: at < 4 ? null : new Date(1000 * Math.floor(at / 3)) }))
    await items.createMany(rows)
    const seen: string[] = []
    let cursor: string | undefined
    for (let pages = 0; pages === 0 || cursor !== undefined; pages++) {
      const page = await items.find({ where: { group }, range: { at: {} }, order, limit: 4, cursor })
      seen.push(...names(page))
      cursor = page.cursor
      await items.delete(page.rows[0]!.id)
      const place = order === 'asc' ? -1000 : 99_000_000
      await items.create({
        group,
        name: `before ${pages}`,
        at: order === 'asc' && pages > 0 ? new Date(place) : order === 'asc' ? null : new Date(place),
      })
      if (pages > 30) throw new Error('the pages do not end')
    }
    const first = seen.filter((name) => !name.startsWith('before'))
    expect(first).toHaveLength(25)
    expect(new Set(first).size).toBe(25)
    expect(new Set(seen).size).toBe(seen.length)
  })

  it('rows without another order come by their ids', async () => {
    const items = await host().items()
    const owner = unique()
    const ids = [...Array(7).keys()].map((at) => `${owner}-${at}`)
    for (const id of ids.toReversed()) await items.create({ id, group: unique(), name: 'x', owner })
    const first = await items.find({ where: { owner }, limit: 4 })
    const second = await items.find({ where: { owner }, limit: 4, cursor: first.cursor })
    expect([...first.rows, ...second.rows].map(({ id }) => id)).toEqual(ids)
    expect(second.cursor).toBeUndefined()
    const back = await items.find({ where: { owner }, order: 'desc', limit: 5 })
    expect(back.rows.map(({ id }) => id)).toEqual(ids.toReversed().slice(0, 5))
  })

  it('deleteWhere removes what the query names, up to its limit', async () => {
    const items = await host().items()
    const [group, other] = [unique(), unique()]
    await items.createMany([...Array(12).keys()].map((place) => ({ group, name: `${place}`, place })))
    await items.create({ group: other, name: 'x' })
    expect(await items.deleteWhere({ where: { group }, range: { place: { gte: 4 } } }, { max: 3 })).toBe(3)
    expect(await items.deleteWhere({ where: { group }, range: { place: { lt: 2 } } })).toBe(2)
    expect(await items.count({ group })).toBe(7)
    expect(await items.deleteWhere({ where: { group } })).toBe(7)
    expect([await items.count({ group }), await items.count({ group: other })]).toEqual([0, 1])
    await items.createMany([
      { group, name: '1' },
      { group, name: '2' },
    ])
  })
}
