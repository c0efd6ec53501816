/** Access ends while it is given, and the store fails while what was written is taken back: it is tried again, and what is left opens nothing. */
import { memoryAdapter, memoryData, type MemoryData } from 'authkernel/plugins/memory'
import { describe, expect, it } from 'vitest'
import { Client, fakeRuntime } from '../_setup.ts'
import { accessHost, type Credential, enter, opens, signedIn, type Strategy, type WayIn } from './_host.ts'

const origin = 'http://localhost:3000'
// What each way in writes last before it compares, and what takes it back.
const writes: Record<Strategy, Record<WayIn, RegExp>> = {
  database: {
    password: /createSession/,
    parked: /createSession/,
    app: /create appSession/,
    device: /update deviceCode/,
    apiKey: /create apiKey/,
  },
  jwt: {
    password: /put sessionRecord/,
    parked: /put sessionRecord/,
    app: /create appSession/,
    device: /update deviceCode/,
    apiKey: /create apiKey/,
  },
}

/** Calls go through `after` by their name, `deleteSession` or `<table>.<method>`, and fail where it throws. */
function watched<T extends object>(target: T, before: (name: string) => void, after: (name: string) => Promise<void>): T {
  return new Proxy(target, {
    get(object, key) {
      const value = Reflect.get(object, key) as unknown
      if (key === 'records') return watched(value as object, before, after)
      if (typeof value !== 'function' || key === 'define') return value
      return async (...given: unknown[]) => {
        const name = nameOf(key, given)
        before(name)
        const answer: unknown = await Reflect.apply(value, object, given)
        await after(name)
        return answer
      }
    },
  })
}

/** Of a call: `createSession`, `deleteWhere auth_app_code`, `create auth_api_key, update auth_app_code`. */
function nameOf(method: string | symbol, given: readonly unknown[]): string {
  const [first] = given
  if (Array.isArray(first)) return (first as { op: string; table: string }[]).map(({ op, table }) => `${op} ${table}`).join(', ')
  return method === 'deleteWhere' ? `deleteWhere ${String(first)}` : String(method)
}

/** What opens something, by its table. */
function countRows({ sessions, records }: MemoryData) {
  const rows = (name: string) => [...(records?.get(name)?.values() ?? [])]
  return {
    sessions: sessions.size,
    listed: rows('sessionRecord').length,
    apps: rows('appSession').length,
    approved: rows('deviceCode').filter((row) => row['status'] === 'approved').length,
    keys: rows('apiKey').length,
  }
}
/** All that was there ended, and nothing came. */
const leftBy = (before: ReturnType<typeof countRows>) => ({ ...before, sessions: 0, listed: 0 })

async function world(strategy: Strategy) {
  const data = memoryData()
  const clock = { at: Date.UTC(2026, 0, 2) }
  const state: { endAt?: RegExp | undefined; failures: number; failed: number; calls: string[] } = { failures: 0, failed: 0, calls: [] }
  const runtime = { ...fakeRuntime(), now: () => clock.at++ }
  const other = accessHost(memoryAdapter(data), strategy, { ...fakeRuntime(), now: () => clock.at++ })
  let ended = false
  const before = (name: string): void => {
    state.calls.push(name)
    if (ended && state.failures > 0 && /^delete|^unlink|^take/.test(name)) {
      state.failures--
      state.failed++
      throw new Error('the store is away')
    }
  }
  const after = async (name: string): Promise<void> => {
    if (!state.endAt?.test(name)) return
    state.endAt = undefined
    await other.sessions.revokeAll({ userId: 'ada' })
    ended = true
  }
  const auth = accessHost(watched(memoryAdapter(data), before, after), strategy, runtime)
  await memoryAdapter(data).createUser({ id: 'ada', email: 'ada@example.com', name: 'ada', emailVerified: new Date(0) } as never)
  return { auth, other, state, data, clock }
}

describe.each(['database', 'jwt'] as const)('under the %s strategy', (strategy) => {
  it.each(Object.keys(writes.database) as WayIn[])('%s: two faults in a row are overcome, and nothing is left', async (way) => {
    const { auth, state, data } = await world(strategy)
    const copied = await signedIn(auth)
    state.endAt = writes[strategy][way]
    state.failures = 2
    const before = countRows(data)
    const got = await enter[way](auth, copied).catch(() => undefined)
    expect(state.failed).toBe(2)
    expect(countRows(data)).toEqual(leftBy(before))
    expect(got && (await opens(auth, got))).toBeFalsy()
  })

  it.each(Object.keys(writes.database) as WayIn[])('%s: a store that never takes it back leaves nothing that opens', async (way) => {
    const { auth, other, state, clock } = await world(strategy)
    const copied = await signedIn(auth)
    state.endAt = writes[strategy][way]
    state.failures = 1_000
    const got: Credential | undefined = await enter[way](auth, copied).catch(() => undefined)
    state.failures = 0
    clock.at += 11_000
    for (const one of [auth, other]) expect(got && (await opens(one, got))).toBeFalsy()
    // And the copied browser is signed out.
    expect(await other.session(new Request(origin, { headers: { cookie: copied.cookieHeader() } }))).toBeNull()
    expect(new Client(auth).cookies.size).toBe(0)
  })
})
