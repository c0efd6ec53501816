/** How often a wrong factor may be tried: five times per parked login, ten times an hour per person, then ever longer waits. */
import type { Context } from 'authkernel/kernel'
import { type Person, stateOf } from './person.ts'

const hour = 3_600_000
const perHour = 10
const longest = 24 * hour
const perLogin = 5

/** Why a try does not count; `wait` in seconds. */
export type Refusal = { reason: 'wait'; wait: number } | { reason: 'over' }

/** Counts a try before it is compared, so that parallel ones cannot exceed the limit. Undefined: go on. */
export async function beginTry(ctx: Context, person: Person, parkedId: string | undefined): Promise<Refusal | undefined> {
  const state = await stateOf(ctx, person)
  const now = ctx.now.getTime()
  if (state.until.getTime() > now) return { reason: 'wait', wait: Math.ceil((state.until.getTime() - now) / 1000) }
  if (parkedId !== undefined) {
    const { allowed } = await ctx.limit.take(`two-factor:${parkedId}`, { max: perLogin, seconds: 3600 })
    if (!allowed) return { reason: 'over' }
  }
  const states = ctx.records('twoFactorState')
  // An hour without a wrong one begins anew.
  const stale = now - state.since.getTime() > hour && state.failures < perHour
  if (stale) await states.update(state.id, { failures: 0, since: ctx.now }, { if: { failures: state.failures } })
  const failures = (await states.increment(state.id, 'failures', 1)) ?? 1
  if (failures >= perHour) {
    const wait = Math.min(hour * 2 ** (failures - perHour), longest)
    await states.update(state.id, { until: new Date(now + wait) })
  }
  return undefined
}

/** The factor was right: the person's count begins anew. */
export async function endTry(ctx: Context, person: Person): Promise<void> {
  const { id } = await stateOf(ctx, person)
  await ctx.records('twoFactorState').update(id, { failures: 0, since: ctx.now, until: ctx.now })
}
