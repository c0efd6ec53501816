/** Four processes and the last uses of an invitation: as many users as it has uses, and nothing of the others. */
import type { Adapter } from 'authkernel/kernel'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Client } from '../_setup.ts'
import { admissionHost } from './_admission.ts'
import { reachable } from './_servers.ts'
import { dropStore, newDatabase, newStore, openStore, type StoreSpec } from './_stores.ts'
import { startWorkers, type Worker } from './_workers.ts'

const there = { libsql: true, postgres: await reachable('postgres'), mysql: await reachable('mysql'), redis: await reachable('redis') }

describe.each((['postgres', 'mysql', 'redis', 'libsql'] as const).filter((kind) => there[kind]))('%s, four processes', (kind) => {
  let spec: StoreSpec
  let adapter: Required<Adapter>
  let auth: ReturnType<typeof admissionHost>
  let workers: Worker[] = []
  beforeAll(async () => {
    spec = kind === 'redis' ? newStore('redis') : await newDatabase(kind)
    adapter = openStore(spec) as Required<Adapter>
    auth = admissionHost(adapter)
    await auth.ready()
    workers = await startWorkers(4, spec)
  }, 60_000)
  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.kill()))
    await auth?.close()
    if (spec) await dropStore(spec)
  })

  it.each([1, 3])('an invitation with %i uses lets so many in', async (uses) => {
    const { code, id } = await auth.admission.invite({ system: true }, { uses })
    const client = new Client(auth)
    await client.post('/admission/invitation', { code })
    const csrfToken = await client.csrfToken()
    const cookie = client.cookieHeader()
    const answers = await Promise.all(
      workers.map((worker, at) => worker.ask({ do: 'admission', cookie, csrfToken, name: `u${uses}-${at}`, times: 3 })),
    )
    const ends = answers.flatMap(({ fulfilled }) => fulfilled)
    expect([ends.length, ends.filter((end) => end === 'in').length]).toEqual([12, uses])
    expect(new Set(ends)).toEqual(new Set(['in', 'AdmissionRefused']))
    const found = await Promise.all(
      [0, 1, 2, 3].flatMap((at) => [0, 1, 2].map((of) => adapter.getUserByEmail(`u${uses}-${at}-${of}@example.com`))),
    )
    expect(found.filter(Boolean)).toHaveLength(uses)
    const { invitations } = await auth.admission.listInvitations({ system: true })
    expect(invitations.find((one) => one.id === id)?.left).toBe(0)
  })
})
