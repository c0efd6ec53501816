/** Random marks of pending flows, in the cookies of their further checks: the answer to a flow counts only with all of its marks. */
import { type Context, equal, toBase64Url } from 'authkernel/kernel'
import { cookies, type Entry, flowLifetime, isForeign, type Marked, marked, type Marks } from './lists.ts'

/** A mark for each check whose value the flow has. */
export function marksFor(ctx: Context, { verifier, nonce }: Entry): Marks {
  const marks: Marks = {}
  const mark = (): string => toBase64Url(ctx.runtime.random(16))
  if (verifier !== undefined) marks.pkce = mark()
  if (nonce !== undefined) marks.nonce = mark()
  return marks
}

/** Whether the browser brought the mark of a flow along. */
export function hasMark(ctx: Context, check: Marked, { marks }: Entry): boolean {
  const mark = marks?.[check]
  return (
    mark !== undefined &&
    (cookies[check]
      .get(ctx)
      ?.split('.')
      .some((value) => equal(value, mark)) ??
      false)
  )
}

/** Writes the marks of all flows of the browser; a cookie of a check that none of them has ends. */
export function writeMarks(ctx: Context, flows: readonly Entry[], survivesFailure: boolean): void {
  for (const check of marked) {
    const value = flows.flatMap(({ marks }) => marks?.[check] ?? []).join('.')
    if (value === '') {
      if (cookies[check].get(ctx) !== undefined) cookies[check].delete(ctx)
      continue
    }
    const foreign = flows.some(isForeign) ? ({ sameSite: 'none', secure: true } as const) : {}
    const expires = new Date(ctx.runtime.now() + flowLifetime * 1000)
    cookies[check].set(ctx, value, { ...foreign, expires, survivesFailure })
  }
}
