import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { testAdapter } from 'authkernel/testing'
import { describe, expect, it } from 'vitest'

testAdapter('memory', { adapter: () => memoryAdapter() })

describe('memoryAdapter', () => {
  it('row 158: every operation of the contract is there', () => {
    const { keepsCreatedAt, ...operations } = memoryAdapter()
    expect(keepsCreatedAt).toBe(true)
    expect(Object.values(operations).every((operation) => typeof operation === 'function')).toBe(true)
    expect(Object.keys(operations)).toHaveLength(28)
  })

  it('D18: two adapters share nothing unless they are given the same data', async () => {
    const data = memoryData()
    const [first, second, stranger] = [memoryAdapter(data), memoryAdapter(data), memoryAdapter()]
    const user = await first.createUser({ id: '1', email: 'ada@example.com', emailVerified: null })
    expect(await second.getUser(user.id)).toMatchObject({ email: 'ada@example.com' })
    expect(await stranger.getUser(user.id)).toBeNull()
  })
})
