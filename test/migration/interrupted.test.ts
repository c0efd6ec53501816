/** A process that imports is killed in the middle: the next run ends with the same rows, and the one after it changes nothing. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { reachable } from '../adapters/_servers.ts'
import { dropStore, newDatabase, openOutside, type SqlSpec } from '../adapters/_stores.ts'
import { importUsers, users, whole } from './_interrupted.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

describe.runIf((await reachable('postgres')) || process.env.CI)('on PostgreSQL', () => {
  let spec: SqlSpec
  beforeAll(async () => {
    spec = await newDatabase('postgres')
  })
  afterAll(() => dropStore(spec))

  const countRows = async (): Promise<Record<string, number>> => {
    const db = openOutside(spec)
    const counts: Record<string, number> = {}
    for (const table of Object.keys(whole)) {
      const { rows } = await sql<{ n: string }>`select count(*) as n from ${sql.id(table)}`.execute(db)
      counts[table] = Number(rows[0]!.n)
    }
    await db.destroy()
    return counts
  }

  it('kill -9 loses nothing and doubles nothing', async () => {
    const child = fork('scripts/dev.mjs', ['test/migration/_interrupted.ts'], {
      cwd: root,
      env: { ...process.env, INTERRUPTED_IMPORT: spec.name },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    // The first page is stored, and the next ones are under way.
    const [first] = (await once(child, 'message')) as [unknown]
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(first).toBe(500)
    const half = await countRows()
    expect(half['users']).toBeGreaterThanOrEqual(500)
    expect(half['users']).toBeLessThan(users)

    const report = await importUsers(spec)
    expect(report.problems).toEqual([])
    expect(await countRows()).toEqual(whole)
    const { kinds } = await importUsers(spec)
    expect(await countRows()).toEqual(whole)
    for (const { found, unchanged } of Object.values(kinds)) expect(unchanged).toBe(found)
  }, 120_000)
})
