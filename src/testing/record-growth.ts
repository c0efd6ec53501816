/** Rules of records: a field and an index that are added to rows that are there. */
import type { RecordSpec } from 'authkernel/kernel'
import { expect, it } from './runner.ts'
import { createRecordHost } from './record-host.ts'
import type { RecordSubject } from './record-options.ts'

interface Before extends Record<string, unknown> {
  group: string
  name: string
}
interface After extends Before {
  role: string
  seen: Date | null
  rank: number
}

const before: RecordSpec<Before> = {
  fields: { group: { type: 'string', max: 64 }, name: { type: 'string', max: 64 } },
  unique: [['group', 'name']],
}
const after: RecordSpec<After> = {
  ...before,
  fields: {
    ...before.fields,
    role: { type: 'string', max: 64, default: "it's a member" },
    seen: { type: 'date', optional: true },
    rank: { type: 'integer', default: -7 },
  },
  index: [['role', 'name'], ['rank']],
}

export function growthRules({ host, options }: RecordSubject): void {
  it('a field and an index that come later count for rows that are there', async () => {
    const { store } = host()
    const rows = options.rows ?? 10_000
    // A name of its own: the table must be new.
    const name = `grown${Math.random()
      .toString(36)
      .replaceAll(/[^a-z]/g, '')}`
    // The names of the fields are no matter of `createRecordHost`.
    const early = createRecordHost(store, { [name]: before as never })
    await store.migrate?.({ apply: true })
    const table = await early.table<Before>(name)
    for (let at = 0; at < rows; at += 500) {
      const batch = [...Array(Math.min(500, rows - at)).keys()].map((each) => ({ group: 'g', name: String(at + each).padStart(6, '0') }))
      await table.createMany(batch)
    }
    const late = createRecordHost(store, { [name]: after as never }) // As above.
    const grown = await late.table<After>(name)
    if (store.missing && (await store.missing()).length > 0) {
      // Asked before it is made, a store names the command or answers rightly.
      await grown.find({ where: { role: 'x' } }).then(
        ({ rows: found }) => expect(found).toEqual([]),
        (error: { cause?: { err?: Error } }) => expect(String(error.cause?.err)).toContain('authkernel migrate --apply'),
      )
    }
    await store.migrate?.({ apply: true })
    expect((await store.missing?.()) ?? []).toEqual([])
    const page = await grown.find({ where: { role: "it's a member" }, range: { name: { gte: '000100' } }, limit: 3 })
    expect(page.rows).toMatchObject([
      { name: '000100', role: "it's a member", seen: null, rank: -7 },
      { name: '000101' },
      { name: '000102' },
    ])
    await grown.update(page.rows[0]!.id, { role: 'owner', seen: new Date(5) })
    expect((await grown.find({ where: { role: 'owner' } })).rows).toMatchObject([{ name: '000100', seen: new Date(5), rank: -7 }])
    expect(await grown.increment(page.rows[1]!.id, 'rank', 8)).toBe(1)
    expect((await grown.find({ range: { rank: { gt: -7 } } })).rows).toMatchObject([{ name: '000101' }])
    expect(await grown.count({ role: "it's a member" }, { max: 200 })).toBe(Math.min(200, rows - 1))
    expect(await grown.deleteWhere({ where: { role: "it's a member" } })).toBe(rows - 1)
    expect(await grown.count()).toBe(1)
  }, 120_000)
}
