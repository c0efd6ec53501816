/** Random histories: ways in and endings of one user, at two processes, interleaved at each call of the store, with faults. */
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import type fc from 'fast-check'
import { Client, fakeRuntime } from '../_setup.ts'
import { type AccessHost, accessHost, type Credential, enter, opens, signedIn, type Strategy, type WayIn } from './_host.ts'

const origin = 'http://localhost:3000'

/** How access may end in a history. */
export const endings = ['signOutEverywhere', 'ban', 'deletion'] as const
type EndingKind = (typeof endings)[number]

/** A way in, or an ending, at one of two processes. */
export interface Act {
  what: WayIn | EndingKind
  process: 0 | 1
}

/** What a way in gave: whether it opens anything now. */
interface Given {
  what: WayIn
  began: number
  auth: AccessHost
  credential: Credential
}

type Turn = () => Promise<unknown>

/** Each call waits for its turn before and after, and now and then fails at one of the two. */
function interleaved<T extends object>(target: T, turn: Turn, fails: () => boolean): T {
  return new Proxy(target, {
    get(object, key) {
      const value = Reflect.get(object, key) as unknown
      if (key === 'records') return interleaved(value as object, turn, fails)
      if (typeof value !== 'function' || key === 'define') return value
      return async (...given: unknown[]) => {
        await turn()
        if (fails()) throw new Error('a fault before the write')
        const answer: unknown = await Reflect.apply(value, object, given)
        await turn()
        if (fails()) throw new Error('a fault after the write')
        return answer
      }
    },
  })
}

const end: Record<EndingKind, (auth: AccessHost, admin: Client) => Promise<unknown>> = {
  signOutEverywhere: (auth) => auth.sessions.revokeAll({ userId: 'ada' }),
  ban: (auth, admin) => auth.admin.ban(new Request(origin, { headers: { cookie: admin.cookieHeader() } }), 'ada', { reason: 'test' }),
  deletion: (auth) => auth.users.delete({ userId: 'ada' }),
}

/** Runs a history; answers what is wrong with it, undefined for nothing. */
export async function runHistory(
  strategy: Strategy,
  acts: readonly Act[],
  { scheduler, faults }: { scheduler: fc.Scheduler; faults: readonly number[] },
): Promise<string | undefined> {
  const data = memoryData()
  const clock = { at: Date.UTC(2026, 0, 2) }
  const state = { runs: false, calls: 0 }
  const turn = (): Promise<unknown> => (state.runs ? scheduler.schedule(Promise.resolve()) : Promise.resolve())
  const fails = (): boolean => state.runs && faults.includes(state.calls++)
  const processes = [0, 1].map(() => {
    // Two processes never see the same instant twice.
    const runtime = { ...fakeRuntime(), now: () => clock.at++ }
    return accessHost(interleaved(memoryAdapter(data), turn, fails), strategy, runtime)
  })
  const store = memoryAdapter(data)
  for (const id of ['ada', 'root'])
    await store.createUser({ id, email: `${id}@example.com`, name: id, emailVerified: new Date(0) } as never)
  // Cookies that an attacker copied, and the administrator, at each process.
  const copied = await Promise.all(processes.map((auth) => signedIn(auth)))
  const admins = await Promise.all(
    processes.map(async (auth) => {
      const client = new Client(auth)
      await client.post('/callback/credentials', { user: 'root' })
      return client
    }),
  )

  let steps = 0
  const given: Given[] = []
  const ended: { began: number; by: EndingKind }[] = []
  state.runs = true
  const work = acts.map(async ({ what, process }) => {
    await turn()
    const [auth, began] = [processes[process]!, steps++]
    try {
      if (what in end) {
        await end[what as EndingKind](auth, admins[process]!)
        ended.push({ began, by: what as EndingKind })
      } else {
        const credential = await enter[what as WayIn](auth, copied[process]!)
        if (credential) given.push({ what: what as WayIn, began, auth, credential })
      }
    } catch {
      // Refused, or the store failed.
    }
  })
  await scheduler.waitFor(Promise.all(work))
  state.runs = false
  // Other processes learn of revoked tokens within the staleness.
  clock.at += 11_000
  for (const one of given) {
    // API keys stay at a sign-out everywhere when they were there before; those that began before it may be either.
    const reaches = ended.filter(({ by }) => one.what !== 'apiKey' || by !== 'signOutEverywhere')
    if (reaches.some(({ began }) => began > one.began) && (await opens(one.auth, one.credential)))
      return `${one.what} lives on after ${JSON.stringify(ended)}`
  }
  return undefined
}
