/** Records in a key-value store: what is deleted is what the query asks for at that moment. */
import type { StoredQuery, StoredTable } from 'authkernel/kernel'
import { unstorageRecords } from 'authkernel/plugins/unstorage'
import { createStorage } from 'unstorage'
import { expect, it } from 'vitest'

const visit: StoredTable = {
  name: 'visit',
  fields: [
    { name: 'userId', type: 'string', max: 64, optional: false, default: undefined },
    { name: 'rank', type: 'integer', max: 64, optional: true, default: undefined },
  ],
  unique: [],
  index: [['userId', 'rank']],
  owner: undefined,
  expires: undefined,
}
const low: StoredQuery = {
  ns: '',
  where: { userId: 'ada' },
  by: 'rank',
  index: ['userId', 'rank'],
  range: { gt: -5, gte: -4, lt: 11, lte: 10 },
  order: 'asc',
  limit: 100,
  after: undefined,
}

it('`deleteWhere` leaves a row whose field has left the range since it was found', async () => {
  const storage = createStorage()
  const records = unstorageRecords(storage)
  records.define([visit])
  const ranks: Record<string, number | null> = { a: 1, b: 2, c: 10, d: -4 }
  for (const [id, rank] of Object.entries(ranks))
    await records.write([{ op: 'create', table: 'visit', row: { ns: '', id, userId: 'ada', rank } }], 0)
  const read = storage.getItem.bind(storage)
  const changes: Record<string, number | null> = { a: 11, b: null, c: -5 }
  // Another process changes the row as soon as it was found.
  storage.getItem = (async (path: string) => {
    const value = await read(path)
    const { id } = (value ?? {}) as { id?: string }
    if (path.includes('rec:row:visit:') && id !== undefined && id in changes) {
      await storage.setItem(path, JSON.stringify({ ...(value as object), rank: changes[id] }))
      delete changes[id]
    }
    return value
  }) as typeof storage.getItem
  expect(await records.deleteWhere('visit', low, 0)).toBe(1)
  for (const [id, rank] of Object.entries({ a: 11, b: null, c: -5 }))
    expect(await records.get('visit', '', { id }, 0)).toMatchObject({ rank })
  expect(await records.get('visit', '', { id: 'd' }, 0)).toBeNull()
})
