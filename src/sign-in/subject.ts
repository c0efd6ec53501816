/** Who a flow belongs to. */
import type { Context } from '../contract/context.ts'

/** Who is signed in, as text to compare; null: nobody. */
export async function subjectOf(ctx: Context): Promise<string | null> {
  return ctx.session.subject ? ctx.session.subject(ctx) : ((await ctx.session.user(ctx))?.id ?? null)
}
