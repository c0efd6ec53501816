/** Dates of another realm, as drivers inside of a test runner and frames give them. Node alone can make a realm, so this is no test of the other runtimes. */
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { type Adapter, createStore } from 'authkernel/kernel'

it('D26: a date of another realm is a date', async () => {
  const date = runInNewContext("new Date('2026-01-02T03:04:05Z')") as Date
  expect(date).not.toBeInstanceOf(Date)
  const adapter = {
    getSessionAndUser: async () => ({
      session: { sessionToken: 's', userId: '1', expires: date },
      user: { id: '1', email: 'a@b.c', emailVerified: date },
    }),
  }
  const found = await createStore(adapter as unknown as Adapter).getSessionAndUser('s')
  expect(found?.session.expires).toBeInstanceOf(Date)
  expect(found?.user.emailVerified?.toISOString()).toBe('2026-01-02T03:04:05.000Z')
})
