/** The ledger of moves: what a second run does when the source, this side, both or neither changed. */
import { createAuth } from 'authkernel'
import { type AnyContext, type ImportTarget, jobFor, type Kernel, type Plugin } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import {
  decideGone,
  decideRow,
  importPlugin,
  type ImportRun,
  type KindReport,
  listOpen,
  newKindReport,
  problemsOf,
  removeGone,
  type SourceRow,
  importPages,
} from 'authkernel/plugins/import'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { describe, expect, it } from 'vitest'
import { baseConfig } from '../_setup.ts'

describe('decisions', () => {
  const here = (version: string, same = false) => ({ version, same })
  const taken = { digest: 'd1', version: 'v1' }
  it.each([
    ['never taken, nothing here', undefined, 'd1', undefined, 'new'],
    ['never taken, the same here', undefined, 'd1', here('x', true), 'unchanged'],
    ['never taken, something else here', undefined, 'd1', here('x'), 'conflict'],
    ['neither changed', taken, 'd1', here('v1'), 'unchanged'],
    ['the source changed', taken, 'd2', here('v1'), 'refreshed'],
    ['this side changed', taken, 'd1', here('v2'), 'kept'],
    ['removed here', taken, 'd1', undefined, 'kept'],
    ['both changed', taken, 'd2', here('v2'), 'conflict'],
    ['both changed to the same', taken, 'd2', here('v2', true), 'unchanged'],
    ['removed here, changed there', taken, 'd2', undefined, 'conflict'],
    ['kept before, the source changed since', { digest: 'd1', version: null }, 'd2', here('v1'), 'conflict'],
  ] as const)('%s', (_, entry, digest, state, wanted) => expect(decideRow(entry, digest, state)).toBe(wanted))

  it.each([
    ['unchanged here', here('v1'), 'removed'],
    ['changed here', here('v2'), 'conflict'],
    ['gone here too', undefined, 'kept'],
  ] as const)('gone at the source, %s', (_, state, wanted) => expect(decideGone(taken, state)).toBe(wanted))
})

/** A plugin with one value per key, and a source that is a map. */
async function world() {
  const mine = new Map<string, { value: string; version: string }>()
  let count = 0
  const target: ImportTarget<string> = {
    refuse: (_ctx, value) => (value === '' ? 'the value is empty' : undefined),
    read: async (_ctx, rows) =>
      rows.map(({ key, value }) => {
        const found = mine.get(key)
        return found && { version: found.version, same: found.value === value }
      }),
    write: async (_ctx, rows) =>
      rows.map(({ key, value, over }) => {
        if (mine.get(key)?.version !== over) return undefined
        const version = `v${++count}`
        mine.set(key, { value, version })
        return version
      }),
    remove: async (_ctx, rows) => rows.filter(({ key, version }) => mine.get(key)?.version === version && mine.delete(key)).length,
  }
  const kernels: Kernel[] = []
  const looks: Plugin = { name: 'looks', setup: (kernel) => void kernels.push(kernel) }
  const auth = createAuth(baseConfig())
    .use(adapterPlugin(memoryAdapter(memoryData())))
    .use(importPlugin())
    .use(looks)
  await auth.ready()
  const ctx: AnyContext = await kernels[0]!.contextOf(jobFor('import'))
  const source = new Map<string, string>()
  const kind = { source: 'other', kind: 'thing', target }
  const run = async (how: ImportRun = { apply: true }): Promise<KindReport> => {
    const rows = [...source].map(([key, value]): SourceRow<string> => ({ key, value, userId: null }))
    const report = await importPages(ctx, kind, [rows], how)
    await removeGone(ctx, kind, (keys) => new Set(keys.filter((key) => source.has(key))), how, report)
    return report
  }
  /** A user changes it here. */
  const change = (key: string, value: string) => mine.set(key, { value, version: `own${++count}` })
  const values = () => Object.fromEntries([...mine].map(([key, { value }]) => [key, value]))
  return { mine, source, run, change, values, ctx, kind, target }
}

