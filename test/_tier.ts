/** How much of a matrix runs: a part in the gate, all of it in the full tier (`.ci/run full`). */

/** Whether this run is of the full tier. */
export const isFullTier: boolean = process.env['AUTHKERNEL_TIER'] === 'full'

/** Every `step`-th case, from another one in each row of a matrix where `start` differs; all of them in the full tier. */
export function sampleCases<T>(cases: readonly T[], step: number, start = 0): T[] {
  return isFullTier ? [...cases] : cases.filter((_, at) => (at + start) % step === 0)
}

/** Stores that races of processes run on: PostgreSQL and Redis in the gate, all in the full tier. The contract of stores runs on all of them in both. */
export function sampleStores<T extends string>(kinds: readonly T[]): T[] {
  return isFullTier ? [...kinds] : kinds.filter((kind) => kind === 'postgres' || kind === 'redis')
}
