/** Phone numbers of another product are read a page at a time: a move of many users asks the store few questions. */
import { createAuth } from 'authkernel'
import { jobFor, type Kernel } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { phonePlugin } from 'authkernel/plugins/phone'
import { expect, it } from 'vitest'
import { baseConfig } from '../_setup.ts'

it('asks once for a page of numbers, keeps those of other users, and replaces only what it stored', async () => {
  const calls: Record<string, number> = {}
  const adapter = memoryAdapter(memoryData())
  const watched = new Proxy(adapter, {
    get: (target, name, receiver) => {
      const found: unknown = Reflect.get(target, name, receiver)
      if (typeof found !== 'function') return found
      return (...given: unknown[]) => {
        calls[String(name)] = (calls[String(name)] ?? 0) + 1
        return (found as (...all: unknown[]) => unknown).apply(target, given)
      }
    },
  })
  const kernels: Kernel[] = []
  const auth = createAuth(baseConfig())
    .use(adapterPlugin(watched))
    .use(phonePlugin({ send: () => undefined }))
    .use({ name: 'looks', setup: (kernel) => void kernels.push(kernel) })
  await auth.ready()
  const ctx = await kernels.at(-1)!.contextOf(jobFor('test', {}))
  const target = ctx.service('numberImport')
  const rows = Array.from({ length: 100 }, (_, at) => {
    const [key, number] = [`u${at}`, `+49151234${String(10_000 + at)}`]
    return { key, value: { userId: key, number } }
  })
  for (const { key } of rows) await adapter.createUser({ id: key, email: `${key}@example.com`, emailVerified: null } as never)
  const taken = { provider: 'phone', providerAccountId: rows[1]!.value.number, type: 'phone', userId: 'u0' }
  expect(await target.isEmpty!(ctx)).toBe(true)
  await adapter.linkAccount(taken as never)
  expect(await target.isEmpty!(ctx)).toBe(false)
  for (const name of Object.keys(calls)) delete calls[name]

  const versions = await target.write(ctx, rows.slice(1))
  expect([versions[0], versions.filter((one) => one !== undefined).length]).toEqual([undefined, 98])
  expect(calls).toEqual({ listAccountOwners: 1, linkAccount: 98 })
  for (const name of Object.keys(calls)) delete calls[name]
  const states = await target.read(ctx, rows)
  expect(states.slice(0, 3)).toEqual([
    { version: rows[1]!.value.number, same: false },
    undefined,
    { version: rows[2]!.value.number, same: true },
  ])
  expect(calls).toEqual({ listAccountOwners: 1, listAccountsByUserId: 2 })

  const changed = { key: 'u2', value: { userId: 'u2', number: '+4915199999999' } }
  expect(await target.write(ctx, [{ ...changed, over: '+49151000' }])).toEqual([undefined])
  expect(await target.write(ctx, [{ ...changed, over: rows[2]!.value.number }])).toEqual(['+4915199999999'])
  expect((await adapter.listAccountsByUserId!('u2')).map(({ providerAccountId }) => providerAccountId)).toEqual(['+4915199999999'])
})