describe('a second run', () => {
  it('refreshes what changed there, keeps what changed here, and lists what changed on both sides', async () => {
    const { mine, source, run, change, values } = await world()
    for (const key of ['same', 'there', 'here', 'both', 'dropped', 'gone', 'gone-changed']) source.set(key, 'first')
    expect(await run({ apply: false })).toMatchObject({ found: 7, new: 7 })
    expect(mine.size).toBe(0)
    expect(await run()).toMatchObject({ found: 7, new: 7, open: 0 })
    expect(await run()).toMatchObject({ found: 7, unchanged: 7 })
    for (const key of ['there', 'both']) source.set(key, 'second')
    for (const key of ['here', 'both', 'gone-changed']) change(key, 'mine')
    mine.delete('dropped')
    for (const key of ['gone', 'gone-changed']) source.delete(key)
    const dry = await run({ apply: false })
    const counts = { found: 5, unchanged: 1, refreshed: 1, kept: 2, conflict: 2, removed: 1, conflicts: ['both', 'gone-changed'], open: 2 }
    expect(dry).toMatchObject(counts)
    expect(await run()).toMatchObject(counts)
    expect(values()).toEqual({ same: 'first', there: 'second', here: 'mine', both: 'mine', 'gone-changed': 'mine' })
    // Neither side was chosen, so they are asked again.
    expect(await run()).toMatchObject({ conflict: 2, refreshed: 0, open: 2 })
    expect(await run({ apply: true, conflicts: 'here' })).toMatchObject({ conflict: 2, open: 0 })
    expect(await run()).toMatchObject({ conflict: 0, unchanged: 2, kept: 3 })
    expect(values()['both']).toBe('mine')
  })

  it('the source wins where the operator says so, also over what was removed here', async () => {
    const { mine, source, run, change, values } = await world()
    for (const key of ['both', 'dropped', 'gone']) source.set(key, 'first')
    await run()
    for (const key of ['both', 'gone']) change(key, 'mine')
    mine.delete('dropped')
    for (const key of ['both', 'dropped']) source.set(key, 'second')
    source.delete('gone')
    expect(await run({ apply: true, conflicts: 'source' })).toMatchObject({ refreshed: 2, removed: 1, open: 0 })
    expect(values()).toEqual({ both: 'second', dropped: 'second' })
    expect(await run()).toMatchObject({ unchanged: 2 })
  })

  it('what was revoked here stays revoked, also when the source lost it for a while', async () => {
    const { mine, source, run } = await world()
    source.set('key', 'first')
    await run()
    mine.delete('key')
    expect(await run()).toMatchObject({ kept: 1 })
    source.delete('key')
    await run()
    source.set('key', 'first')
    expect(await run()).toMatchObject({ conflict: 1, conflicts: ['key'] })
    expect(mine.size).toBe(0)
  })

  it('what a run removed with the source is new when the source has it again, and a thing made here meanwhile is asked about', async () => {
    const { source, run, change, values } = await world()
    source.set('factor', 'first')
    await run()
    source.delete('factor')
    expect(await run()).toMatchObject({ removed: 1 })
    source.set('factor', 'second')
    expect(await run()).toMatchObject({ new: 1, conflict: 0, open: 0 })
    expect(values()).toEqual({ factor: 'second' })
    source.delete('factor')
    await run()
    change('factor', 'mine')
    source.set('factor', 'third')
    expect(await run()).toMatchObject({ conflict: 1, conflicts: ['factor'] })
    expect(values()).toEqual({ factor: 'mine' })
  })

  it('a run that was interrupted goes on, and two at once write each row once', async () => {
    const { ctx, source, run, values } = await world()
    for (let at = 0; at < 700; at++) source.set(`key ${at}`, 'first')
    await run()
    // The rows were written, and the process died before the ledger was.
    const { rows } = await ctx.records('importEntry').find({ limit: 400 })
    for (const { id } of rows) await ctx.records('importEntry').delete(id)
    expect(await run()).toMatchObject({ unchanged: 700, new: 0, open: 0 })
    source.set('one more', 'first')
    await Promise.all([run(), run()])
    expect(await run()).toMatchObject({ unchanged: 701 })
    expect(Object.keys(values())).toHaveLength(701)
  })

  it('says what cannot be stored, and stops until it is accepted by name', async () => {
    const { source, run } = await world()
    source.set('good', 'first').set('bad', '')
    const report = await run()
    expect(report).toMatchObject({ found: 2, new: 1, refused: 1 })
    const problems = problemsOf('thing', report)
    expect(problems).toMatchObject([{ name: 'thing-refused', level: 'loss', count: 1, examples: ['bad'] }])
    expect([listOpen(problems, []), listOpen(problems, ['thing-refused'])]).toEqual([['thing-refused'], []])
    expect(problemsOf('thing', newKindReport())).toEqual([])
  })
})

describe('a first run', () => {
  it('reads no page of what is here, and finds a key that the source has twice', async () => {
    const { mine, kind, target, ctx, change, values } = await world()
    let reads = 0
    const { read } = target
    Object.assign(target, {
      isEmpty: async () => mine.size === 0,
      read: async (...given: Parameters<typeof read>) => {
        reads += given[1].length
        return read(...given)
      },
    })
    const rowOf = (key: string, value: string): SourceRow<string> => ({ key, value, userId: null })
    const pages = function* () {
      yield [...Array(600).keys()].map((at) => rowOf(`k${at}`, 'first'))
      yield [rowOf('k0', 'first'), rowOf('k1', 'first')]
      // A user was faster than the run.
      change('late', 'mine')
      yield [rowOf('late', 'theirs')]
    }
    expect(await importPages(ctx, kind, pages(), { apply: false })).toMatchObject({ found: 603, new: 603 })
    mine.clear()
    expect(reads).toBe(0)
    const report = await importPages(ctx, kind, pages(), { apply: true })
    expect(report).toMatchObject({ found: 603, new: 600, conflict: 1, conflicts: ['late'] })
    expect(report.unchanged).toBe(2)
    expect([reads, mine.size, values()['late']]).toEqual([3, 601, 'mine'])
  })
})
