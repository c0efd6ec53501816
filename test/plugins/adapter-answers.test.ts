/** What an adapter's `once` and `limit` answer must be an answer. */
import { createAuth } from 'authkernel'
import type { Kernel } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { expect, it } from 'vitest'
import { baseConfig } from '../_setup.ts'

it.each([{}, 'yes', 1, null, undefined, { allowed: 'yes', retryAfter: 0 }, { allowed: true }])('%j is no answer', async (answer) => {
  let kernel: Kernel | undefined
  const wrong = (): never => answer as never
  const later = (): Promise<never> => Promise.resolve(answer as never)
  for (const given of [wrong, later]) {
    const auth = createAuth(baseConfig({ session: { strategy: 'database' } }))
      .use(adapterPlugin(memoryAdapter(), { once: { shared: true, take: given, taken: given }, limit: { take: given, refund: () => {} } }))
      .use({ name: 'asker', setup: (own) => void (kernel = own) })
    await auth.ready()
    const ctx = await kernel!.contextOf({ job: 'ask', tenant: null })
    await expect((async () => ctx.once.take('a', 60))()).rejects.toThrow('once.take() failed')
    await expect((async () => ctx.once.taken('a'))()).rejects.toThrow('once.taken() failed')
    // Attempts are counted in the process when the store cannot.
    expect(await ctx.limit.take('a', { max: 1, seconds: 60 })).toEqual({ allowed: true, retryAfter: 0 })
    expect(await ctx.limit.take('a', { max: 1, seconds: 60 })).toMatchObject({ allowed: false })
  }
})
