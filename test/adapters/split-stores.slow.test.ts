/** Users in PostgreSQL, sessions in another store: races of four processes, and processes that are killed between the two. */
import { afterAll, beforeAll, describe, it } from 'vitest'
import { killAtRandom } from './_kills.ts'
import { testRaces } from './_races.ts'
import { reachable } from './_servers.ts'
import { dropStore, newDatabase, newStore, type SplitSpec } from './_stores.ts'

const there = { postgres: await reachable('postgres'), mysql: await reachable('mysql'), redis: await reachable('redis') }

describe.skipIf(!there.postgres).each((['postgres', 'mysql', 'redis'] as const).filter((kind) => there[kind]))(
  'PostgreSQL and sessions in %s',
  (kind) => {
    const newSplit = async (): Promise<SplitSpec> => ({
      kind: 'split',
      users: await newDatabase('postgres'),
      sessions: kind === 'redis' ? newStore('redis') : await newDatabase(kind),
    })
    let spec: SplitSpec
    beforeAll(async () => {
      spec = await newSplit()
    })
    afterAll(() => dropStore(spec))

    testRaces(`PostgreSQL and sessions in ${kind}`, () => spec)

    it('ten processes, each killed at a random point of its writes, leave a whole store', async () => {
      const own = await newSplit()
      await killAtRandom(own, 10).finally(() => dropStore(own))
    }, 200_000)
  },
)
