/** Records of plugins: declaration, types, tenants, sealing, expiry, leases. What stores must do is proved by the contract. */
import { describe, expect, it } from 'vitest'
import { createKernel, type Context, type JobContext, type Kernel, type Plugin, RecordConflict, type RecordSpec } from 'authkernel/kernel'
import { listRows, readRows } from 'authkernel/kernel/stores'
import { memoryRecords, type RecordData } from 'authkernel/plugins/memory'
import { recordsPlugin } from 'authkernel/plugins/records'
import { jwtSessionPlugin } from 'authkernel/plugins/session-jwt'
import { tenantsPlugin } from 'authkernel/plugins/tenants'
import { baseConfig, fakeRuntime, secret } from '../_setup.ts'

declare module 'authkernel/kernel' {
  interface Records {
    member: { organizationId: string; userId: string; role: string; joined: Date; seen: number }
    note: { userId: string; body: string | null; extra: unknown; until: Date | null }
  }
}

const member: RecordSpec<{ organizationId: string; userId: string; role: string; joined: Date; seen: number }> = {
  fields: {
    organizationId: { type: 'string', max: 64 },
    userId: { type: 'string', max: 64 },
    role: { type: 'string', max: 64, default: 'member' },
    joined: { type: 'date' },
    seen: { type: 'integer', default: 0 },
  },
  unique: [['organizationId', 'userId']],
  index: [['organizationId', 'joined']],
  owner: 'user',
}
const note: RecordSpec<{ userId: string; body: string | null; extra: unknown; until: Date | null }> = {
  fields: {
    userId: { type: 'string' },
    body: { type: 'text', sealed: true, optional: true },
    extra: { type: 'json', optional: true },
    until: { type: 'date', optional: true },
  },
  index: [['userId']],
  expires: 'until',
}

function make({
  specs = { member, note },
  data = new Map() as RecordData,
  config = {},
}: { specs?: Record<string, RecordSpec<never>>; data?: RecordData; config?: object } = {}) {
  const runtime = fakeRuntime()
  const plugin: Plugin<{ run<T>(work: (ctx: JobContext) => Promise<T>, tenant?: string | null): Promise<T> }> = {
    name: 'p',
    setup(kernel: Kernel) {
      for (const [name, spec] of Object.entries(specs)) kernel.records(name, spec as never)
      return { run: (work, tenant = null) => kernel.job({ job: 'test', tenant }, work) }
    },
  }
  const auth = createKernel(baseConfig({ runtime, ...config }))
    .use(jwtSessionPlugin())
    .use(recordsPlugin(memoryRecords(data)))
    .use(tenantsPlugin({ tenant: (name) => ({ namespace: name }) }))
    .use(plugin)
  return { auth, runtime, data, run: auth.run }
}
const joined = new Date('2026-01-01T00:00:00.123Z')
const row = (organizationId: string, userId: string) => ({ organizationId, userId, joined })

