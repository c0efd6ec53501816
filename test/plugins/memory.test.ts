import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { testAdapter, testRecords } from 'authkernel/testing'
import { describe, expect, it } from 'vitest'

testAdapter('memory', { adapter: () => memoryAdapter() })
const shared = memoryAdapter()
// Everything in one map is looked through: not the place for 10,000 rows.
testRecords('memory', { create: () => shared.records, adapter: () => shared, rows: 500 })

describe('memoryAdapter', () => {
  it('row 158: every operation of the contract is there', () => {
    const { keepsCreatedAt, nullableEmail, records, ...operations } = memoryAdapter()
    expect(records.shared).toBe(false)
    expect([keepsCreatedAt, nullableEmail]).toEqual([true, true])
    expect(Object.values(operations).every((operation) => typeof operation === 'function')).toBe(true)
    expect(Object.keys(operations)).toHaveLength(34)
  })

  it('D18: two adapters share nothing unless they are given the same data', async () => {
    const data = memoryData()
    const [first, second, stranger] = [memoryAdapter(data), memoryAdapter(data), memoryAdapter()]
    const user = await first.createUser({ id: '1', email: 'ada@example.com', emailVerified: null })
    expect(await second.getUser(user.id)).toMatchObject({ email: 'ada@example.com' })
    expect(await stranger.getUser(user.id)).toBeNull()
  })

  it('what refuses does so by a rejected promise: nothing throws while many are started at once', async () => {
    const adapter = memoryAdapter()
    const user = await adapter.createUser({ id: '1', email: 'ada@example.com', emailVerified: null })
    const account = { provider: 'acme', providerAccountId: '1', type: 'oauth' } as const
    const refused = [
      adapter.createUser({ ...user, id: '2' }),
      adapter.createUserWithAccount({ ...user, id: '2' }, account),
      adapter.updateUser({ id: '2', name: 'Grace' }),
      adapter.linkAccount({ ...account, userId: '2' }),
      adapter.createSession({ sessionToken: 's', userId: '2', expires: new Date() }),
      adapter.updateAuthenticatorCounter('unknown', 1),
    ]
    expect((await Promise.allSettled(refused)).map(({ status }) => status)).toEqual(refused.map(() => 'rejected'))
  })
})
