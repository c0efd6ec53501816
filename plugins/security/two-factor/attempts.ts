/** How often a wrong factor may be tried: five times per parked login, ten times an hour per user, then ever longer waits. */
import type { Context, Row } from 'authkernel/kernel'
import { type Person, readState } from './person.ts'
import type { StateRow } from './tables.ts'

const hour = 3_600_000
const perHour = 10
const longest = 24 * hour
const perLogin = 5

// Each lost comparison means that another try was counted, so that few are needed until the limit is reached.
const maxRaces = 100

/** Why a try does not count; `wait` in seconds. */
type Refusal = { reason: 'wait'; wait: number } | { reason: 'over' }
/** A try that was counted before its code is compared. */
interface Try {
  readonly refused?: undefined
  /** The factor was right: this try is given back. */
  right(): Promise<void>
}

/**
 * Counts a try before it is compared. One conditional update writes the number, its time and the wait that follows, so that parallel tries of all processes cannot exceed the limit. `refused`: compare nothing.
 */
export async function beginTry(ctx: Context, person: Person, parkedId: string | undefined): Promise<Try | { refused: Refusal }> {
  if (parkedId !== undefined) {
    if (!(await takeTryOfLogin(ctx, parkedId))) return { refused: { reason: 'over' } }
  }
  let state = await readState(ctx, person)
  for (let races = 0; races < maxRaces; races++) {
    const now = ctx.now.getTime()
    if (state.until.getTime() > now) return waitFor(state.until.getTime() - now)
    const attempt = await countFailure(ctx, state, now)
    if (attempt) return { right: () => giveBack(ctx, attempt, state.failures >= perHour) }
    state = await readState(ctx, person)
  }
  return waitFor(1000)
}

/** Each try is a lease of its own, in the store of the records: the service `limit` may count in one process alone. */
async function takeTryOfLogin(ctx: Context, parkedId: string): Promise<boolean> {
  for (let number = 1; number <= perLogin; number++) if (await ctx.lease(`2fa:${parkedId.slice(0, 40)}:${number}`, hour / 1000)) return true
  return false
}

/** Null: another try was counted at the same moment. */
function countFailure(ctx: Context, state: Row<StateRow>, now: number): Promise<Row<StateRow> | null> {
  // An hour without a try begins anew. After a wait there is one try, and a longer wait after it.
  const before = now - state.since.getTime() > hour && state.failures < perHour ? 0 : state.failures
  const failures = before + 1
  const wait = failures < perHour ? 0 : Math.min(hour * 2 ** (failures - perHour), longest)
  const change = { failures, since: new Date(now), until: new Date(now + wait) }
  return ctx
    .records('twoFactorState')
    .update(state.id, change, { if: { failures: state.failures, since: state.since, until: state.until } })
}

/**
 * A right factor gives its own try back, and no other one: a code that is guessed beside it stays counted. `waited`: all wrong ones are an hour old,
 * and the count begins again.
 */
async function giveBack(ctx: Context, counted: Row<StateRow>, waited: boolean): Promise<void> {
  const states = ctx.records('twoFactorState')
  const { id, failures, since, until } = counted
  if (waited && (await states.update(id, { failures: 0, until: ctx.now }, { if: { failures, since, until } }))) return
  await states.increment(id, 'failures', -1, { min: 0, set: { until: ctx.now } })
}

function waitFor(milliseconds: number): { refused: Refusal } {
  return { refused: { reason: 'wait', wait: Math.ceil(milliseconds / 1000) } }
}
