/** Who the account page is about. */
import type { Context, User } from 'authkernel/kernel'

/** The person who is signed in: as stored, else as the session tells it. Null: nobody is. */
export async function personOf(ctx: Context): Promise<User | null> {
  const stored = await ctx.session.user(ctx)
  if (stored) return stored
  const session = await ctx.currentSession()
  // A key or an app acts for the person, and is not the person.
  if (!session || 'apiKey' in session || 'bearer' in session) return null
  return session.user ?? {}
}
