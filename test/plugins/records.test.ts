/** recordsPlugin: where records go when the adapter does not keep them. */
import { expect, it } from 'vitest'
import { createKernel } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter, memoryData, memoryRecords, type RecordData } from 'authkernel/plugins/memory'
import { recordsPlugin } from 'authkernel/plugins/records'
import { jwtSessionPlugin } from 'authkernel/plugins/session-jwt'
import { baseConfig } from '../_setup.ts'

const keeper = {
  name: 'keeper',
  setup(kernel: Parameters<Parameters<ReturnType<typeof createKernel>['use']>[0]['setup']>[0]) {
    kernel.records('thing', { fields: { userId: { type: 'string' } }, owner: 'user' })
    return {
      keep: (userId: string) => kernel.job({ job: 'keep' }, (ctx) => ctx.records('thing').create({ userId })),
      forget: (userId: string) => kernel.job({ job: 'forget' }, async (ctx) => void (await ctx.store?.deleteUser(userId))),
    }
  },
}

it('takes the place of what the adapter brings', async () => {
  const own: RecordData = new Map()
  const data = memoryData()
  const auth = createKernel(baseConfig())
    .use(jwtSessionPlugin())
    .use(adapterPlugin(memoryAdapter(data)))
    .use(recordsPlugin(memoryRecords(own)))
    .use(keeper)
  await auth.keep('u')
  expect([own.get('thing')?.size, data.records?.get('thing')?.size ?? 0]).toEqual([1, 0])
})

it('deleting a user deletes what the user owns', async () => {
  const data = memoryData()
  data.users.set('u', { id: 'u', email: 'a@example.com', emailVerified: null })
  const auth = createKernel(baseConfig())
    .use(jwtSessionPlugin())
    .use(adapterPlugin(memoryAdapter(data)))
    .use(keeper)
  for (const userId of ['u', 'v']) await auth.keep(userId)
  await auth.forget('u')
  expect([...data.records!.get('thing')!.values()].map((row) => row['userId'])).toEqual(['v'])
})
