/** The first section of the account page: name and address of its user. */
import type { AccountSection, AdapterUser, Context, User } from 'authkernel/kernel'

export const profileSection: AccountSection = {
  id: 'profile',
  order: 100,
  async draw(ctx, { say, avatar, tag, facts, html, buttonLink }) {
    const person = (await personOf(ctx)) ?? {}
    const { name, email, image } = person
    // Only a stored user has been asked to prove the address.
    const proved = 'emailVerified' in person ? (person as AdapterUser).emailVerified !== null : undefined
    const state = proved !== undefined && tag(say(proved ? 'account.confirmed' : 'account.unconfirmed'), proved ? 'ok' : 'warn')
    return {
      heading: say('account.profile'),
      // Of accountsPlugin.
      actions: ctx.app.parts.pages.has('accountProfile') && buttonLink(say('account.profile.edit'), '/account/profile'),
      body: html`<div class="ui-profile">
        ${avatar({ name: name || email || '?', picture: image, size: 'large' })}${facts([
          [say('account.name'), name && html`<bdi>${name}</bdi>`],
          [say('account.email'), email && html`<bdi>${email}</bdi> ${state}`],
        ])}
      </div>`,
    }
  },
}

/** The user who is signed in: as stored, else as in the session. Null: signed out. */
export async function personOf(ctx: Context): Promise<User | null> {
  const stored = await ctx.session.user(ctx)
  if (stored) return stored
  const session = await ctx.currentSession()
  // An API key, an app or an agent acts for the user, and may not see the account.
  if (!session || 'apiKey' in session || 'bearer' in session || 'agent' in session) return null
  return session.user ?? {}
}
