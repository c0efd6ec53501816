/**
 * How often codes may be wrong: five times per code, ten times in 24 hours per identifier, 100 times in a row, and so many times a minute in the
 * whole deployment before an alarm is raised. Tries are counted before they are compared, so parallel ones cannot exceed a limit.
 */
import { type AnyContext, beginAttempt, type Bucket, type Context, networksOf, type Row } from 'authkernel/kernel'
import type { SignInCodeGuessRow } from './tables.ts'

const perCode = 5
const perDay = 10
const inARow = 100
const day = 86_400_000
const networkScale = 100
/** Wrong codes in a minute, over all identifiers. */
const alarmAt = 60

declare module 'authkernel/kernel' {
  interface Events {
    /** More than 60 wrong codes in a minute, over all identifiers of a tenant: an attacker guesses. Fires once a minute. */
    codesGuessed: { plugin: string }
  }
}

/** A try that was counted. */
export interface Guess {
  /** The code was right: the try was none. */
  right(): Promise<void>
  /** The code was wrong. */
  wrong(plugin: string): Promise<void>
}

/** Whether codes for an identifier have stopped: only a link helps, and where there are none, a day. */
export async function isStopped(ctx: AnyContext, id: string, hasLinks: boolean): Promise<boolean> {
  const guesses = ctx.records('signInCodeGuess')
  const state = await guesses.get(id)
  if (!state?.stopped) return false
  if (hasLinks || state.failures >= inARow || ctx.now.getTime() - state.since.getTime() <= day) return true
  await guesses.update(id, { stopped: false, recent: 0, since: ctx.now }, { if: { stopped: true, since: state.since } })
  return false
}

/** The identifier was proved by a link: codes count again. */
export async function forgetGuesses(ctx: AnyContext, id: string): Promise<void> {
  await ctx.records('signInCodeGuess').delete(id)
}

/** Counts a try at the code of a message. `id` names the count of its identifier. Undefined: there were too many. */
export async function beginGuess(ctx: Context, id: string, message: { id: string; code: string }): Promise<Guess | undefined> {
  const rule = ctx.app.config.throttle.credentials
  const buckets = networksOf(ctx.clientAddress).map(({ key, scale }): Bucket => {
    const { max, seconds } = rule || { max: 10, seconds: 600 }
    return { key: `codes network ${key}`, rule: { max: max * networkScale * scale, seconds } }
  })
  const attempt = rule ? await beginAttempt(ctx, buckets) : undefined
  if (attempt?.refused) return undefined
  const guesses = ctx.records('signInCodeGuess')
  const state = await guessStateOf(ctx, id)
  const countTry = async (): Promise<{ recent: number; failures: number } | undefined> => {
    if (state.stopped) return undefined
    // Null: this code was tried five times, or a newer one has taken its place.
    if ((await ctx.records('signInCode').increment(message.id, 'tries', 1, { max: perCode, if: { code: message.code } })) === null)
      return undefined
    if (ctx.now.getTime() - state.since.getTime() > day)
      await guesses.update(id, { recent: 0, since: ctx.now }, { if: { since: state.since, stopped: false } })
    const recent = await guesses.increment(id, 'recent', 1, { max: perDay, if: { stopped: false } })
    const failures = recent === null ? null : await guesses.increment(id, 'failures', 1)
    return recent === null || failures === null ? undefined : { recent, failures }
  }
  const now = await countTry()
  if (!now) {
    await attempt?.end(true)
    return undefined
  }
  return {
    async right() {
      await attempt?.end(false)
      await guesses.increment(id, 'recent', -1, { min: 0, set: { failures: 0 } })
    },
    async wrong(plugin) {
      await attempt?.end(true)
      if (now.recent >= perDay || now.failures >= inARow) await guesses.update(id, { stopped: true })
      await raiseAlarm(ctx, plugin)
    },
  }
}

async function guessStateOf(ctx: AnyContext, id: string): Promise<Row<SignInCodeGuessRow>> {
  const guesses = ctx.records('signInCodeGuess')
  const found = await guesses.get(id)
  if (found) return found
  // Another request may make it at the same moment.
  return guesses.create({ id, recent: 0, since: ctx.now, failures: 0, stopped: false }).catch(async (error: unknown) => {
    const other = await guesses.get(id)
    if (!other) throw error
    return other
  })
}

async function raiseAlarm(ctx: Context, plugin: string): Promise<void> {
  const { allowed } = await ctx.limit.take('codes wrong', { max: alarmAt, seconds: 60 })
  if (!allowed && (await ctx.once.take(`codes alarm ${Math.floor(ctx.now.getTime() / 60_000)}`, 120)))
    await ctx.emit('codesGuessed', { plugin })
}
