/** Counts a request under its rules: clients that go on wait longer each time, and the owner of the account may get a mail. */
import type { Context, Kernel, LimitRule } from 'authkernel/kernel'
import { tooMany } from './errors.ts'
import { countsOf, type Subject } from './keys.ts'
import { messages } from './messages.ts'
import type { LimitRuleFull } from './rules.ts'

/** What a request under way has taken. */
export interface Open {
  subject: Subject
  taken: TakenKeys
}

/** What one request has taken: keys to give back. */
type TakenKeys = string[]

// Places of clients that go on: the delay does not grow beyond the last.
const steps = 12
const day = 86_400

/** Throws TooManyRequests, and then has taken nothing. */
export async function countRequest(ctx: Context, rules: readonly LimitRuleFull[], subject: Subject): Promise<Open> {
  const returnable: TakenKeys = []
  const all: TakenKeys = []
  for (const rule of rules) {
    const hasOutcome = rule.failures && ctx.route?.flow === 'callback'
    // The step before has none, and its callback counts: one guess is one count.
    if (rule.failures && ctx.route?.flow === 'signIn') continue
    for (const { key, max } of await countsOf(ctx, rule, subject)) {
      const taken: TakenKeys = []
      const retryAfter = await takeAttempt(ctx, key, max, rule, taken)
      if (retryAfter !== undefined) {
        await Promise.all(all.map((name) => ctx.limit.refund(name)))
        if (rule.notice && subject.account !== undefined) sendNotice(ctx, subject.account)
        throw tooMany(rule, retryAfter)
      }
      all.push(...taken)
      if (hasOutcome) returnable.push(...taken)
    }
  }
  return { subject, taken: returnable }
}

/** Takes an attempt. Answers undefined and adds to `taken`, or the seconds until there is one; then nothing is taken. */
async function takeAttempt(ctx: Context, key: string, max: number, rule: LimitRuleFull, taken: TakenKeys): Promise<number | undefined> {
  const { allowed, retryAfter } = await ctx.limit.take(key, { max, seconds: rule.seconds })
  if (allowed) {
    taken.push(key)
    return undefined
  }
  return rule.delay ? takeWithDelay(ctx, key, rule.seconds, rule.delay, taken) : retryAfter
}

/**
 * Beyond the budget each attempt of the window has a step, and a gate that stays shut the longer the higher the step is. The first one shuts
 * the gate and is rejected.
 */
async function takeWithDelay(
  ctx: Context,
  key: string,
  seconds: number,
  { first, longest }: NonNullable<LimitRuleFull['delay']>,
  taken: TakenKeys,
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

/** Adds the mail to the owner of an account. */
export function declareNotice(kernel: Kernel): void {
  kernel.messages(messages)
  kernel.mailTemplate('limits.notice', {
    subject: 'limits.notice.subject',
    lines: ['limits.notice.what', 'limits.notice.from', 'limits.notice.do'],
    note: 'limits.notice.note',
  })
}

/** At most one mail a day for an account. The response does not wait for it, so that time does not tell whether the account exists. */
function sendNotice(ctx: Context, account: string): void {
  const send = async (): Promise<void> => {
    const user = await ctx.store?.getUserByEmail(account)
    if (!user || !user.emailVerified || !(await ctx.once.take(`limits notice ${account}`, day))) return
    await ctx.service('mail').send(ctx, user.email, 'limits.notice', { time: ctx.now, address: ctx.clientAddress ?? '?' })
  }
  void send().catch((error: unknown) => ctx.logger.error(error instanceof Error ? error : new Error(String(error))))
}
