/** Who looks at a page. */
import { type Context, subjectOf } from 'authkernel/kernel'

/** Whether the server would call this person signed in; false also where the store cannot say, which is no reason to show no page. */
export async function isKnown(ctx: Context): Promise<boolean> {
  try {
    return (await ctx.session.user(ctx)) !== null
  } catch {
    return false
  }
}

/** Nothing that could be a session came with the request. Reads no store. */
export async function isNobody(ctx: Context): Promise<boolean> {
  return !ctx.chunkedCookie(ctx.cookies.sessionToken.name) && (await subjectOf(ctx)) === null
}
