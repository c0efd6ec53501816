/** What administrators do to a user: the input of each act, and its work. */
import { type AdapterUser, AuthError, HttpError, type Store, type User, toAddress } from 'authkernel/kernel'
import { endAccess, writeAddress } from 'authkernel/kernel/users'
import type { Admin } from './administrator.ts'
import { banId } from './bans.ts'
import type { ApprovableAct, ResolvedOptions } from './options.ts'
import { assertRole, storeRole } from './roles.ts'
import { never } from './tables.ts'

/** An act under way: who does it, to whom and why. */
export interface Target extends Admin {
  store: Store
  user: AdapterUser
  reason: string
}
/** Plain data, which a request for approval keeps. */
export type ActInput = Readonly<Record<string, unknown>>
/** One act. `read` checks what was given, and answers it as plain data. `run` does it. */
interface Act {
  read(options: ResolvedOptions, target: Target, given: ActInput): ActInput
  run(options: ResolvedOptions, target: Target, input: ActInput): Promise<unknown>
}

const nothing = (): ActInput => ({})

/** Acts by name. */
export const acts: Readonly<Record<ApprovableAct | 'unban', Act>> = {
  ban: {
    read(_options, { ctx, admin, user }, { until = never }) {
      if (user.id === admin.id) throw new HttpError(400, 'admin.ban: administrators cannot ban themselves.')
      if (!(until instanceof Date) || !(until > ctx.now) || until > never)
        throw new HttpError(400, 'admin.ban: `until` must be a date in the future.')
      return { until: until.getTime() }
    },
    async run(_options, { ctx, admin, user, reason }, { until }) {
      const row = { userId: user.id, reason, by: admin.id, since: ctx.now, until: new Date(until as number) }
      // The row first: a sign-in at this moment is refused, or ended by what follows.
      await ctx.records('userBan').put({ id: await banId(user.id), ...row })
      await endAccess(ctx, { userId: user.id }, 'admin.ban', 'ban')
    },
  },
  unban: { read: nothing, run: async (_options, { ctx, user }) => ctx.records('userBan').delete(await banId(user.id)) },
  signOut: { read: nothing, run: async (_options, { ctx, user }) => void (await endAccess(ctx, { userId: user.id }, 'admin.signOut')) },
  newFactor: {
    read: nothing,
    async run(_options, { ctx, admin, user, reason }) {
      if ((await ctx.ask('newFactor', { user, admin, reason })) !== true)
        throw new AuthError('admin.newFactor: no plugin answers the hook `newFactor`. Use twoFactorPlugin, or answer it yourself.')
    },
  },
  verifyAddress: {
    read: nothing,
    async run(_options, { ctx, store, user }) {
      if (!user.email) throw new HttpError(409, 'admin.verifyAddress: the user has no address.')
      if (user.emailVerified) return
      await ctx.emit('updateUser', { user: await store.updateUser({ id: user.id, emailVerified: ctx.now }) })
    },
  },
  resetPassword: {
    read: nothing,
    async run(_options, { ctx, admin, user }) {
      if (!user.email) throw new HttpError(409, 'admin.resetPassword: the user has no address.')
      if ((await ctx.ask('resetPassword', { user, admin })) !== true)
        throw new HttpError(
          409,
          'admin.resetPassword: no plugin answers the hook `resetPassword`. Use passwordsPlugin, or answer it yourself.',
        )
    },
  },
  setRole: {
    read(options, { admin, user }, { role = null }) {
      assertRole(options, admin, user, role)
      return { role }
    },
    run: (options, target, { role }) => storeRole(options, target, target.user, role as string | null),
  },
  updateUser: {
    read(_options, { admin, user }, given) {
      if (user.id === admin.id) throw new HttpError(400, 'admin.updateUser: administrators change their own profile on the account page.')
      return readProfile('updateUser', given)
    },
    run: (_options, target, input) => changeProfile(target, input),
  },
  deleteUser: {
    read(_options, { admin, store, user }) {
      if (user.id === admin.id) throw new HttpError(400, 'admin.deleteUser: administrators cannot delete themselves.')
      if (!store.supports('deleteUser')) throw new HttpError(409, 'admin.deleteUser: the adapter has no deleteUser().')
      return {}
    },
    async run(_options, { ctx, store, user }) {
      await endAccess(ctx, { userId: user.id }, 'admin.deleteUser')
      await store.deleteUser(user.id)
    },
  },
}

/** Name, address and picture. Throws HttpError 400 that names the field. */
export function readProfile(what: string, { name, email, image }: ActInput): ActInput {
  const wrong = (field: string, rule: string): HttpError => new HttpError(400, `admin.${what}: \`${field}\` must be ${rule}.`)
  const address = typeof email === 'string' ? toAddress(email) : undefined
  if (name !== undefined && name !== null && (typeof name !== 'string' || name.trim() === '' || name.length > 200 || hasControls(name)))
    throw wrong('name', 'null or 1 to 200 characters')
  if (email !== undefined && address === undefined) throw wrong('email', 'a mail address')
  const isPicture = (value: unknown): boolean =>
    typeof value === 'string' && value.length <= 2000 && URL.canParse(value) && new URL(value).protocol === 'https:'
  if (image !== undefined && image !== null && !isPicture(image)) throw wrong('image', 'null or an https URL')
  return {
    ...(name !== undefined && { name: typeof name === 'string' ? name.trim() : null }),
    ...(address !== undefined && { email: address }),
    ...(image !== undefined && { image }),
  }
}

/** A new address is not verified, and what opened the old one ends. */
async function changeProfile({ ctx, store, user }: Target, input: ActInput): Promise<void> {
  const { email } = input as { email?: string }
  const isNew = email !== undefined && email !== user.email
  const change = { id: user.id, ...input, ...(isNew && { emailVerified: null }) } as Partial<AdapterUser> & { id: string }
  if (Object.keys(change).length === 1) return
  const write = async (): Promise<AdapterUser> => {
    // Before and after: where the second ending fails, a retry finds the address as it should be, and would end nothing.
    if (isNew) await endAccess(ctx, { userId: user.id }, 'admin.updateUser')
    return store.updateUser(change)
  }
  const stored = isNew ? await writeAddress(ctx, email, user.id, write) : await write()
  if (!stored) throw new HttpError(409, 'admin.updateUser: another user has this address.')
  await ctx.emit('updateUser', { user: stored })
  if (!isNew) return
  await endAccess(ctx, { userId: user.id }, 'admin.updateUser')
  await ctx.emit('credentialChanged', { user: stored as User, kind: 'address', action: 'changed' })
}

function hasControls(text: string): boolean {
  return /[\p{Cc}\p{Cs}]/u.test(text)
}
