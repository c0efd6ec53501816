/** docs/speed.md is what `bench/` has written: figures of a run, for every row, and nothing that was typed in. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { root } from './_sources.ts'

interface Figures {
  rows: { rows: Record<string, { authkernel: { cpu: number; jobs: number } }> }
  weight: object
  scale: {
    plans: string[]
    queries: Record<string, number>
    express: Record<'PostgreSQL' | 'Redis', Record<string, Record<string, Record<string, number | { perSecond: number }>>>>
  }
}
const load = async (file: string): Promise<unknown> => import(pathToFileURL(join(root, 'bench', file)).href)
const figures = JSON.parse(readFileSync(join(root, 'bench/figures.json'), 'utf8')) as Figures

it('docs/speed.md is made of bench/figures.json', async () => {
  const { render } = (await load('report.mjs')) as { render(figures: Figures): string }
  expect(readFileSync(join(root, 'docs/speed.md'), 'utf8')).toBe(render(figures))
})

it('every row was measured, and none of ours takes a job of the thread pool', async () => {
  const { rows } = (await load('rows.mjs')) as { rows: object }
  expect(Object.keys(figures.rows.rows)).toEqual(Object.keys(rows))
  for (const [name, { authkernel }] of Object.entries(figures.rows.rows)) expect([name, authkernel.jobs]).toEqual([name, 0])
})

it('a session read is one query, found by an index', () => {
  expect(figures.scale.queries['authkernel']).toBe(1)
  expect(figures.scale.plans).toHaveLength(5)
  for (const plan of figures.scale.plans) expect(plan).toMatch(/ by \S+(_key|_pkey|_idx)/)
})

it('sign-ins through Express were measured at each level over both stores, with few queries', () => {
  const { PostgreSQL, Redis } = figures.scale.express
  for (const store of [PostgreSQL, Redis]) {
    for (const operation of ['read', 'sign-up', 'return']) expect(Object.keys(store[operation]!)).toEqual(['1', '16', '128'])
  }
  const { queries } = PostgreSQL
  expect(queries!['read']!['authkernel']).toBe(1)
  expect(queries!['sign-up']!['authkernel']).toBeLessThanOrEqual(9)
  expect(queries!['return']!['authkernel']).toBeLessThanOrEqual(5)
})
