/** Rules of records: values come back as they were, keys are compared by bytes, rows end, tenants and owners. */
import { expect, it } from './runner.ts'
import { newUser, unique } from './adapter-subject.ts'
import type { RecordSubject } from './record-options.ts'

const empty = { at: null, done: false, text: null, data: null, secret: null, owner: null, until: null, place: 0 }

export function valueRules({ host, options }: RecordSubject): void {
  it('values come back as they were', async () => {
    const items = await host().items()
    const group = unique()
    const rows = [
      { name: 'zero', place: 0, done: false, text: '', data: 0 },
      { name: 'largest', place: Number.MAX_SAFE_INTEGER, done: true, text: 'x'.repeat(65_536), data: { a: [1, null, 'é'] } },
      { name: 'smallest', place: -Number.MAX_SAFE_INTEGER, at: new Date('2026-03-29T01:30:00.123Z'), text: "'; drop -- \\ \n\t%_" },
      { name: 'letters 🜁 𝒜é ', text: '🜁'.repeat(300), secret: 'sealed 🜁', data: '' },
      { name: 'early', at: new Date('1969-12-31T23:59:59.999Z'), owner: unique(), data: false },
      { name: 'late', at: new Date('9999-12-31T23:59:59.999Z'), until: new Date('2999-01-01T00:00:00.001Z') },
    ]
    for (const row of rows) {
      const made = await items.create({ group, ...row })
      expect(made).toEqual({ ...empty, group, ...row, id: made.id })
      expect(await items.get(made.id)).toEqual(made)
      expect(await items.get({ group, name: row.name })).toEqual(made)
    }
    await expect(items.create({ group, name: 'a\0b' })).rejects.toThrow(/cannot be stored/)
  })

  it('keys that differ in one byte are different', async () => {
    const items = await host().items()
    const group = unique()
    const names = ['Ada', 'ada', 'ada ', 'áda', 'a\u0301da', ' ada', 'ADA', '']
    for (const name of names) await items.create({ group, name })
    for (const name of names) expect((await items.get({ group, name }))?.name).toBe(name)
    expect(await items.get({ group, name: 'aDa' })).toBeNull()
    const id = unique('Id')
    await items.put({ id, group, name: 'one' })
    expect([await items.get(id.toUpperCase()), await items.get(`${id} `)]).toEqual([null, null])
  })

  it('a row whose end has come is gone, to the millisecond, and makes room for its keys', async () => {
    const { ahead, now, store } = host()
    const items = await host().items()
    const group = unique()
    const until = new Date(now() + 60_000)
    const { id } = await items.create({ group, name: 'a', until })
    const late = await items.create({ group, name: 'b', until: new Date(until.getTime() + 60_000) })
    expect(await store.get('contractItem', '', { id }, until.getTime() - 1)).not.toBeNull()
    expect(await store.get('contractItem', '', { id }, until.getTime())).toBeNull()
    ahead(90_000)
    expect([await items.get(id), await items.get({ group, name: 'a' }), await items.count({ group })]).toEqual([null, null, 1])
    expect([await items.update(id, { place: 1 }), await items.increment(id, 'place', 1), await items.take(id)]).toEqual([null, null, null])
    expect([await items.delete(id), (await items.find({ where: { group } })).rows.length]).toEqual([false, 1])
    // Another row takes the key, and the same id.
    await items.create({ group, name: 'a' })
    await items.create({ id, group, name: 'c', until: new Date(now() + 1000) })
    expect(await items.update(late.id, { name: 'd' })).toMatchObject({ name: 'd' })
    ahead(2000)
    expect(await items.update(late.id, { name: 'c' })).toMatchObject({ name: 'c' })
  })

  it('expired rows are removed, and no others', async () => {
    const { ahead, now, store } = host()
    const items = await host().items()
    const group = unique()
    for (let at = 0; at < 5; at++) await items.create({ group, name: `${at}`, until: new Date(now() + 1000) })
    await items.create({ group, name: 'later', until: new Date(now() + 600_000) })
    await items.create({ group, name: 'never' })
    ahead(2000)
    expect(await store.deleteExpired('contractItem', now(), 2)).toBeLessThanOrEqual(2)
    while ((await store.deleteExpired('contractItem', now(), 1000)) > 0);
    expect((await items.find({ where: { group }, order: 'asc' })).rows.map(({ name }) => name).sort()).toEqual(['later', 'never'])
  })

  it('tenants do not meet', async () => {
    const [acme, other] = [await host().items('acme'), await host().items('other')]
    const group = unique()
    const made = await acme.create({ group, name: 'a', secret: 'mine' })
    expect([await other.get(made.id), await other.get({ group, name: 'a' }), await other.count({ group })]).toEqual([null, null, 0])
    expect([await other.update(made.id, { place: 1 }), await other.take(made.id), await other.delete(made.id)]).toEqual([null, null, false])
    expect(await other.deleteWhere({ where: { group } })).toBe(0)
    await other.create({ id: made.id, group, name: 'a' })
    expect(await acme.get(made.id)).toEqual(made)
  })

  it('sealed fields are not readable in the store, and cannot be moved to another row', async () => {
    const { now, store } = host()
    const items = await host().items()
    const group = unique()
    const one = await items.create({ group, name: 'one', secret: 'attack at dawn' })
    const two = await items.create({ group, name: 'two', secret: 'retreat' })
    const [left, right] = [
      await store.get('contractItem', '', { id: one.id }, now()),
      await store.get('contractItem', '', { id: two.id }, now()),
    ]
    expect(JSON.stringify([left, right])).not.toMatch(/dawn|retreat/)
    await store.write([{ op: 'put', table: 'contractItem', row: { ...left!, secret: right!['secret']! } }], now())
    expect([(await items.get(one.id))?.secret, (await items.get(two.id))?.secret]).toEqual([null, 'retreat'])
  })

  it('deleting a user deletes what the user owns, of every tenant, and nothing else', async (context) => {
    const adapter = await options.adapter?.()
    if (!adapter) return context.skip('options.adapter is not given')
    const [items, acme] = [await host().items(), await host().items('acme')]
    const group = unique()
    const [user, other] = [await adapter.createUser!(newUser()), await adapter.createUser!(newUser())]
    for (const [at, owner] of [user.id, user.id, other.id, null].entries()) await items.create({ group, name: `${at}`, owner })
    await acme.create({ group, name: 'a', owner: user.id })
    await adapter.deleteUser!(user.id)
    expect((await items.find({ where: { group } })).rows.map(({ name }) => name).sort()).toEqual(['2', '3'])
    expect([await items.count({ owner: user.id }), await acme.count({ group })]).toEqual([0, 0])
    await adapter.deleteUser!(other.id)
    expect(await items.count({ group })).toBe(1)
  })
}
