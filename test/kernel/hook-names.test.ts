/** Names of hooks and events are checked: a guard under a misspelt name would refuse no request. */
import { describe, expect, it } from 'vitest'
import { type AuthConfig, createAuth } from 'authkernel'
import type { Kernel, Plugin } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { adminPlugin } from 'authkernel/plugins/admin'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { baseConfig, Client } from '../_setup.ts'

const make = (config: object = {}) => createAuth(baseConfig(config as AuthConfig))
const loose = (kernel: unknown) => kernel as { hook: Function; on: Function; declareHook: Function; declareEvent: Function }
const plugin = (name: string, setup: (kernel: ReturnType<typeof loose>) => unknown): Plugin => ({
  name,
  setup: (kernel: Kernel) => void setup(loose(kernel)),
})

describe('a name that no plugin declares', () => {
  it.each([
    ['callbacks', make({ callbacks: { sginIn: () => false } }), /the app answers the hook "sginIn".*Did you mean "signIn"\?/],
    ['events', make({ events: { sginOut: () => {} } }), /the app listens to the event "sginOut".*Did you mean "signOut"\?/],
    ['callbacks, far from every name', make({ callbacks: { nonsense: () => false } }), /the hook "nonsense", which no plugin declares\./],
    ['events, far from every name', make({ events: { nonsense: () => {} } }), /the event "nonsense", which no plugin declares\./],
  ])('among %s is refused by ready() and by the first request', async (_where, auth, message) => {
    await expect(auth.ready()).rejects.toThrow(message)
    expect((await new Client(auth).get('/session')).status).toBe(500)
  })

  it('given to auth.hook, auth.on, auth.hooks and by a plugin is refused, until it is taken back', async () => {
    for (const [add, message] of [
      [(auth: ReturnType<typeof make>) => loose(auth).hook('sginIn', () => false), 'hook "sginIn"'],
      [(auth: ReturnType<typeof make>) => loose(auth).on('sginIn', () => {}), 'event "sginIn"'],
      [(auth: ReturnType<typeof make>) => auth.hooks({ callbacks: { sginIn: () => false } as never }), 'hook "sginIn"'],
    ] as const) {
      const auth = make()
      await auth.ready()
      const undo = add(auth) as () => void
      await expect(auth.ready()).rejects.toThrow(message)
      undo()
      await auth.ready()
    }
    const auth = make().use(plugin('guarding', (kernel) => kernel.hook('sginIn', () => false)))
    await expect(auth.ready()).rejects.toThrow(/Plugin "guarding" answers the hook "sginIn".*Did you mean "signIn"\?.*of: 'its-name'/)
  })

  it('is one that a plugin declares, in any order of use()', async () => {
    const told: string[] = []
    const asking = plugin('asking', (kernel) => kernel.hook('paint', () => 'red'))
    const listening = plugin('listening', (kernel) => kernel.on('painted', () => told.push('painted')))
    const declaring = plugin('declaring', (kernel) => (kernel.declareHook('paint', 'first'), kernel.declareEvent('painted')))
    await make().use(asking).use(listening).use(declaring).ready()
  })

  it('passes where it is `authorized`, which configurations share with Next.js', async () => {
    await make({ callbacks: { authorized: () => true } }).ready()
  })
})

describe('a hook of a plugin that may be absent', () => {
  const answering = (of: string | string[], name = 'adminAct') => plugin('answering', (kernel) => kernel.on(name, () => {}, { of }))

  it('is left out without the plugin, and heard with it', async () => {
    const without = make().use(answering('admin'))
    await without.ready()
    expect(without.inspect().events.filter(({ plugin: owner }) => owner === 'answering')).toEqual([])
    const admin = adminPlugin({ can: () => true })
    const withIt = make({ session: { strategy: 'database' } })
      .use(adapterPlugin(memoryAdapter()))
      .use(admin)
      .use(answering(['other', 'admin']))
    await withIt.ready()
    expect(withIt.inspect().events.filter(({ plugin: owner }) => owner === 'answering')).toHaveLength(1)
  })

  it('is refused where the plugin is there and declares no such name', async () => {
    const declaring = plugin('declaring', (kernel) => kernel.declareEvent('painted'))
    await expect(make().use(declaring).use(answering('declaring', 'paintd')).ready()).rejects.toThrow(
      /"paintd", which plugin "declaring" does not declare\. Did you mean "painted"\?/,
    )
  })
})
