/** One assertion at four processes at once, 20 times at each: one of them signs in, whether it answers one request or two. */
import type { Adapter } from 'authkernel/kernel'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Client } from '../_setup.ts'
import { begin, idpKeys, sign, writeResponse } from '../saml/_idp.ts'
import { samlSite } from '../saml/_worker-task.ts'
import { reachable } from './_servers.ts'
import { dropStore, newDatabase, openStore, type StoreSpec } from './_stores.ts'
import { startWorkers, type Worker } from './_workers.ts'

describe.skipIf(!(await reachable('postgres')))('postgres, four processes', () => {
  let spec: StoreSpec
  let adapter: Required<Adapter>
  let workers: Worker[] = []

  beforeAll(async () => {
    spec = await newDatabase('postgres')
    adapter = openStore(spec) as Required<Adapter>
    await samlSite(adapter, idpKeys.certificate).ready()
    workers = await startWorkers(4, spec)
  }, 60_000)
  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.kill()))
    await adapter?.close()
    if (spec) await dropStore(spec)
  })

  it('a response signs in once', { timeout: 60_000 }, async () => {
    const client = new Client(samlSite(adapter, idpKeys.certificate))
    for (let round = 0; round < 3; round++) {
      const { id: request } = await begin(client)
      const encoded = Buffer.from(sign(writeResponse({ now: Date.now(), request, nameId: `ada-${round}`, attributes: {} }))).toString(
        'base64',
      )
      const task = { do: 'saml', certificate: idpKeys.certificate, cookies: [...client.cookies], encoded, times: 20 } as const
      const answers = await Promise.all(workers.map((worker) => worker.ask(task)))
      const led = answers.flatMap(({ fulfilled }) => fulfilled as string[])
      expect(led).toHaveLength(80)
      expect(led.filter((to) => to.endsWith('/inside'))).toHaveLength(1)
    }
  })

  it('an assertion that answers a different request at each process signs in once', { timeout: 60_000 }, async () => {
    const site = samlSite(adapter, idpKeys.certificate)
    const now = Date.now()
    const asks = await Promise.all(
      workers.map(async (worker) => {
        const client = new Client(site)
        const { id: request } = await begin(client)
        const xml = sign(writeResponse({ now, request, id: '_one', nameId: 'eve', attributes: {} }))
        const encoded = Buffer.from(xml).toString('base64')
        return { worker, task: { do: 'saml', certificate: idpKeys.certificate, cookies: [...client.cookies], encoded, times: 1 } as const }
      }),
    )
    const answers = await Promise.all(asks.map(({ worker, task }) => worker.ask(task)))
    expect(answers.flatMap(({ fulfilled }) => fulfilled as string[]).filter((to) => to.endsWith('/inside'))).toHaveLength(1)
  })
})