describe('operations', () => {
  it('create, get by id and by unique key, update, increment, take', async () => {
    const { run } = make()
    await run(async (ctx) => {
      const members = ctx.records('member')
      const made = await members.create(row('o', 'u'))
      expect(made).toEqual({ id: expect.stringMatching(/^[\w-]{22}$/), organizationId: 'o', userId: 'u', role: 'member', joined, seen: 0 })
      expect(await members.get(made.id)).toEqual(made)
      expect(await members.get({ organizationId: 'o', userId: 'u' })).toEqual(made)
      expect(await members.update(made.id, { role: 'owner' }, { if: { role: 'member' } })).toMatchObject({ role: 'owner' })
      expect(await members.update(made.id, { role: 'x' }, { if: { role: 'member' } })).toBeNull()
      expect(await members.increment(made.id, 'seen', 2, { max: 3 })).toBe(2)
      expect(await members.increment(made.id, 'seen', 2, { max: 3 })).toBeNull()
      const [first, second] = await Promise.all([members.take(made.id), members.take(made.id)])
      expect([first?.seen, second]).toEqual([2, null])
    })
  })

  it('all rows of a query are listed, whatever the number of pages, and may be deleted while they are read', async () => {
    const { run } = make()
    await run(async (ctx) => {
      const members = ctx.records('member')
      const at = (place: number) => new Date(joined.getTime() + place)
      await members.createMany([...Array(5).keys()].map((place) => ({ ...row('o', `u${place}`), joined: at(place) })))
      await members.create(row('other', 'u0'))
      const query = { where: { organizationId: 'o' }, limit: 2 }
      const names = ['u0', 'u1', 'u2', 'u3', 'u4']
      expect((await listRows(members, query)).map(({ userId }) => userId)).toEqual(names)
      expect((await listRows(members, { ...query, order: 'desc', range: { joined: { lte: at(3) } } })).map(({ userId }) => userId)).toEqual(
        ['u3', 'u2', 'u1', 'u0'],
      )
      const seen: string[] = []
      for await (const { id, userId } of readRows(members, query)) {
        seen.push(userId)
        await members.delete(id)
      }
      expect(seen).toEqual(names)
      expect([await listRows(members, query), (await listRows(members)).length]).toEqual([[], 1])
    })
  })

  it('a taken key is a RecordConflict that names its fields', async () => {
    const { run } = make()
    await run(async (ctx) => {
      await ctx.records('member').create(row('o', 'u'))
      const again = ctx.records('member').create(row('o', 'u'))
      await expect(again).rejects.toMatchObject({ type: 'RecordConflict', record: 'member', fields: ['organizationId', 'userId'] })
      await expect(again).rejects.toBeInstanceOf(RecordConflict)
    })
  })

  it('pages by a cursor that survives inserts and deletes; a foreign cursor is a 400', async () => {
    const { run } = make()
    await run(async (ctx) => {
      const members = ctx.records('member')
      await members.createMany(Array.from({ length: 25 }, (_, i) => ({ ...row('o', `u${i}`), joined: new Date(1000 * Math.floor(i / 2)) })))
      const seen: string[] = []
      let cursor: string | undefined
      do {
        const page = await members.find({ where: { organizationId: 'o' }, order: 'desc', limit: 10, cursor })
        seen.push(...page.rows.map(({ userId }) => userId))
        cursor = page.cursor
        await members.take({ organizationId: 'o', userId: page.rows[0]!.userId })
        await members.create({ ...row('o', `new${seen.length}`), joined: new Date(99_000_000) })
      } while (cursor)
      expect([...new Set(seen)].sort()).toEqual(Array.from({ length: 25 }, (_, i) => `u${i}`).sort())
      expect(await members.count({ organizationId: 'o' })).toBe(25)
      expect(await members.count({ organizationId: 'o' }, { range: { joined: { gte: new Date(99_000_000) } } })).toBe(3)
      await expect(members.find({ where: { organizationId: 'o' }, cursor: 'not a cursor' })).rejects.toMatchObject({ status: 400 })
    })
  })

  it('a query without an index says which one to declare', async () => {
    const { run } = make()
    await run(async (ctx) => {
      await expect(ctx.records('member').find({ where: { role: 'owner' } })).rejects.toThrow("Add `index: [['role']]` to its declaration")
      await expect(ctx.records('member').get({ role: 'owner' })).rejects.toThrow("declare `unique: [['role']]`")
    })
  })

  it('atomic writes are all or none', async () => {
    const { run } = make()
    await run(async (ctx) => {
      const { id } = await ctx.records('member').create(row('o', 'u'))
      expect(
        await ctx.atomic([
          { record: 'member', increment: id, field: 'seen', by: 1 },
          { record: 'note', create: { id: 'n', userId: 'u' } },
        ]),
      ).toMatchObject([1, { id: 'n' }])
      expect(
        await ctx.atomic([
          { record: 'note', delete: 'n' },
          { record: 'member', update: id, change: { role: 'x' }, if: { role: 'nobody' } },
        ]),
      ).toBe(false)
      expect(await ctx.records('note').get('n')).not.toBeNull()
      expect(
        await ctx.atomic([
          { record: 'note', delete: 'n' },
          { record: 'member', create: row('o', 'u') },
        ]),
      ).toBe(false)
      expect(await ctx.records('note').get('n')).not.toBeNull()
    })
  })

  it.each([
    ['an unknown field', { nope: 1 }, 'has no field "nope"'],
    ['a wrong type', { seen: 'x' }, 'takes a integer'],
    ['too long a text', { role: 'x'.repeat(65) }, 'at most 64 characters'],
    ['a NUL', { role: 'a\0b' }, 'cannot be stored'],
    ['half a character', { role: '\ud800' }, 'cannot be stored'],
    ['a number that is not safe', { seen: 2 ** 53 }, 'takes a integer'],
    ['no date', { joined: new Date(Number.NaN) }, 'takes a date'],
  ])('%s is refused', async (_, more, message) => {
    await make().run(async (ctx) => {
      await expect(ctx.records('member').create({ ...row('o', 'u'), ...(more as object) })).rejects.toThrow(message)
    })
  })
})

