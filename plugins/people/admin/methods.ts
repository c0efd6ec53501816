/** `client.admin`: the acts of `auth.admin` for a page of the host's own. Each asks `can` first, as the API does. */
import { clientMethod, clientMethods, type ClientPart, HttpError, type Kernel, type Wire } from 'authkernel/kernel'
import type { AdminActs, ListedUser } from './api.ts'

/** Whom, and why: 1 to 500 characters. */
type Order = { userId: string; reason: string }
/**
 * `client.admin` with the option `pages`. Each rejects with `AccessDenied` (403) when nobody, a key or a banned user asks, or `can` says no; with status 404 for an unknown user,
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

/** Adds the methods. */
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

function readFields(sent: unknown): Record<string, unknown> {
  if (typeof sent !== 'object' || sent === null) throw new TypeError('an object')
  return { ...sent }
}

function readUserId(given: unknown): string {
  if (typeof given !== 'string' || given === '') throw new HttpError(400, 'Give `userId` as text.')
  return given
}

// A date that is none is refused by the act.
function readDate(given: unknown): Date {
  return new Date(typeof given === 'string' ? given : Number.NaN)
}
