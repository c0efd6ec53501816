/** What a process of its own does in `processes.test.ts`: ways in, many at once. */
import type { Adapter } from 'authkernel/kernel'
import { Client } from '../_setup.ts'
import { type AccessHost, accessHost, type Credential, enter, type Strategy, type WayIn } from './_host.ts'

/** Asks a worker to begin each way in. */
export interface AccessTask {
  do: 'access'
  strategy: Strategy
  ways: readonly WayIn[]
  /** Cookies that an attacker copied. */
  cookies: readonly [string, string][]
  times: number
}
/** What a way in gave. */
export interface Gained {
  what: WayIn
  credential: Credential
}

const hosts = new Map<Strategy, AccessHost>()

/** Runs a task in this process. */
export async function enterAtOnce(
  adapter: Adapter,
  { strategy, ways, cookies, times }: AccessTask,
): Promise<PromiseSettledResult<Gained | null>[]> {
  const real = { now: () => Date.now(), random: (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes)), fetch }
  const auth = hosts.get(strategy) ?? accessHost(adapter, strategy, real)
  hosts.set(strategy, auth)
  const copied = new Client(auth)
  for (const [name, value] of cookies) copied.cookies.set(name, value)
  const acts = Array.from({ length: times }, () => ways).flat()
  return Promise.allSettled(
    acts.map(async (what) => {
      const credential = await enter[what](auth, copied).catch(() => undefined)
      return credential ? { what, credential } : null
    }),
  )
}
