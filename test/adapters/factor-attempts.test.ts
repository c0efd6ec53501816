/** Wrong second factors are counted before they are compared: for one user, over all sign-ins that wait and all processes. */
import { createAuth } from 'authkernel'
import type { Adapter } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { twoFactorPlugin } from 'authkernel/plugins/two-factor'
import { describe, expect, it } from 'vitest'
import { baseConfig, Client } from '../_setup.ts'
import { totpAt } from '../_totp.ts'
import { reachable } from './_servers.ts'
import { dropStore, newDatabase, openStore } from './_stores.ts'

const there = { memory: true, postgres: await reachable('postgres') }

/** Hosts that share a store and nothing else, as processes do. */
async function hostsOn(adapters: readonly Adapter[]) {
  const base = baseConfig({
    session: { strategy: 'jwt', revocable: true },
    throttle: false,
    providers: [{ id: 'credentials', name: 'Name', type: 'credentials', authorize: ({ user }) => ({ id: String(user) }) }],
  })
  let ahead = 0
  base.runtime.now = () => Date.now() + ahead
  const hosts = adapters.map((adapter) => createAuth(base).use(adapterPlugin(adapter)).use(twoFactorPlugin()))
  for (const host of hosts) await host.ready()
  const user = await adapters[0]!.createUser!({ id: 'ada', name: 'ada', email: 'ada@example.com', emailVerified: null })
  let turn = 0
  const signIn = async () => {
    const client = new Client({ handler: (request) => hosts[turn++ % hosts.length]!.handler(request) })
    await client.post('/callback/credentials', { user: user.id })
    return client
  }
  const wrongCodes = () => base.logger.errors.filter(({ message }) => /^A second factor of .* was wrong\.$/.test(message)).length
  return { base, hosts, signIn, wrongCodes, advance: (ms: number) => void (ahead += ms) }
}

describe.each(['memory', 'postgres'] as const)('second factors of one user on %s', (kind) => {
  it.skipIf(!there[kind])('30 waiting sign-ins with 5 parallel tries each compare 10 wrong codes', { timeout: 120_000 }, async () => {
    const data = memoryData()
    const spec = kind === 'postgres' ? await newDatabase('postgres') : undefined
    const adapters = Array.from({ length: 3 }, () => (spec ? openStore(spec) : memoryAdapter(data)))
    const { base, hosts, signIn, wrongCodes, advance } = await hostsOn(adapters)
    try {
      const owner = await signIn()
      const page = await (await owner.post('/two-factor/setup', { action: 'totp' })).text()
      const secret = /<code>([A-Z2-7 ]{32,})<\/code>/.exec(page)?.[1]?.replaceAll(' ', '') ?? ''
      const id = /name="id" value="([^"]+)"/.exec(page)?.[1] ?? ''
      const code = () => totpAt(secret, base.runtime.now())
      await owner.post('/two-factor/setup', { action: 'confirm', id, code: code() })
      advance(61_000)
      const waiting: Client[] = []
      for (let i = 0; i < 30; i++) waiting.push(await signIn())
      const late = await signIn()
      const near = new Set([-30_000, 0, 30_000, 60_000].map((shift) => totpAt(secret, base.runtime.now() + shift)))
      const wrong = Array.from({ length: 160 }, (_, at) => String(at).padStart(6, '0')).filter((guess) => !near.has(guess))
      await Promise.all(
        waiting.flatMap((client, at) => wrong.slice(at * 5, at * 5 + 5).map((guess) => client.post('/two-factor', { code: guess }))),
      )
      expect(wrongCodes()).toBe(10)
      // The right code is not compared either, until the wait is over.
      await late.post('/two-factor', { code: code() })
      expect(await late.session()).toBeNull()
      advance(3_661_000)
      const back = await signIn()
      await back.post('/two-factor', { code: code() })
      expect((await back.session())?.user?.['id']).toBe('ada')
      expect(wrongCodes()).toBe(10)
    } finally {
      for (const host of hosts) await host.close()
      if (spec) await dropStore(spec)
    }
  })

  it.skipIf(!there[kind])('one waiting sign-in compares five codes in four processes whose limits know nothing of each other', async () => {
    const data = memoryData()
    const spec = kind === 'postgres' ? await newDatabase('postgres') : undefined
    const adapters = Array.from({ length: 4 }, (): Adapter => {
      // As with an adapter of Auth.js beside `recordsPlugin`.
      return { ...(spec ? openStore(spec) : memoryAdapter(data)), limit: undefined, once: undefined } as Adapter
    })
    const { base, hosts, signIn, wrongCodes, advance } = await hostsOn(adapters)
    try {
      const owner = await signIn()
      const page = await (await owner.post('/two-factor/setup', { action: 'totp' })).text()
      const secret = /<code>([A-Z2-7 ]{32,})<\/code>/.exec(page)?.[1]?.replaceAll(' ', '') ?? ''
      const id = /name="id" value="([^"]+)"/.exec(page)?.[1] ?? ''
      await owner.post('/two-factor/setup', { action: 'confirm', id, code: totpAt(secret, base.runtime.now()) })
      advance(61_000)
      const client = await signIn()
      const near = new Set([-30_000, 0, 30_000, 60_000].map((shift) => totpAt(secret, base.runtime.now() + shift)))
      const wrong = Array.from({ length: 40 }, (_, at) => String(at).padStart(6, '0')).filter((guess) => !near.has(guess))
      const token = await client.csrfToken()
      await Promise.all(
        wrong.map((guess) => client.send('/two-factor', { method: 'POST', body: new URLSearchParams({ csrfToken: token, code: guess }) })),
      )
      expect(wrongCodes()).toBe(5)
    } finally {
      for (const host of hosts) await host.close()
      if (spec) await dropStore(spec)
    }
  })
})
