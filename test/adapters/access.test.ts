/** Four processes give access while a fifth ends it: nothing that was under way is alive in any of them once it has answered. */
import type { Adapter } from 'authkernel/kernel'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AccessHost, accessHost, opens, signedIn, type WayIn, waysIn } from '../access/_host.ts'
import type { Gained } from '../access/_worker-task.ts'
import { reachable } from './_servers.ts'
import { dropStore, newDatabase, openStore, type StoreSpec } from './_stores.ts'
import { startWorkers, type Worker } from './_workers.ts'

const there = { libsql: true, postgres: await reachable('postgres'), mysql: await reachable('mysql') }
const kinds = (['postgres', 'mysql', 'libsql'] as const).filter((kind) => there[kind])
const rounds = process.env.AUTHKERNEL_TIER === 'full' ? 20 : 4
const real = { now: () => Date.now(), random: (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes)), fetch }
// Tokens are refused everywhere within the staleness, in milliseconds: the reader looks so much later.
const staleness = 11_000

describe.each(kinds)('%s, four processes', (kind) => {
  let spec: StoreSpec
  let adapter: Required<Adapter>
  let workers: Worker[] = []

  beforeAll(async () => {
    spec = await newDatabase(kind)
    adapter = openStore(spec) as Required<Adapter>
    await accessHost(adapter, 'jwt', real).ready()
    await accessHost(adapter, 'database', real).ready()
    for (const id of ['ada', 'root']) await adapter.createUser({ id, email: `${id}@example.com`, name: id, emailVerified: new Date(0) })
    workers = await startWorkers(4, spec)
  }, 60_000)
  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.kill()))
    await adapter?.close()
    if (spec) await dropStore(spec)
  })

  const endings = [
    // What rests on a copied cookie. Keys stay, and a password opens a new session at any time.
    ['a sign-out everywhere', ['app', 'device'], (auth) => auth.sessions.revokeAll({ userId: 'ada' })],
    ['a ban', waysIn, (auth, admin) => auth.admin.ban(admin, 'ada', { reason: 'test' })],
  ] as const satisfies readonly [string, readonly WayIn[], (auth: AccessHost, admin: Request) => Promise<unknown>][]
  const cases = endings.flatMap((ending) => (['database', 'jwt'] as const).map((strategy) => [...ending, strategy] as const))

  it.each(cases)('%s leaves nothing of %j alive that was under way', { timeout: 240_000 }, async (_, ways, end, strategy) => {
    const auth = accessHost(adapter, strategy, real)
    let later = 0
    const reader = accessHost(adapter, strategy, { ...real, now: () => Date.now() + later })
    const root = await signedIn(auth, { user: 'root' })
    const admin = new Request('http://localhost:3000/', { headers: { cookie: root.cookieHeader() } })
    let gained = 0
    for (let round = 0; round < rounds; round++) {
      const copied = await signedIn(auth)
      const task = { do: 'access', strategy, ways, cookies: [...copied.cookies], times: 3 } as const
      const entering = Promise.all(workers.map((worker) => worker.ask(task)))
      // Each round ends access at another moment of the ways in, the last one after all of them.
      if (round === rounds - 1) await entering
      for (let wait = 0; wait < round * 20; wait++) await adapter.getUser('ada')
      await end(auth, admin)
      const all = (await entering).flatMap(({ fulfilled }) => fulfilled as (Gained | null)[]).filter((one) => one !== null)
      // Later than in the round before, too: the reader's copy of what ended may come from there.
      later += staleness
      for (const { what, credential } of all) expect(await opens(reader, credential), `${what} of round ${round}`).toBe(false)
      gained += all.length
      await auth.admin.unban(admin, 'ada', { reason: 'test' })
    }
    expect(gained).toBeGreaterThan(0)
  })
})