it('a row whose `expires` has passed is gone for reads, writes and unique keys, at the millisecond', async () => {
  const { run, runtime } = make({ specs: { note: { ...note, unique: [['userId']] } as never } })
  await run(async (ctx) => {
    const notes = ctx.records('note')
    const { id } = await notes.create({ userId: 'u', until: new Date(runtime.now() + 1000) })
    runtime.advance(999)
    expect(await notes.get(id)).not.toBeNull()
    await expect(notes.create({ userId: 'u' })).rejects.toBeInstanceOf(RecordConflict)
    runtime.advance(1)
    expect([await notes.get(id), await notes.update(id, { extra: 1 }), await notes.take(id)]).toEqual([null, null, null])
    await notes.create({ userId: 'u' })
  })
})

it('tenants do not meet, also with one secret', async () => {
  const { run } = make()
  const made = await run((ctx) => ctx.records('member').create(row('o', 'u')), 'a')
  await run(async (ctx) => {
    expect(await ctx.records('member').get(made.id)).toBeNull()
    expect(await ctx.records('member').get({ organizationId: 'o', userId: 'u' })).toBeNull()
    await ctx.records('member').create(row('o', 'u'))
    expect(await ctx.records('member').count({ organizationId: 'o' })).toBe(1)
  }, 'b')
})

describe('sealed fields', () => {
  it('are not readable in the store, open under former secrets, and cannot be moved to another row', async () => {
    const data: RecordData = new Map()
    const old = make({ data, config: { secret: 'an-older-secret-of-more-than-32-characters' } })
    const first = await old.run((ctx) => ctx.records('note').create({ userId: 'u', body: 'attack at dawn' }))
    const now = make({ data, config: { secret: [secret, 'an-older-secret-of-more-than-32-characters'] } })
    const second = await now.run((ctx) => ctx.records('note').create({ userId: 'u', body: 'retreat' }))
    expect(JSON.stringify([...data.get('note')!.values()])).not.toMatch(/dawn|retreat/)
    await now.run(async (ctx) => {
      expect((await ctx.records('note').get(first.id))?.body).toBe('attack at dawn')
      const rows = data.get('note')!
      const [a, b] = [...rows.keys()] as [string, string]
      rows.set(a, { ...rows.get(a)!, body: rows.get(b)!['body']! })
      expect((await ctx.records('note').get(first.id))?.body).toBeNull()
      expect((await ctx.records('note').get(second.id))?.body).toBe('retreat')
    })
  })
  it('hold texts and null; JSON keeps its shape', async () => {
    await make().run(async (ctx) => {
      const notes = ctx.records('note')
      const { id } = await notes.create({ userId: 'u', body: null, extra: { a: [1, 'x', null] } })
      expect(await notes.get(id)).toEqual({ id, userId: 'u', body: null, extra: { a: [1, 'x', null] }, until: null })
    })
  })
})

