/** Takes attempts, and makes those who go on wait longer each time, in place of shutting them out. */
import type { Context, LimitRule } from 'authkernel/kernel'
import type { LimitRuleFull } from './rules.ts'

/** What one request has taken: keys to give back. */
export type Taken = string[]

// Places of those who go on: the delay does not grow beyond the last.
const steps = 12

/** Takes an attempt. Answers undefined and adds to `taken`, or the seconds until there is one; then nothing is taken. */
export async function takeAttempt(ctx: Context, key: string, max: number, rule: LimitRuleFull, taken: Taken): Promise<number | undefined> {
  const { allowed, retryAfter } = await ctx.limit.take(key, { max, seconds: rule.seconds })
  if (allowed) {
    taken.push(key)
    return undefined
  }
  return rule.delay ? takeWithDelay(ctx, key, rule.seconds, rule.delay, taken) : retryAfter
}

/**
 * Beyond the budget each attempt of the window has a step, and a gate that stays shut the longer the higher the step is. The first one shuts
 * the gate and is refused.
 */
async function takeWithDelay(
  ctx: Context,
  key: string,
  seconds: number,
  { first, longest }: NonNullable<LimitRuleFull['delay']>,
  taken: Taken,
): Promise<number | undefined> {
  const one = (length: number): LimitRule => ({ max: 1, seconds: length })
  const pause = (step: number): number => Math.min(longest, first * 2 ** step)
  let step = 0
  while (step < steps && !(await ctx.limit.take(`${key} step ${step}`, one(Math.max(seconds, pause(step))))).allowed) step++
  const gate = await ctx.limit.take(`${key} gate`, one(pause(step)))
  if (step === 0 && gate.allowed) return pause(0)
  const place = step < steps ? [`${key} step ${step}`] : []
  if (gate.allowed) {
    taken.push(...place)
    return undefined
  }
  for (const name of place) await ctx.limit.refund(name)
  return gate.retryAfter
}
