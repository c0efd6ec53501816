/** How often a read waits: each promise costs memory and a turn, and a count holds on any machine, where a duration would not (docs/speed.md). */
import { createHook } from 'node:async_hooks'
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import { baseConfig, Client, recordingLogger } from '../_setup.ts'

const providers = [{ id: 'credentials', name: 'Password', type: 'credentials' as const, authorize: () => ({ id: '1', name: 'Ann' }) }]

/** Promises that work creates once everything is loaded, and timers. */
async function countWaits(work: () => Promise<unknown>): Promise<{ promises: number; timers: number }> {
  // What is loaded on demand is there, and keys are derived.
  for (let i = 0; i < 3; i++) await work()
  const counts = { promises: 0, timers: 0 }
  const hook = createHook({
    init(_id, type) {
      if (type === 'PROMISE') counts.promises++
      if (type === 'Timeout') counts.timers++
    },
  })
  hook.enable()
  try {
    await work()
  } finally {
    hook.disable()
  }
  return counts
}

describe('a session read waits for nothing that is there', () => {
  it('of a token in a cookie: one function for the request, the session, the strategy, the token and the cipher', async () => {
    const auth = createAuth(baseConfig({ providers, logger: recordingLogger() }))
    const client = new Client(auth)
    await client.post('/callback/credentials')
    const request = new Request('http://localhost:3000/auth/session', { headers: { cookie: client.cookieHeader() } })
    expect(await auth.session(request)).toMatchObject({ user: { name: 'Ann' } })
    const { promises, timers } = await countWaits(() => auth.session(request))
    expect(promises).toBeLessThanOrEqual(18)
    expect(timers).toBe(0)
  })
})
