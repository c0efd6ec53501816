/** A process that is killed while it writes leaves nothing half-made. Many more kills are in the full tier. */
import { describe, it } from 'vitest'
import { killAtRandom } from './_kills.ts'
import { reachable } from './_servers.ts'
import { dropStore, newDatabase, newStore } from './_stores.ts'

const there = {
  fs: true,
  libsql: true,
  postgres: await reachable('postgres'),
  mysql: await reachable('mysql'),
  redis: await reachable('redis'),
}
const times = process.env.AUTHKERNEL_TIER === 'full' ? 25 : 3

describe.each(['fs', 'redis', 'libsql', 'postgres', 'mysql'] as const)('on %s', (kind) => {
  it.skipIf(!there[kind])(
    `${times} processes, each killed at a random point of its writes, leave a whole store`,
    async () => {
      const spec = kind === 'fs' || kind === 'redis' ? newStore(kind) : await newDatabase(kind)
      try {
        await killAtRandom(spec, times)
      } finally {
        await dropStore(spec)
      }
    },
    times * 20_000,
  )
})
