/** What a request ends itself makes none of its own stamps void, and an ending that cannot be made changes nothing. */
import { createAuth } from 'authkernel'
import type { Access, AnyContext, Kernel, Plugin, StampOfAccess } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { describe, expect, it } from 'vitest'
import { baseConfig } from '../_setup.ts'

const subject = 'user:ada'
const which = { userId: 'ada' }
const by = 'test'

function start(strategy: 'jwt' | 'database', revocable: boolean, records: boolean, fault: { isDown?: boolean } = {}) {
  const { records: found, ...rest } = memoryAdapter()
  const get: NonNullable<typeof found>['get'] = async (...given) => {
    if (fault.isDown) throw new Error('the store is down')
    return found!.get(...given)
  }
  const store = { ...found!, get }
  let kernel: Kernel
  const inside: Plugin = {
    name: 'inside',
    ...(records && { requires: ['records'] }),
    setup: (own) => {
      kernel = own
      // The number of endings is a record where a plugin has records.
      if (records) own.records('note' as never, { fields: { text: { type: 'string' } } } as never)
    },
  }
  const auth = createAuth(baseConfig({ session: { strategy, revocable } }))
    .use(adapterPlugin(records ? { ...rest, records: store } : rest))
    .use(inside)
  return async (work: (access: Access, ctx: AnyContext) => Promise<void>): Promise<void> => {
    await auth.ready()
    const ctx = await kernel.contextOf(new Request('http://localhost:3000/'))
    return work(ctx.access, ctx)
  }
}

describe.each([true, false])('with records: %s', (records) => {
  it('a stamp stays valid after several endings by its own request', async () => {
    const inRequest = start('database', false, records)
    await inRequest(async (access) => {
      const first = await access.stamp(subject)
      await access.end(which, { by })
      const second = await access.stamp(subject)
      await access.end(which, { by })
      for (const stamp of [first, second]) {
        await access.assert(stamp, 'signIn')
        expect(access.restamp(stamp).generation).toBe((await access.stamp(subject)).generation)
      }
    })
  })

  it('an ending by another request between two own ones makes the older stamp void', async () => {
    const inRequest = start('database', false, records)
    await inRequest(async (access) => {
      const older = await access.stamp(subject)
      await access.end(which, { by })
      await inRequest(async (other) => void (await other.end(which, { by })))
      await access.end(which, { by })
      await expect(access.assert(older, 'signIn')).rejects.toMatchObject({ type: 'AccessEnded' })
      expect(access.restamp(older)).toBe(older)
    })
  })
})

it('where sessions cannot be ended, nothing is: sign-ins under way go on', async () => {
  const inRequest = start('jwt', false, true)
  let stamp: StampOfAccess
  await inRequest(async (access) => {
    stamp = await access.stamp(subject)
    await inRequest(async (other) => {
      await expect(other.end(which, { by })).rejects.toMatchObject({ type: 'MissingSessionAbility' })
    })
    await access.assert(stamp, 'signIn')
  })
})

it.each([true, false])('a write that lost its answer is taken back when access ended meanwhile: %s', async (ended) => {
  const inRequest = start('database', false, true)
  const lost = new Error('the answer was lost')
  const takenBack: unknown[] = []
  await inRequest(async (access) => {
    const stamp = await access.stamp(subject)
    const write = async (): Promise<string> => {
      if (ended) await inRequest(async (other) => void (await other.end(which, { by })))
      throw lost
    }
    const granted = access.grant(stamp, 'deviceApproval', write, (written) => void takenBack.push(written))
    await expect(granted).rejects.toMatchObject(ended ? { type: 'AccessEnded' } : { message: lost.message })
  })
  expect(takenBack).toEqual(ended ? [undefined] : [])
})

it('a store that fails twice is told as it failed first, and what it may have written is taken back', async () => {
  const fault = { isDown: false }
  const inRequest = start('database', false, true, fault)
  const lost = new Error('the answer was lost')
  const takenBack: unknown[] = []
  await inRequest(async (access) => {
    const stamp = await access.stamp(subject)
    const write = async (): Promise<string> => {
      fault.isDown = true
      throw lost
    }
    await expect(access.grant(stamp, 'credential', write, (written) => void takenBack.push(written))).rejects.toBe(lost)
  })
  expect(takenBack).toEqual([undefined])
})
