/** `auth.admin` and `client.admin`: each call asks `can` before it reads or changes. */
import {
  type AdapterUser,
  AuthError,
  clientMethod,
  clientMethods,
  type ClientPart,
  HttpError,
  type Kernel,
  type Store,
  type User,
  type Wire,
  readFields,
} from 'authkernel/kernel'
import { endAccess } from 'authkernel/kernel/users'
import { type Admin, assertAllowed, findAdmin } from './administrator.ts'
import { type Ban, banId, findBan } from './bans.ts'
import type { AdminAct, AdminOptions, By } from './options.ts'
import { never } from './tables.ts'

/** A user as administrators see it. */
export interface ListedUser {
  id: string
  name: string | null
  email: string | null
  emailVerified: Date | null
  image: string | null
  /** Null: not banned. */
  ban: Ban | null
}
/** Which users. */
export interface UserSearch {
  /** Beginning of the address, in any case; default: any. */
  email?: string | undefined
  /** `next` of the page before. */
  after?: string | undefined
  /** Default 50, at most 200. */
  limit?: number | undefined
}
/** Users in the order of their ids. */
export interface UserPage {
  users: ListedUser[]
  /** Give it as `after`; undefined: this was the last page. */
  next: string | undefined
}
/** Why, and until when. */
export interface BanOrder {
  /** 1 to 500 characters. The audit log keeps it. */
  reason: string
  /** Default: until `unban`. */
  until?: Date | undefined
}
/**
 * Each throws AccessDenied for a request that is signed out, an API key and a banned user, and if `can` says no; HttpError 404 for an unknown user, 400 for a reason or a
 * date that is missing or wrong.
 */
export interface AdminActs {
  /** Needs `can` for the act `list`. */
  list(by: By, search?: UserSearch): Promise<UserPage>
  /** Null: there is no such user. */
  get(by: By, userId: string): Promise<ListedUser | null>
  /** Refuses every sign-in and API key of the user, and ends all sessions. A second ban replaces the first. Throws HttpError 400 for their own account. */
  ban(by: By, userId: string, order: BanOrder): Promise<void>
  /** False: the user was not banned. */
  unban(by: By, userId: string, order: { reason: string }): Promise<boolean>
  /** Ends all sessions of the user. */
  signOut(by: By, userId: string, order: { reason: string }): Promise<void>
  /** Removes all second factors, so that the next sign-in sets up a new one. Throws AuthError when no plugin answers the hook `newFactor`. */
  newFactor(by: By, userId: string, order: { reason: string }): Promise<void>
  /** The administrator knows that the address is the user's. Throws HttpError 409 for a user without an address. */
  verifyAddress(by: By, userId: string, order: { reason: string }): Promise<void>
}

/** The user, and the reason: 1 to 500 characters. */
type Order = { userId: string; reason: string }
/**
 * `client.admin` with the option `pages`. Each rejects with `AccessDenied` (403) when signed out, for a key and a banned user, and if `can` says no; with status 404 for an unknown user,
 * and 400 for a reason or a date that is missing or wrong. Dates are text in ISO 8601.
 */
export interface AdminMethods {
  /** Users in the order of their ids. `limit`: default 50, at most 200. `next`: give it as `after`; absent on the last page. */
  list(input: { email?: string; after?: string; limit?: number }): Promise<{ users: Wire<ListedUser>[]; next?: string }>
  /** Null: there is no such user. */
  get(input: { userId: string }): Promise<Wire<ListedUser> | null>
  /** Refuses every sign-in of the user, and ends all sessions. */
  ban(input: Order & { until?: string }): Promise<null>
  /** False: the user was not banned. */
  unban(input: Order): Promise<boolean>
  /** Ends all sessions of the user. */
  signOut(input: Order): Promise<null>
  /** Removes all second factors, so that the next sign-in sets up a new one. */
  newFactor(input: Order): Promise<null>
  /** The administrator knows that the address is the user's. Rejects with status 409 for a user without an address. */
  verifyAddress(input: Order): Promise<null>
}
/** `client.admin` on `auth`, for types alone. */
export type AdminClient = ClientPart<{ readonly admin: AdminMethods }>

