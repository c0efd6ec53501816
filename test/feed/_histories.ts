/** One history of the model: what was acknowledged, what was accepted, and what is wrong with it. */
import { RecordConflict } from 'authkernel/kernel'
import { memoryRecords } from 'authkernel/plugins/memory'
import { defineFeed, type Process, sessionOf, startProcess } from './_process.ts'
import { createWorld, distantStore, seededRandom } from './_world.ts'

/** What happens, and in which process. Times are milliseconds after the act before. */
export type Act = { wait: number; process: number } & (
  | { what: 'signIn'; user: number }
  | { what: 'read'; token: number }
  | { what: 'endAll'; user: number; except: number | undefined }
  | { what: 'signOut'; token: number }
  | { what: 'providerLogout'; user: number }
  | { what: 'take'; value: number }
  | { what: 'cut'; region: number; ms: number }
  | { what: 'slow'; region: number; ms: number; delay: number }
  | { what: 'setClock'; by: number }
  | { what: 'kill' }
)
export interface History {
  acts: readonly Act[]
  seed: number
  /** Seconds. */
  staleness: number
  whenStale: 'ask' | 'reject'
  /** Milliseconds that the clock of each process is ahead at the start. */
  skew: readonly number[]
}
/** Numbers of a history, to see that it is not empty. */
export interface Counts {
  accepted: number
  ended: number
  unknown: number
  acknowledged: number
  failed: number
}

interface Token {
  value: string
  user: string
  sid: string
  asked: number
  given: number
}
interface Ending {
  reaches(token: Token): boolean
  began: number
  /** Undefined: not acknowledged. */
  acknowledged: number | undefined
  settled: number | undefined
}

const regions = ['eu', 'us']
const processes = 4
/** Milliseconds: two clocks differ by no more. */
export const maxSkew = 1_000
const users = ['ada', 'bob']

/** Runs a history. Throws for an acceptance later than the bound, for a session that ends without a reason, and for a second winner. */
export async function runHistory({ acts, seed, staleness, whenStale, skew }: History): Promise<Counts> {
  const world = createWorld()
  const random = seededRandom(seed)
  const stores = regions.map(() => defineFeed(memoryRecords()))
  const cutUntil = new Map<string, number>()
  const slow = new Map<string, { until: number; delay: number }>()
  const counts: Counts = { accepted: 0, ended: 0, unknown: 0, acknowledged: 0, failed: 0 }
  const tokens: Token[] = []
  const endings: Ending[] = []
  const winners = new Map<number, number>()
  const faults: string[] = []
  const offsets = Array.from({ length: processes }, (_, at) => skew[at] ?? 0)

  const start = (
    at: number,
  ): { process: Process; kill(): void; home: string; distant: ReadonlyMap<string, ReturnType<typeof defineFeed>> } => {
    let isAlive = true
    const home = regions[at % regions.length]!
    const distant = new Map(
      regions.map((region, index) => {
        const name = `${at} ${region}`
        const link = {
          isAlive: () => isAlive,
          isUp: () => world.time >= (cutUntil.get(name) ?? 0),
          delay() {
            const state = slow.get(name)
            return random() * (region === home ? 5 : 80) + (state && world.time < state.until ? random() * state.delay : 0)
          },
        }
        return [region, distantStore(stores[index]!, world, link)]
      }),
    )
    const options = {
      region: home,
      stores: distant,
      now: () => world.time + offsets[at]!,
      elapsed: () => world.time,
      random,
      staleness,
      whenStale,
      trimEvery: 3,
    }
    const process = startProcess({ ...options, clockDifference: maxSkew / 1000 })
    return { process, kill: () => (isAlive = false), home, distant }
  }
  const running = Array.from({ length: processes }, (_, at) => start(at))

  async function end(reaches: Ending['reaches'], work: () => Promise<void>): Promise<void> {
    const ending: Ending = { reaches, began: world.time, acknowledged: undefined, settled: undefined }
    endings.push(ending)
    try {
      await work()
      ending.acknowledged = world.time
      counts.acknowledged++
    } catch {
      counts.failed++
    }
    ending.settled = world.time
  }

  function judge(token: Token, { began, accepted }: { began: number; accepted: boolean }): void {
    const bound = staleness * 1000
    for (const { reaches, began: asked, acknowledged } of endings) {
      if (!accepted || acknowledged === undefined || !reaches(token) || token.given > asked) continue
      if (began > acknowledged + bound) faults.push(`accepted ${began - acknowledged} ms after the end was acknowledged (bound ${bound})`)
    }
    // What was over before the sign-in began ends nothing of it.
    const mayEnd = endings.some((one) => one.reaches(token) && (one.settled === undefined || one.settled > token.asked))
    const isYoung = world.time < token.asked + 55_000
    if (!accepted && !mayEnd && isYoung) faults.push('ended without a reason')
  }

  async function act(one: Act): Promise<void> {
    const at = one.process % processes
    const { process, home, distant } = running[at]!
    const token = 'token' in one && tokens.length > 0 ? tokens[one.token % tokens.length] : undefined
    const user = 'user' in one ? users[one.user % users.length]! : ''
    const region = 'region' in one ? `${at} ${regions[one.region % regions.length]}` : ''
    switch (one.what) {
      case 'signIn': {
        const asked = world.time
        const sid = `sid-${one.user % 3}`
        const value = await process.signIn(user, sid).catch(() => undefined)
        if (value !== undefined) tokens.push({ value, user, sid, asked, given: world.time })
        return
      }
      case 'read': {
        if (!token) return
        const began = world.time
        try {
          const accepted = await process.read(token.value)
          counts[accepted ? 'accepted' : 'ended']++
          judge(token, { began, accepted })
        } catch {
          counts.unknown++
        }
        return
      }
      case 'endAll': {
        const spared = one.except === undefined ? undefined : tokens.filter((each) => each.user === user)[one.except]
        const except = spared ? { except: sessionOf(spared.value) } : {}
        return end(
          (each) => each.user === user && each !== spared,
          () => process.revoke({ userId: user, ...except }),
        )
      }
      case 'signOut':
        return (
          token &&
          end(
            (each) => each === token,
            () => process.signOut(token.value),
          )
        )
      case 'providerLogout': {
        const sid = `sid-${one.user % 3}`
        const until = world.time + offsets[at]!
        return end(
          (each) => each.sid === sid,
          () => process.revoke({ provider: 'idp', sid, until, brief: true }),
        )
      }
      case 'take': {
        const store = distant.get(regions[one.value % regions.length]!)!
        const row = { ns: '', id: `one-time ${one.value}`, seq: 0, first: 0, tag: home }
        try {
          await store.write([{ op: 'create', table: 'revocationHead', row }], 0)
          winners.set(one.value, (winners.get(one.value) ?? 0) + 1)
        } catch (error) {
          if (!(error instanceof RecordConflict) && String(error) !== 'Error: cut') throw error
        }
        return
      }
      case 'cut':
        return void cutUntil.set(region, world.time + one.ms)
      case 'slow':
        return void slow.set(region, { until: world.time + one.ms, delay: one.delay })
      case 'setClock':
        return void (offsets[at]! += one.by)
      default:
        running[at]!.kill()
        running[at] = start(at)
    }
  }

  const all = (async () => {
    for (const one of acts) {
      await world.after(one.wait)
      act(one).catch((error: unknown) => faults.push(String(error)))
    }
  })()
  await world.run()
  await all
  for (const [value, count] of winners) if (count > 1) faults.push(`${count} winners of the one-time value ${value}`)
  if (faults.length > 0) throw new Error(faults.join('\n'))
  return counts
}
