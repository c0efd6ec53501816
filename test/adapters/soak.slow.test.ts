/** Ten minutes of people who sign in while PostgreSQL and the provider come and go; memory stays where it is. */
import { expect, it } from 'vitest'
import { reachable } from './_servers.ts'
import { soak } from './_soak.ts'

const there = await reachable('postgres')
const seconds = Number(process.env.AUTHKERNEL_SOAK_SECONDS ?? 600)

it.skipIf(!there)(`postgres and a provider come and go for ${seconds} seconds`, { timeout: seconds * 1000 + 300_000 }, async () => {
  const { arrived, slowest, memory, requests, audit, refused, outages, ...rest } = await soak(seconds)
  const [early, late] = memory
  console.log(JSON.stringify({ requests, arrived, refused, outages, slowest: Math.round(slowest), memory, audit, ...rest }))
  expect(rest).toEqual({ wrong: [], unhandled: [], halves: [], connections: expect.any(Number), recovered: 6, health: 'pass' })
  expect(rest.connections).toBeLessThanOrEqual(5)
  expect(audit).toMatchObject({ lost: 0, doubled: 0, dropped: 0, faults: [] })
  expect(audit.signIns).toBeGreaterThanOrEqual(arrived)
  expect(arrived).toBeGreaterThan(seconds / 2)
  expect(slowest).toBeLessThan(15_000)
  expect(late - early).toBeLessThan(32 * 1024 * 1024)
})
