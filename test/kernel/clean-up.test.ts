/** auth.cleanup() and auth.reseal(): what has ended goes, interrupted deletions end, sealed fields move to the newest secret. */
import { createKernel, type JobContext, type Plugin, type RecordStore } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter, memoryData, memoryRecords, type RecordData } from 'authkernel/plugins/memory'
import { recordsPlugin } from 'authkernel/plugins/records'
import { jwtSessionPlugin } from 'authkernel/plugins/session-jwt'
import { tenantsPlugin } from 'authkernel/plugins/tenants'
import { expect, it } from 'vitest'
import { baseConfig, fakeRuntime, secret } from '../_setup.ts'

const former = 'a-former-secret-of-more-than-32-characters'

function make({
  data = new Map() as RecordData,
  people = memoryData(),
  wrap = (records: RecordStore) => records,
  secrets = [secret],
}: { data?: RecordData; people?: ReturnType<typeof memoryData>; wrap?: (records: RecordStore) => RecordStore; secrets?: string[] } = {}) {
  const runtime = fakeRuntime()
  const plugin: Plugin<{ run<T>(work: (ctx: JobContext) => Promise<T>, tenant?: string | null): Promise<T> }> = {
    name: 'p',
    setup(kernel) {
      const userId = { type: 'string' } as const
      kernel.records('code', { fields: { userId, until: { type: 'date' } }, owner: 'user', expires: 'until' })
      kernel.records('key', {
        fields: { userId, secret: { type: 'text', sealed: true, optional: true }, n: { type: 'integer', default: 0 } },
        owner: 'user',
      })
      return { run: (work, tenant = null) => kernel.job({ job: 'test', tenant }, work) }
    },
  }
  const auth = createKernel(baseConfig({ runtime, secret: secrets }))
    .use(jwtSessionPlugin())
    .use(adapterPlugin(memoryAdapter(people)))
    .use(recordsPlugin(wrap(memoryRecords(data))))
    .use(tenantsPlugin({ tenant: (name) => ({ namespace: name }) }))
    .use(plugin)
  return { auth, runtime, data, people }
}

it('cleanup removes what has ended, of all tenants, in batches of 1000, and tells its progress', async () => {
  const asked: number[] = []
  const { auth, runtime, data, people } = make({
    wrap: (records) => ({
      ...records,
      deleteExpired(name, now, limit) {
        if (name === 'code') asked.push(limit)
        return records.deleteExpired(name, now, limit)
      },
    }),
  })
  const until = new Date(runtime.now() + 1000)
  const expires = new Date(runtime.now() + 500)
  people.sessions.set('s', { sessionToken: 's', userId: 'u', expires })
  people.tokens.set('t', { identifier: 'i', token: 't', expires })
  for (const tenant of [null, 'acme'])
    await auth.run(async (ctx) => {
      for (let at = 0; at < 2; at++) {
        await ctx.records('code' as never).createMany(Array.from({ length: 400 }, (_, n) => ({ userId: `${n}`, until })) as never)
      }
      await ctx.records('code' as never).create({ userId: 'later', until: new Date(runtime.now() + 9000) } as never)
    }, tenant)
  runtime.advance(1000)
  const progress: number[] = []
  expect(await auth.cleanup({ onProgress: ({ records }) => void progress.push(records['code'] ?? 0) })).toMatchObject({
    records: { code: 1600 },
    sessions: 1,
    tokens: 1,
    erasures: 0,
  })
  expect(asked).toEqual([1000, 1000])
  expect(progress.slice(0, 2)).toEqual([1000, 1600])
  expect([data.get('code')!.size, people.sessions.size, data.get('lease')!.size]).toEqual([2, 0, 0])
})

it('one process cleans up at a time', async () => {
  const { auth } = make()
  const answers = await Promise.all([auth.cleanup(), auth.cleanup(), auth.cleanup()])
  expect(answers.filter((answer) => answer === null)).toHaveLength(2)
  expect(await auth.cleanup()).not.toBeNull()
})

it('cleanup finishes the deletion of a user that a crash interrupted, and leaves alone who is still there', async () => {
  let [killed, before] = [true, false]
  const { auth, data, people } = make({
    wrap: (records) => ({
      ...records,
      deleteWhere(...args) {
        if (killed) throw new Error('killed')
        return records.deleteWhere(...args)
      },
      write(...args) {
        const done = records.write(...args)
        if (before && args[0][0]?.table === 'erasure') throw new Error('killed')
        return done
      },
    }),
  })
  for (const tenant of [null, 'acme'])
    await auth.run(async (ctx) => {
      for (const name of ['gone', 'there']) {
        const user = await ctx.store!.createUser({ id: `${name}${tenant}`, email: `${name}@example.com`, emailVerified: null })
        await ctx.records('key' as never).create({ userId: user.id } as never)
      }
      await expect(ctx.store!.deleteUser(`gone${tenant}`)).rejects.toThrow()
      before = true
      await expect(ctx.store!.deleteUser(`there${tenant}`)).rejects.toThrow()
      before = false
    }, tenant)
  expect([people.users.size, data.get('key')!.size, data.get('erasure')!.size]).toEqual([2, 4, 4])
  killed = false
  expect(await auth.cleanup()).toMatchObject({ erasures: 4 })
  expect([...data.get('key')!.values()].map((row) => row['userId']).sort()).toEqual(['thereacme', 'therenull'])
  expect(data.get('erasure')!.size).toBe(0)
})

it('reseal moves sealed fields to the newest secret, and says what none opens', async () => {
  const data: RecordData = new Map()
  const old = make({ data, secrets: [former] })
  const ids: string[] = []
  for (let at = 0; at < 3; at++)
    await old.auth.run(async (ctx) => {
      const row = await ctx.records('key' as never).create({ userId: 'u', secret: at === 2 ? null : `s${at}` } as never)
      ids.push((row as { id: string }).id)
    })
  expect(await make({ data, secrets: [secret] }).auth.reseal({ tenant: null })).toEqual({ resealed: 0, unreadable: 2 })
  const both = make({ data, secrets: [secret, former] })
  expect(await both.auth.reseal({ tenant: null })).toEqual({ resealed: 2, unreadable: 0 })
  const now = make({ data, secrets: [secret] })
  await now.auth.run(async (ctx) => {
    expect(await ctx.records('key' as never).get(ids[0]!)).toMatchObject({ secret: 's0' })
    expect(await ctx.records('key' as never).get(ids[2]!)).toMatchObject({ secret: null })
  })
})

it('reseal does not undo what is written meanwhile', async () => {
  const data: RecordData = new Map()
  const old = make({ data, secrets: [former] })
  const row = (await old.auth.run((ctx) => ctx.records('key' as never).create({ userId: 'u', secret: 'old' } as never))) as { id: string }
  let raced = false
  const both = make({
    data,
    secrets: [secret, former],
    wrap: (records) => ({
      ...records,
      async find(...args) {
        const found = await records.find(...args)
        if (args[0] === 'key' && !raced) {
          raced = true
          await both.auth.run((ctx) => ctx.records('key' as never).update(row.id, { secret: 'new' } as never))
        }
        return found
      },
    }),
  })
  await both.auth.reseal({ tenant: null })
  await both.auth.run(async (ctx) => expect(await ctx.records('key' as never).get(row.id)).toMatchObject({ secret: 'new' }))
})
