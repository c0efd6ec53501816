/** The audit log in a database whose connections are cut while people sign in: every record arrives, once, and the chain is whole. */
import type { Adapter } from 'authkernel'
import { createAuth } from 'authkernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { auditPlugin, recordsSink } from 'authkernel/plugins/audit'
import { describe, expect, it } from 'vitest'
import { baseConfig, Client, recordingLogger } from '../_setup.ts'
import { openToCut } from './_cut.ts'
import { reachable } from './_servers.ts'

const there = { postgres: await reachable('postgres'), mysql: await reachable('mysql'), redis: await reachable('redis') }

describe.each(['postgres', 'mysql', 'redis'] as const)('%s', (kind) => {
  it.skipIf(!there[kind])('loses and doubles nothing', async () => {
    const { adapter, cut, close } = await openToCut(kind)
    const logger = recordingLogger()
    const authorize = ({ username }: Record<string, unknown>) => ({ id: String(username) })
    const fields = { username: { label: 'Name' } }
    const auth = createAuth({
      ...baseConfig({ throttle: false, session: { strategy: 'jwt' } }),
      runtime: undefined,
      logger,
      providers: [{ id: 'credentials', name: 'Name', type: 'credentials', credentials: fields, authorize }],
    })
      .use(adapterPlugin(adapter))
      .use(auditPlugin({ sink: recordsSink(), chain: true, pause: 5 }))
    await auth.ready()
    const { records } = adapter as unknown as { records: { migrate?(options: { apply: boolean }): Promise<unknown> } & Adapter }
    await records.migrate?.({ apply: true })
    let made = 0
    const until = Date.now() + 2_500
    const people = Array.from({ length: 4 }, async (_, at) => {
      const browser = new Client(auth)
      while (Date.now() < until) {
        await browser.post('/callback/credentials', { username: `user${at}` })
        made++
        // The log drops above its bound, on purpose: a fast machine must not reach it.
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    })
    let [broken, over] = [0, false]
    void Promise.all(people).finally(() => (over = true))
    while (!over) {
      broken += await cut()
      await new Promise((resolve) => setTimeout(resolve, 150))
    }
    expect([broken > 0, made > 0]).toEqual([true, true])
    await expect
      .poll(() => auth.audit.flush().then(() => auth.audit.state()), { timeout: 20_000 })
      .toMatchObject({ dropped: 0, waiting: 0 })
    // A sign-in asks the store for the last ending of access; that it was repeated over a new connection is recorded too.
    const { length: healed } = (await auth.audit.list({ name: 'store.healed', limit: 1_000 })).records
    expect(await auth.audit.verify()).toEqual({ ok: true, records: 2 * made + healed, chains: 1, faults: [] })
    const { records: listed } = await auth.audit.list({ userId: 'user1', limit: 1_000 })
    expect(new Set(listed.map(({ id }) => id)).size).toBe(listed.length)
    await auth.close()
    await close()
  })
})
