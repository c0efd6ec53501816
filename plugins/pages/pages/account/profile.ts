/** The first section of the account page: name and address of its user. */
import type { AccountSection, AdapterUser, Context, User } from 'authkernel/kernel'
import { markup } from '../ui/html.ts'

export const profileSection: AccountSection = {
  id: 'profile',
  order: 100,
  async draw(ctx, { say }) {
    const person = (await personOf(ctx)) ?? {}
    const { name, email } = person
    // Only a stored user has been asked to prove the address.
    const proved = 'emailVerified' in person ? (person as AdapterUser).emailVerified !== null : undefined
    const state = proved === undefined ? undefined : say(proved ? 'account.confirmed' : 'account.unconfirmed')
    return {
      heading: say('account.profile'),
      body: markup`<dl class="facts">
${name && markup`<div><dt>${say('account.name')}</dt><dd><bdi>${name}</bdi></dd></div>`}
${email && markup`<div><dt>${say('account.email')}</dt><dd><bdi>${email}</bdi>${state && markup` <small>${state}</small>`}</dd></div>`}
</dl>`,
    }
  },
}

/** The user who is signed in: as stored, else as in the session. Null: signed out. */
export async function personOf(ctx: Context): Promise<User | null> {
  const stored = await ctx.session.user(ctx)
  if (stored) return stored
  const session = await ctx.currentSession()
  // An API key or an app acts for the user, and may not see the account.
  if (!session || 'apiKey' in session || 'bearer' in session) return null
  return session.user ?? {}
}
