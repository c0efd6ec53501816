/** Users as sessions show them. */
import type { Store } from '../contract/adapter.ts'
import type { Context } from '../contract/context.ts'
import type { User } from '../contract/data.ts'

/** What a session shows of a stored user: id, name, email, image (null where there is none), and the fields of `copyShownFields`. */
export function toSessionUser(store: Pick<Store, 'shownFields'> | undefined, user: User & { id: string }): User {
  const { id, name = null, email = null, image = null } = user
  const shown: User = { id, name, email, image }
  copyShownFields(store, user, shown)
  return shown
}

/** Copies the fields of the option `additionalFields` that a session shows, where `from` has them. */
export function copyShownFields(store: Pick<Store, 'shownFields'> | undefined, from: object, to: object): void {
  for (const name of store?.shownFields ?? []) {
    const value = (from as Readonly<Record<string, unknown>>)[name]
    if (value !== undefined) Object.assign(to, { [name]: value })
  }
}

const changedProfiles = new WeakSet<Context>()

/** Renews the session of a request after name, picture or custom fields of its user were changed in the store. */
export async function renewShownUser(ctx: Context): Promise<void> {
  changedProfiles.add(ctx)
  await ctx.session.update(ctx, undefined)
}

/** For strategies that keep a copy of the user: whether this update has to copy name and picture from the store. */
export function isProfileChanged(ctx: Context): boolean {
  return changedProfiles.has(ctx)
}
