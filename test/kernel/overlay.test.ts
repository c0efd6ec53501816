/** An object laid over another one, as a context does with the store in each request. */
import { describe, expect, it, vi } from 'vitest'
import { createAuth } from 'authkernel'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { innermostOf, layOver } from '../../src/registry/overlay.ts'
import { baseConfig, recordingLogger } from '../_setup.ts'

class Shelf {
  readonly #books = ['a']
  readonly name = 'shelf'
  list(): string[] {
    return this.#books
  }
  remove(): string {
    return 'removed'
  }
}

describe('layOver', () => {
  it('has its own methods, and all others lead to the object below', () => {
    const shelf = new Shelf()
    const over = layOver(shelf, { remove: () => 'refused' })
    expect([over.remove(), over.list(), over.name]).toEqual(['refused', ['a'], 'shelf'])
    expect(layOver(shelf, { remove: () => 'later' }).remove()).toBe('later')
    expect(over.remove()).toBe('refused')
    expect(shelf.remove()).toBe('removed')
  })

  it('what is replaced below counts from then on', () => {
    const shelf = new Shelf()
    const over = layOver(shelf, { remove: () => 'refused' })
    shelf.list = () => ['b']
    expect(over.list()).toEqual(['b'])
  })

  it('is laid over the same innermost object', () => {
    const shelf = new Shelf()
    expect(innermostOf(layOver(layOver(shelf, {}), {}))).toBe(shelf)
    expect(innermostOf(shelf)).toBe(shelf)
  })
})

it('a read of a stored session looks over no store: the adapter has records, so that deletions are watched', async () => {
  const adapter = memoryAdapter()
  const auth = createAuth(baseConfig({ adapter, providers: [], logger: recordingLogger() }))
  const user = await adapter.createUser({ id: 'ann', name: 'Ann', email: 'ann@example.com', emailVerified: null })
  // Far beyond every clock of these tests.
  await adapter.createSession({ sessionToken: 'token', userId: user.id, expires: new Date('2100-01-01') })
  const request = new Request('http://localhost:3000/auth/session', { headers: { cookie: 'authkernel.session-token=token' } })
  expect(await auth.session(request)).toMatchObject({ user: { name: 'Ann' } })
  const ownKeys = vi.spyOn(Reflect, 'ownKeys')
  await auth.session(request)
  const calls = ownKeys.mock.calls.length
  ownKeys.mockRestore()
  expect(calls).toBe(0)
})