describe('declarations', () => {
  it.each([
    ['a bad name', 'Thing', { fields: {} }, 'needs a name'],
    ['a reserved field', 'thing', { fields: { id: { type: 'string' } } }, 'neither "id" nor "ns"'],
    ['an index on a text', 'thing', { fields: { a: { type: 'text' } }, index: [['a']] }, 'cannot be indexed'],
    ['an index without a field', 'thing', { fields: {}, index: [['a']] }, 'no field "a"'],
    [
      'a key that is too wide',
      'thing',
      { fields: { a: { type: 'string', max: 400 }, b: { type: 'string', max: 400 } }, unique: [['a', 'b']] },
      '800 characters',
    ],
    [
      'five columns',
      'thing',
      { fields: Object.fromEntries([...'abcde'].map((f) => [f, { type: 'integer' }])), index: [[...'abcde']] },
      'one to 4 fields',
    ],
    ['an expiry that is no date', 'thing', { fields: { a: { type: 'string' } }, expires: 'a' }, 'must be a "date"'],
    ['an owner that is no text', 'thing', { fields: { userId: { type: 'integer' } }, owner: 'user' }, 'must be a "string"'],
    ['a sealed number', 'thing', { fields: { a: { type: 'integer', sealed: true } } }, 'must be of type "text" or "json"'],
  ])('%s is a fault that names plugin and record', async (_, name, spec, message) => {
    await expect(make({ specs: { [name]: spec as never } }).auth.ready()).rejects.toThrow(
      new RegExp(`Plugin "p": the record "${name}".*${message.replace(/[.()[\]]/g, '\\$&')}`),
    )
  })

  it('a record belongs to one plugin', async () => {
    const { auth } = make()
    auth.use({ name: 'q', setup: (kernel) => kernel.records('member', { ...member }) })
    await expect(auth.ready()).rejects.toThrow('The record "member" of plugin "q" is declared by plugin "p"')
  })

  it('without the service the fault names the three ways to get it', async () => {
    const auth = createKernel(baseConfig())
      .use(jwtSessionPlugin())
      .use({ name: 'p', setup: (kernel) => kernel.records('member', member) })
    await expect(auth.ready()).rejects.toThrow(/Plugin "p" keeps the record "member".*sqlRecords.*unstorageRecords.*memoryRecords/)
  })
})

describe.each(['with records', 'without'])('leases %s', (kind) => {
  const world = () => {
    if (kind === 'with records') return make()
    const runtime = fakeRuntime()
    const plugin: Plugin<{ run<T>(work: (ctx: JobContext) => Promise<T>): Promise<T> }> = {
      name: 'p',
      setup: (kernel) => ({ run: (work) => kernel.job({ job: 'test' }, work) }),
    }
    return { runtime, run: createKernel(baseConfig({ runtime })).use(jwtSessionPlugin()).use(plugin).run }
  }
  it('have one holder until they end, are renewed or released', async () => {
    const { run, runtime } = world()
    await run(async (ctx: Pick<Context, 'lease'>) => {
      const [one, two] = await Promise.all([ctx.lease('job', 10), ctx.lease('job', 10)])
      const held = (one ?? two)!
      expect([one, two].filter(Boolean)).toHaveLength(1)
      runtime.advance(9_000)
      expect([await ctx.lease('job', 10), await held.renew(10)]).toEqual([null, true])
      runtime.advance(9_999)
      expect(await ctx.lease('job', 10)).toBeNull()
      runtime.advance(1)
      const next = await ctx.lease('job', 10)
      expect([await held.renew(10), next === null]).toEqual([false, false])
      await held.release()
      expect(await ctx.lease('job', 10)).toBeNull()
      await next!.release()
      expect(await ctx.lease('job', 10)).not.toBeNull()
    })
  })

  it('take keys of any length, and tell long ones apart', async () => {
    const { run } = world()
    await run(async (ctx: Pick<Context, 'lease'>) => {
      const key = `address ${'ü'.repeat(64)}@${'long.'.repeat(40)}example`
      const held = await ctx.lease(`${key}1`, 10)
      expect([held === null, await ctx.lease(`${key}1`, 10), (await ctx.lease(`${key}2`, 10)) === null]).toEqual([false, null, false])
      await held!.release()
      expect(await ctx.lease(`${key}1`, 10)).not.toBeNull()
    })
  })
})
