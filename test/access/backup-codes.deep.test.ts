/** New backup codes are made by slow hashes: a session that is ended meanwhile gets none, and none is stored. */
import { createAuth } from 'authkernel'
import type { Adapter, RecordStore } from 'authkernel/kernel'
import { accountsPlugin } from 'authkernel/plugins/accounts'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { twoFactorPlugin } from 'authkernel/plugins/two-factor'
import { expect, it } from 'vitest'
import { baseConfig, Client } from '../_setup.ts'
import { totpAt } from '../_totp.ts'

it.each(['jwt', 'database'] as const)('a copied session that is ended while it renews them, %s sessions', async (strategy) => {
  const data = memoryData()
  const base = baseConfig({
    session: { strategy, ...(strategy === 'jwt' && { revocable: true }) },
    throttle: false,
    providers: [{ id: 'credentials', name: 'Name', type: 'credentials', authorize: ({ user }) => ({ id: String(user) }) }],
  })
  const plain = memoryAdapter(data)
  let meanwhile: (() => Promise<unknown>) | undefined
  const records: RecordStore = {
    ...plain.records,
    async write(writes, now) {
      const work = writes.some((one) => one.op === 'create' && one.table === 'twoFactorBackupCode') ? meanwhile : undefined
      if (work) meanwhile = undefined
      await work?.()
      return plain.records.write(writes, now)
    },
  }
  const host = (adapter: Adapter) => createAuth(base).use(adapterPlugin(adapter)).use(accountsPlugin()).use(twoFactorPlugin())
  const [auth, other] = [host({ ...plain, records } as Adapter), host(memoryAdapter(data))]
  await plain.createUser({ id: 'ada', name: 'ada', email: 'ada@example.com', emailVerified: new Date(0) })
  const client = new Client(auth)
  await client.post('/callback/credentials', { user: 'ada' })
  const page = await (await client.post('/two-factor/setup', { action: 'totp' })).text()
  const secret = /<code>([A-Z2-7 ]{32,})<\/code>/.exec(page)?.[1]?.replaceAll(' ', '') ?? ''
  const id = /name="id" value="([^"]+)"/.exec(page)?.[1] ?? ''
  const first = await client.post('/two-factor/setup', { action: 'confirm', id, code: totpAt(secret, base.runtime.now()) })
  expect(await first.text()).toContain('<li><code>')
  const codes = () => data.records?.get('twoFactorBackupCode')?.size
  expect(codes()).toBe(10)

  meanwhile = () => other.sessions.revokeAll({ userId: 'ada' })
  const answer = await client.post('/two-factor/setup', { action: 'renew' })
  expect(meanwhile).toBeUndefined()
  expect([await answer.text(), codes()]).toEqual([expect.not.stringContaining('<li><code>'), 0])
})
