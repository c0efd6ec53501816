/** Half a minute of people who sign in while PostgreSQL and the provider come and go; ten minutes of it are in the full tier. */
import { describe, expect, it } from 'vitest'
import { reachable } from './_servers.ts'
import { soak } from './_soak.ts'

const there = await reachable('postgres')

describe.skipIf(!there)('with a server', () => {
  it(
    'postgres and a provider come and go for half a minute: every answer is in time, and nothing is lost',
    { timeout: 180_000 },
    async () => {
      const { arrived, refused, outages, slowest, memory: _memory, requests, audit, ...rest } = await soak(30)
      expect(rest).toEqual({ wrong: [], unhandled: [], halves: [], connections: expect.any(Number), recovered: 6, health: 'pass' })
      expect(rest.connections).toBeLessThanOrEqual(5)
      expect(audit).toMatchObject({ lost: 0, doubled: 0, dropped: 0, faults: [] })
      expect(audit.signIns).toBeGreaterThanOrEqual(arrived)
      // Otherwise it would prove nothing.
      expect([requests > 500, arrived > 20, refused > 20, Object.keys(outages).length]).toEqual([true, true, true, 5])
      // Deadlines of 1.5 seconds, a few of them one after the other.
      expect(slowest).toBeLessThan(15_000)
    },
  )
})
