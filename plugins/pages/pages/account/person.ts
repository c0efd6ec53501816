/** Who the account page is about. */
import type { Context, User } from 'authkernel/kernel'

/** The person who is signed in: as stored, else as the session tells it. Null: nobody is. */
export async function personOf(ctx: Context): Promise<User | null> {
  const stored = await ctx.session.user(ctx)
  if (stored) return stored
  const session = await ctx.currentSession()
  return session ? (session.user ?? {}) : null
}
