/** Signs in by each method and proves each second factor, under both strategies, on each adapter of ours. */
import type { Adapter } from 'authkernel/kernel'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { unstorageAdapter } from 'authkernel/plugins/unstorage'
import { createStorage } from 'unstorage'
import { describe, expect, it } from 'vitest'
import { Client } from '../_setup.ts'
import { sampleCases } from '../_tier.ts'
import { type Assurance, assuranceHost, type Person } from './_assurance.ts'
import { reachable } from './_servers.ts'
import { dropStore, newDatabase, newStore, openStore, type StoreSpec } from './_stores.ts'

const there = {
  memory: true,
  unstorage: true,
  libsql: true,
  postgres: await reachable('postgres'),
  mysql: await reachable('mysql'),
  redis: await reachable('redis'),
}
type Kind = keyof typeof there
const where = (response: Response): string => new URL(response.headers.get('location') ?? 'x:/none', 'http://localhost:3000').pathname

async function open(kind: Kind): Promise<{ adapter: Adapter; spec?: StoreSpec }> {
  if (kind === 'memory') return { adapter: memoryAdapter(memoryData()) }
  if (kind === 'unstorage') return { adapter: unstorageAdapter(createStorage()) }
  const spec = kind === 'redis' ? newStore('redis') : await newDatabase(kind)
  return { adapter: openStore(spec), spec }
}

const names = Object.keys((await assuranceHost(memoryAdapter(), 'jwt')).methods)
const factorNames = ['totp', 'passkey', 'backup', 'emailCode'] as const
// The gate takes each adapter with one strategy, and each strategy with half of the adapters.
const worlds = (Object.keys(there) as Kind[]).flatMap((kind, at) =>
  sampleCases(['jwt', 'database'] as const, 2, at).map((strategy) => ({ kind, strategy })),
)

/** Sign-in by each method and proof by each factor of one user. */
async function table({ auth, methods, factors, advance }: Assurance, person: Person, chosen: readonly string[]) {
  const seen: Record<string, unknown> = {}
  const expected: Record<string, unknown> = {}
  for (const name of chosen) {
    const { come, proves, channel } = methods[name]!
    for (const factor of factorNames) {
      // Codes of an app count once.
      advance(60_000)
      const client = new Client(auth)
      const led = where(await come(client, person))
      const between = (await client.session())?.user?.['id'] ?? null
      if (!proves) await factors[factor](client, person)
      seen[`${name}, ${factor}`] = [led === '/auth/two-factor', between, (await client.session())?.user?.['id'] ?? null]
      // The channel of the first factor is none for the second.
      expected[`${name}, ${factor}`] = proves ? [false, person.id, person.id] : [true, null, factor === channel ? null : person.id]
    }
  }
  return { seen, expected }
}

// A person has ten backup codes, and gets three mails in ten minutes: four methods each.
const groups = Array.from({ length: Math.ceil(names.length / 4) }, (_, at) => names.slice(at * 4, at * 4 + 4))

describe.each(worlds)('every second factor after every sign-in method: $kind, $strategy sessions', ({ kind, strategy }) => {
  it.skipIf(!there[kind])(
    `each of ${names.length} ways to sign in with each of ${factorNames.length} factors`,
    { timeout: 120_000 },
    async () => {
      const { adapter, spec } = await open(kind)
      const host = await assuranceHost(adapter, strategy)
      try {
        for (const [at, group] of groups.entries()) {
          const person = host.newPerson(at)
          await host.enrol(await host.join(person), person)
          expect(person.codes).toHaveLength(10)
          const { seen, expected } = await table(host, person, group)
          expect(seen).toEqual(expected)
          // Nothing else went wrong on the way: the cells of a channel that is none are refused as a wrong factor.
          const refused = group.filter((name) => host.methods[name]!.channel)
          expect(host.errors.splice(0).map(({ name }) => name)).toEqual(refused.map(() => 'WrongSecondFactor'))
        }
      } finally {
        await host.auth.close()
        if (spec) await dropStore(spec)
      }
    },
  )
})
