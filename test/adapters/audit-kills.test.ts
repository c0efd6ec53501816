/** A durable audit log: processes that are killed in the middle of changes have kept a record of every change that they answered. */
import { afterAll, describe, expect, it } from 'vitest'
import { auditedHost } from './_audited.ts'
import { reachable } from './_servers.ts'
import { dropStore, newDatabase, openStore, type SqlSpec } from './_stores.ts'
import { startWorkers } from './_workers.ts'

const there = { libsql: true, postgres: await reachable('postgres'), mysql: await reachable('mysql') }
const opened: SqlSpec[] = []
afterAll(async () => void (await Promise.all(opened.map((spec) => dropStore(spec)))))

/** Three processes change passwords and are killed; answers the users whose change was answered, and those with a record. */
async function killed(kind: SqlSpec['kind'], durable: boolean): Promise<{ answered: string[]; kept: string[]; faults: readonly string[] }> {
  const spec = await newDatabase(kind)
  opened.push(spec)
  const adapter = openStore(spec)
  const auth = auditedHost(adapter, durable)
  await (adapter as unknown as { records: { migrate(options: { apply: boolean }): Promise<unknown> } }).records.migrate({ apply: true })
  await auth.ready()
  const workers = await startWorkers(3, spec)
  await Promise.all(workers.map((worker) => worker.ask({ do: 'audit', durable })))
  await expect.poll(() => Math.min(...workers.map(({ told }) => told.length)), { timeout: 20_000 }).toBeGreaterThan(5)
  await Promise.all(workers.map((worker) => worker.kill()))
  const kept: string[] = []
  for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
    const page = await auth.audit.list({ name: 'password.changed', limit: 1000, cursor })
    kept.push(...page.records.map(({ subject }) => subject!.id!))
    cursor = page.cursor
  }
  const { faults } = await auth.audit.verify()
  await auth.close()
  return { answered: workers.flatMap(({ told }) => told.map(({ changed }) => String(changed))), kept, faults }
}

describe.each(['libsql', 'postgres', 'mysql'] as const)('%s', (kind) => {
  it.skipIf(!there[kind])(
    'durable: no answered change is without its record, none has two, and the chains are whole',
    async () => {
      const { answered, kept, faults } = await killed(kind, true)
      expect(answered.length).toBeGreaterThan(15)
      expect(answered.filter((user) => !kept.includes(user))).toEqual([])
      expect(new Set(kept).size).toBe(kept.length)
      // A kill between a record and the end of its chain leaves the end behind by what was not answered.
      expect(faults).toEqual([])
    },
    60_000,
  )
})

it('without it a killed process loses what waits: the test can fail', { timeout: 60_000 }, async () => {
  const { answered, kept } = await killed('libsql', false)
  expect(answered.filter((user) => !kept.includes(user)).length).toBeGreaterThan(0)
})
