/**
 * Attempts that are counted before their work and given back when they were no offence. Those under way take places too, so that guesses in
 * parallel cannot exceed a limit; an attempt that finds all places taken by those under way waits for them, and is rejected only when all of them
 * were wrong.
 */
import type { CommonContext } from '../contract/context.ts'
import type { LimitRule } from '../contract/services.ts'
import { Overloaded } from '../errors/deadlines.ts'

/** A key and a limit for counting attempts. */
export interface Bucket {
  /** What is counted together. */
  key: string
  /** How many attempts the bucket has room for. */
  rule: LimitRule
}
/** An attempt under way. */
export interface Attempt {
  /** Seconds until the next one may be made, when this one may not; `bucket` is the one that is full. */
  readonly refused: { retryAfter: number; bucket: Bucket } | undefined
  /** Ends it. `counts`: it was wrong, and stays counted in every bucket; else it is given back in all of them. Once; later calls do nothing. */
  end(counts: boolean): Promise<void>
}

/** Those who are busy with one key in this process. */
interface Line {
  /** Taking a place, or holding one. While there are any, others may wait; the line is forgotten with the last. */
  active: number
  waiting: ((refused?: number) => void)[]
  forget(): void
}
type HeldPlace = Bucket & { readonly line: Line }

const maxWaiting = 500
// Milliseconds: attempts of other processes may be under way, too.
const pauses = [50, 150, 400]

/**
 * Counts an attempt in every bucket, in their order. Waits while the places of a bucket are taken by attempts under way. An attempt that
 * outlives its request is given back.
 */
export async function beginAttempt(ctx: CommonContext, buckets: readonly Bucket[]): Promise<Attempt> {
  const held: HeldPlace[] = []
  let ended: Promise<void> | undefined
  const end = (counts: boolean): Promise<void> => (ended ??= releasePlaces(ctx, held, counts))
  for (const bucket of buckets) {
    const line = lineOf(ctx, bucket.key)
    try {
      const retryAfter = await takePlace(ctx, bucket, line)
      if (retryAfter !== undefined) {
        await end(false)
        return { refused: { retryAfter, bucket }, end }
      }
      held.push({ ...bucket, line })
    } catch (error) {
      await end(false)
      throw error
    }
  }
  const lost = (): void => void end(false)
  if (ctx.signal.aborted) lost()
  else ctx.signal.addEventListener('abort', lost, { once: true })
  return { refused: undefined, end }
}

/** Takes a place. Answers undefined, or the seconds until there is one. */
async function takePlace(ctx: CommonContext, { key, rule }: Bucket, line: Line): Promise<number | undefined> {
  if (line.waiting.length === 0) line.active++
  else {
    const refused = await waitInLine(ctx, line)
    if (refused !== undefined) return refused
  }
  for (let again = 0; ;) {
    let answer: { allowed: boolean; retryAfter: number }
    try {
      answer = await ctx.limit.take(key, rule)
      // Those of other processes: it is not known when they are done.
      while (!answer.allowed && line.active === 1 && ctx.once.shared && again < pauses.length) {
        await new Promise((resolve) => setTimeout(resolve, pauses[again++]))
        answer = await ctx.limit.take(key, rule)
      }
    } catch (error) {
      leaveLine(line)
      throw error
    }
    if (answer.allowed) return undefined
    line.active--
    if (line.active === 0) {
      // No attempt here holds a place, so none becomes free for those who wait.
      for (const go of line.waiting.splice(0)) go(answer.retryAfter)
      line.forget()
      return answer.retryAfter
    }
    const refused = await waitInLine(ctx, line)
    if (refused !== undefined) return refused
  }
}

/** Until another attempt ends, or the request does. Answers seconds when the wait was for nothing. */
function waitInLine(ctx: CommonContext, line: Line): Promise<number | undefined> {
  if (line.waiting.length >= maxWaiting) {
    const text = `More than ${maxWaiting} attempts wait for one name or network.`
    throw new Overloaded(text)
  }
  return new Promise((resolve, reject) => {
    const go = (refused?: number): void => {
      ctx.signal.removeEventListener('abort', stop)
      resolve(refused)
    }
    const stop = (): void => {
      const at = line.waiting.indexOf(go)
      if (at >= 0) line.waiting.splice(at, 1)
      reject(ctx.signal.reason as Error)
    }
    if (ctx.signal.aborted) return stop()
    ctx.signal.addEventListener('abort', stop, { once: true })
    line.waiting.push(go)
  })
}

async function releasePlaces(ctx: CommonContext, held: readonly HeldPlace[], counts: boolean): Promise<void> {
  if (!counts) await Promise.all(held.map(({ key }) => ctx.limit.refund(key)))
  for (const { line } of held) leaveLine(line)
}

/** The one that waits longest takes over the activity, so that the line stays known until it is empty. */
function leaveLine(line: Line): void {
  const next = line.waiting.shift()
  if (next) return next()
  line.active--
  if (line.active === 0) line.forget()
}

function lineOf(ctx: CommonContext, key: string): Line {
  const lines = ctx.app.shared.cache<Line>('attempts')
  const name = `${ctx.settings.namespace} ${key}`
  let line = lines.get(name)
  if (!line) lines.set(name, (line = { active: 0, waiting: [], forget: () => void lines.delete(name) }))
  return line
}