/** `auth.admin`: every call names who acts. */
export function createApi(kernel: Kernel, options: AdminOptions): AdminActs {
  /** One act: checks the administrator, the user, `can` and the reason. Then runs `work`, and emits the event. */
  async function act<T>(by: By, what: AdminAct, userId: string, reason: unknown, work: (found: Target) => Promise<T>): Promise<T> {
    const actor = await findAdmin(kernel, by, what)
    const store = actor.ctx.store as Store
    const user = await store.getUser(userId)
    // Only administrators learn whether the user exists.
    await assertAllowed(options, actor, what, user)
    if (!user) throw new HttpError(404, `admin.${what}: there is no such user.`)
    if (typeof reason !== 'string' || reason.trim() === '' || reason.length > 500)
      throw new HttpError(400, `admin.${what}: give a \`reason\` of 1 to 500 characters; the audit log keeps it.`)
    const answer = await work({ ...actor, store, user, reason })
    await actor.ctx.emit('adminAct', { admin: actor.admin, act: what, user, reason })
    return answer
  }

  return {
    async list(by, { email = '', after, limit = 50 } = {}) {
      const actor = await findAdmin(kernel, by, 'list')
      await assertAllowed(options, actor, 'list', null)
      if (!Number.isInteger(limit) || limit < 1 || limit > 200)
        throw new HttpError(400, 'admin.list: `limit` must be a whole number from 1 to 200.')
      if (typeof email !== 'string' || (after !== undefined && typeof after !== 'string'))
        throw new HttpError(400, 'admin.list: `email` and `after` must be texts.')
      // One more tells whether there is a next page.
      const query = { email: email.trim().toLowerCase(), limit: limit + 1, ...(after !== undefined && { after }) }
      const found = await (actor.ctx.store as Store).listUsers(query)
      const page = found.slice(0, limit)
      const users = await Promise.all(page.map((user) => toListedUser(actor, user)))
      return { users, next: found.length > limit ? page.at(-1)?.id : undefined }
    },
    async get(by, userId) {
      const actor = await findAdmin(kernel, by, 'get')
      const user = await (actor.ctx.store as Store).getUser(userId)
      await assertAllowed(options, actor, 'get', user)
      return user && toListedUser(actor, user)
    },
    ban: (by, userId, order) =>
      act(by, 'ban', userId, order?.reason, async ({ ctx, admin, user, reason }) => {
        const { until = never } = order
        if (user.id === admin.id) throw new HttpError(400, 'admin.ban: administrators cannot ban themselves.')
        if (!(until instanceof Date) || !(until > ctx.now) || until > never)
          throw new HttpError(400, 'admin.ban: `until` must be a date in the future.')
        // The row first: a sign-in at this moment is refused, or ended by what follows.
        await ctx.records('userBan').put({ id: await banId(user.id), userId: user.id, reason, by: admin.id, since: ctx.now, until })
        await endAccess(ctx, { userId: user.id }, 'admin.ban', 'ban')
      }),
    unban: (by, userId, order) =>
      act(by, 'unban', userId, order?.reason, async ({ ctx, user }) => ctx.records('userBan').delete(await banId(user.id))),
    signOut: (by, userId, order) =>
      act(by, 'signOut', userId, order?.reason, async ({ ctx, user }) => {
        await endAccess(ctx, { userId: user.id }, 'admin.signOut')
      }),
    newFactor: (by, userId, order) =>
      act(by, 'newFactor', userId, order?.reason, async ({ ctx, admin, user, reason }) => {
        if ((await ctx.ask('newFactor', { user, admin, reason })) !== true)
          throw new AuthError('admin.newFactor: no plugin answers the hook `newFactor`. Use twoFactorPlugin, or answer it yourself.')
      }),
    verifyAddress: (by, userId, order) =>
      act(by, 'verifyAddress', userId, order?.reason, async ({ ctx, store, user }) => {
        if (!user.email) throw new HttpError(409, 'admin.verifyAddress: the user has no address.')
        if (user.emailVerified) return
        await ctx.emit('updateUser', { user: await store.updateUser({ id: user.id, emailVerified: ctx.now }) })
      }),
  }
}

/** The routes of `client.admin`: the user who is signed in acts. */
export function addClientMethods(kernel: Kernel, acts: AdminActs): void {
  const simple = (name: 'unban' | 'signOut' | 'newFactor' | 'verifyAddress') =>
    clientMethod(readFields, (ctx, { userId, reason }): Promise<boolean | void> =>
      acts[name](ctx.request, readUserId(userId), { reason: reason as string }),
    )
  clientMethods(kernel, 'admin', {
    list: clientMethod(readFields, (ctx, sent) => acts.list(ctx.request, sent)),
    get: clientMethod(readFields, (ctx, { userId }) => acts.get(ctx.request, readUserId(userId))),
    ban: clientMethod(readFields, (ctx, { userId, reason, until }) =>
      acts.ban(ctx.request, readUserId(userId), { reason: reason as string, ...(until !== undefined && { until: readDate(until) }) }),
    ),
    unban: simple('unban'),
    signOut: simple('signOut'),
    newFactor: simple('newFactor'),
    verifyAddress: simple('verifyAddress'),
  })
}

function readUserId(value: unknown): string {
  if (typeof value !== 'string' || value === '') throw new HttpError(400, 'Give `userId` as text.')
  return value
}

// A date that is none is refused by the act.
function readDate(value: unknown): Date {
  return new Date(typeof value === 'string' ? value : Number.NaN)
}

interface Target extends Admin {
  store: Store
  user: AdapterUser
  reason: string
}

async function toListedUser({ ctx }: Admin, user: User & { id: string; emailVerified?: Date | null }): Promise<ListedUser> {
  const { id, name = null, email = null, image = null, emailVerified = null } = user
  return { id, name, email, emailVerified, image, ban: await findBan(ctx, id) }
}
