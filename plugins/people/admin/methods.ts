/** `auth.admin`: each call asks roles and `can` before it reads or changes. */
import { type AdapterUser, AuthError, HttpError, type Kernel, type Store } from 'authkernel/kernel'
import type { AuditPage, AuditVerification } from 'authkernel/plugins/audit'
import { acts, type ActInput } from './acts.ts'
import { type Admin, assertAllowed, assertReader, checkReason, findAdmin, isId } from './administrator.ts'
import { type ClientActs, createClientActs } from './client-acts.ts'
import { approveRequest, listRequests, type PendingApproval, refuseRequest, requestApproval } from './approvals.ts'
import { type AuditFormat, type AuditSearch, checkFormat, exportAudit, readAudit, verifyAudit } from './audit-export.ts'
import { type Configuration, readConfiguration } from './configuration.ts'
import { readDetails, type UserDetails } from './details.ts'
import type { AdminAct, ApprovableAct, By, Order, ResolvedOptions } from './options.ts'
import { type Counts, type Overview, readOverview } from './overview.ts'
import { actsOf, assertCovered, coversRole, findRole } from './roles.ts'
import {
  assertPlugin,
  type ListedKey,
  type ListedOrganization,
  readKeys,
  readOrganizations,
  type ThingPage,
  type ThingQuery,
} from './things.ts'
import { createUser, findInvited, type ListedUser, searchUsers, signInUrl, toListedUsers, type UserPage, type UserSearch } from './users.ts'

/** Why, and until when. */
export interface BanOrder extends Order {
  /** Default: until `unban`. */
  until?: Date | undefined
}
/** A user to make. */
export interface UserOrder extends Order {
  email: string
  /** 1 to 200 characters; default null. */
  name?: string | null | undefined
}
/** What to change. A field that is left out stays as it is. */
export interface ProfileOrder extends Order {
  /** 1 to 200 characters, or null. */
  name?: string | null | undefined
  /** Another address is not verified, and all sessions end. */
  email?: string | undefined
  /** An https URL, or null. */
  image?: string | null | undefined
}
/** What the administrator may do. */
export interface AdminRights {
  /** Null: no role; `can` alone decides. */
  role: string | null
  acts: AdminAct[]
  /** Roles that the administrator can give. */
  roles: string[]
}
/** Undefined: it was done. Else the act waits for other administrators (`approvals`). */
export type ActResult = PendingApproval | undefined
/**
 * Each throws AccessDenied for a request that is signed out, an API key and a banned user, and if the role or `can` does not permit it. Each throws HttpError 404 for an unknown user, and 400 for a reason or another value that is missing or wrong.
 */
export interface AdminActs extends ClientActs {
  /** Needs the act `list`. */
  list(by: By, search?: UserSearch): Promise<UserPage>
  /** Null: there is no such user. */
  get(by: By, userId: string): Promise<ListedUser | null>
  /** The user with accounts, passkeys, factors, sessions, keys, apps and organizations; needs the act `get`. Null: there is no such user. */
  getDetails(by: By, userId: string): Promise<UserDetails | null>
  /** For menus; needs the right to read something. Without roles it has no acts, because `can` decides on each. Throws AccessDenied. */
  getRights(by: By): Promise<AdminRights>
  /** Counts of the last days, 1 to 366; default 30. */
  getOverview(by: By, options?: { days?: number | undefined }): Promise<Overview>
  /** Stores a user without asking the hook `createUser`. `verified`: the administrator knows that the address is the user's. Throws HttpError 409 for a taken address. */
  createUser(by: By, order: UserOrder & { verified?: boolean | undefined }): Promise<ListedUser>
  /**
   * Stores a user and mails the link of the sign-in page. A user who never signed in, and whose address is not verified, gets the mail once more, unchanged.
   * Throws HttpError 409 for an address of another user, AuthError without a mail transport.
   */
  inviteUser(by: By, order: UserOrder): Promise<ListedUser>
  /** Changes name, address or picture. */
  updateUser(by: By, userId: string, order: ProfileOrder): Promise<ActResult>
  /** Gives a role of administrators, or takes it (null). Not the own one, and none with more rights than the own. */
  setRole(by: By, userId: string, order: Order & { role: string | null }): Promise<ActResult>
  /** Mails a link by which the user chooses a new password. Throws HttpError 409 without an address, or a plugin that answers the hook `resetPassword`. */
  resetPassword(by: By, userId: string, order: Order): Promise<ActResult>
  /** Rejects every sign-in and API key of the user, and ends all sessions. A second ban replaces the first. Throws HttpError 400 for their own account. */
  ban(by: By, userId: string, order: BanOrder): Promise<ActResult>
  /** False: the user was not banned. */
  unban(by: By, userId: string, order: Order): Promise<boolean>
  /** Ends all sessions of the user. */
  signOut(by: By, userId: string, order: Order): Promise<ActResult>
  /** Removes all second factors, so that the next sign-in sets up a new one. Throws AuthError when no plugin answers the hook `newFactor`. */
  newFactor(by: By, userId: string, order: Order): Promise<ActResult>
  /** The administrator knows that the address is the user's. Throws HttpError 409 for a user without an address. */
  verifyAddress(by: By, userId: string, order: Order): Promise<ActResult>
  /** Deletes the user with accounts, sessions and records. Throws HttpError 400 for their own account. */
  deleteUser(by: By, userId: string, order: Order): Promise<ActResult>
  /**
   * A redirect whose cookies make the browser the user's, for 30 minutes, by impersonationPlugin, whose `can` is asked too. `returnTo` is a path of this site; default `/`. Throws
   * AuthError without a plugin that answers the hook `impersonate`, and AccessDenied for a proof of the administrator that is too old.
   */
  impersonate(request: Request, userId: string, order: Order & { returnTo?: string | undefined }): Promise<Response>
  /** Acts that wait for another administrator, the oldest first, at most 200; needs the act `list`. */
  listApprovals(by: By): Promise<PendingApproval[]>
  /** Agrees to an act; needs the right to the act. Undefined: it was done. Throws HttpError 404 for a request that is gone, AccessDenied for the own one. */
  approve(by: By, requestId: string): Promise<ActResult>
  /** Removes a request; needs the right to the act. */
  refuse(by: By, requestId: string): Promise<void>
  /** In the order of their ids. Throws HttpError 409 without organizationsPlugin. */
  listOrganizations(by: By, query?: ThingQuery): Promise<ThingPage<ListedOrganization>>
  /** In the order of their ids, or those of one user. Throws HttpError 409 without apiKeysPlugin. */
  listKeys(by: By, query?: ThingQuery & { userId?: string | undefined }): Promise<ThingPage<ListedKey>>
  /** The key is rejected from now on. False: there is no such key. */
  revokeKey(by: By, keyId: string, order: Order): Promise<boolean>
  /** The audit log, newest first. Throws HttpError 409 without auditPlugin and `recordsSink()`. */
  listAudit(by: By, search?: AuditSearch): Promise<AuditPage>
  /** The audit log as text of a file, in chunks: JSON lines, or CSV whose cells are no formulas. */
  exportAudit(by: By, search: AuditSearch, format: AuditFormat): Promise<AsyncIterable<string>>
  /** Whether records were changed or removed. */
  verifyAudit(by: By): Promise<AuditVerification>
  /** Plugins, providers, routes and warnings, without secrets. */
  getConfiguration(by: By): Promise<Configuration>
}

/** `counts` are those of `addCounts`. */
export function createApi(kernel: Kernel, options: ResolvedOptions, counts: Counts): AdminActs {
  const reader = async (by: By, act: AdminAct): Promise<Admin> => {
    const actor = await findAdmin(kernel, by, act)
    await assertAllowed(options, actor, act, null)
    return actor
  }
  /** One act: checks the administrator, the user, rights, reason and input. Then does it and emits the event, or stores a request. */
  async function act(
    by: By,
    what: ApprovableAct | 'unban',
    userId: string,
    { reason, ...given }: Partial<Order> & ActInput,
  ): Promise<unknown> {
    const actor = await findAdmin(kernel, by, what)
    const store = actor.ctx.store as Store
    const user = isId(userId) ? await store.getUser(userId) : null
    // Only administrators learn whether the user exists.
    await assertAllowed(options, actor, what, user)
    if (!user) throw new HttpError(404, `admin.${what}: there is no such user.`)
    const target = { ...actor, store, user, reason: checkReason(what, reason) }
    const input = acts[what].read(options, target, given)
    if (what !== 'unban' && (options.approvals[what] ?? 1) > 1) {
      // A request for more rights than the own is refused when it is made, not when it is approved.
      if (what === 'setRole') await assertCovered(options, actor, input['role'] as string | null)
      return requestApproval(options, target, what, input)
    }
    const answer = await acts[what].run(options, target, input)
    await actor.ctx.emit('adminAct', { admin: actor.admin, act: what, user, reason: target.reason })
    return answer
  }
  const doneBy =
    (what: ApprovableAct) =>
    async (by: By, userId: string, order: Order): Promise<ActResult> =>
      (await act(by, what, userId, { ...order })) as ActResult
  async function make(
    by: By,
    what: 'createUser' | 'inviteUser',
    order: UserOrder,
  ): Promise<{ actor: Admin; user: AdapterUser; url: string }> {
    const actor = await reader(by, what)
    const reason = checkReason(what, order?.reason)
    if (what === 'inviteUser' && !actor.ctx.app.services.mailTransport)
      throw new AuthError('admin.inviteUser: no mail transport is configured. Set `mail` of createAuth, or use createUser.')
    // What cannot be mailed makes no user.
    const url = what === 'inviteUser' ? signInUrl(actor.ctx) : ''
    const invited = what === 'inviteUser' ? await findInvited(actor, counts, order.email) : null
    if (invited) await assertAllowed(options, actor, what, invited)
    const user = invited ?? (await createUser(actor, what, { ...order }))
    await actor.ctx.emit('adminAct', { admin: actor.admin, act: what, user, reason })
    return { actor, user, url }
  }
  const listed = async ({ ctx }: Admin, user: AdapterUser): Promise<ListedUser> => (await toListedUsers(ctx, [user]))[0] as ListedUser

  return {
    async list(by, search = {}) {
      const actor = await reader(by, 'list')
      await counts.flush(actor.ctx)
      return searchUsers(actor, search)
    },
    async get(by, userId) {
      const { actor, user } = await findUser(kernel, options, by, userId)
      return user && listed(actor, user)
    },
    async getDetails(by, userId) {
      const { actor, user } = await findUser(kernel, options, by, userId)
      return user && readDetails(options, actor.ctx, user)
    },
    async getRights(by) {
      const actor = await findAdmin(kernel, by, 'list')
      await assertReader(options, actor)
      const role = options.roles ? await findRole(options, actor.ctx, actor.admin) : null
      const own = actsOf(options, role)
      const mayGive = own.has('setRole') && !options.roleOf
      const roles = mayGive ? [...(options.roles?.keys() ?? [])].filter((one) => coversRole(options, role, one)) : []
      return { role, acts: [...own], roles }
    },
    getOverview: async (by, { days } = {}) => readOverview((await reader(by, 'overview')).ctx, counts, days),
    async createUser(by, order) {
      const { actor, user } = await make(by, 'createUser', order)
      return listed(actor, user)
    },
    async inviteUser(by, { email, name, reason } = {} as UserOrder) {
      const { actor, user, url } = await make(by, 'inviteUser', { email, name, reason })
      await actor.ctx.service('mail').send(actor.ctx, user.email, 'admin.invited', { url })
      return listed(actor, user)
    },
    updateUser: doneBy('updateUser'),
    setRole: doneBy('setRole'),
    resetPassword: doneBy('resetPassword'),
    ban: doneBy('ban'),
    unban: async (by, userId, order) => (await act(by, 'unban', userId, { ...order })) === true,
    signOut: doneBy('signOut'),
    newFactor: doneBy('newFactor'),
    verifyAddress: doneBy('verifyAddress'),
    deleteUser: doneBy('deleteUser'),
    async impersonate(request, userId, { reason, returnTo } = {} as Order & { returnTo?: string }) {
      const actor = await findAdmin(kernel, request, 'impersonate')
      const user = isId(userId) ? await (actor.ctx.store as Store).getUser(userId) : null
      await assertAllowed(options, actor, 'impersonate', user)
      if (!user) throw new HttpError(404, 'admin.impersonate: there is no such user.')
      const response = await actor.ctx.ask('impersonate', { user, reason: checkReason('impersonate', reason), returnTo, request })
      if (!response) throw new AuthError('admin.impersonate: no plugin answers the hook `impersonate`. Use impersonationPlugin.')
      await actor.ctx.emit('adminAct', { admin: actor.admin, act: 'impersonate', user, reason })
      return response
    },
    listApprovals: async (by) => listRequests(options, (await reader(by, 'list')).ctx),
    approve: (by, requestId) => approveRequest(kernel, options, by, requestId),
    refuse: (by, requestId) => refuseRequest(kernel, options, by, requestId),
    listOrganizations: async (by, query = {}) => readOrganizations((await reader(by, 'organizations')).ctx, query),
    listKeys: async (by, query = {}) => readKeys((await reader(by, 'keys')).ctx, query),
    async revokeKey(by, keyId, order) {
      const { ctx, admin } = await reader(by, 'revokeKey')
      const reason = checkReason('revokeKey', order?.reason)
      assertPlugin(ctx, 'api-keys', 'revokeKey')
      const row = isId(keyId) ? await ctx.records('apiKey').get(keyId) : null
      const owner = row?.userId == null ? null : await (ctx.store as Store).getUser(row.userId)
      await assertAllowed(options, { ctx, admin }, 'revokeKey', owner)
      if (!row || (await ctx.ask('revokeKey', { keyId })) !== true) return false
      await ctx.emit('adminAct', { admin, act: 'revokeKey', user: owner ?? { id: '' }, reason })
      return true
    },
    ...createClientActs(kernel, options),
    listAudit: async (by, search = {}) => readAudit((await reader(by, 'audit')).ctx, search),
    async exportAudit(by, search, format) {
      const { ctx } = await reader(by, 'audit')
      // What is wrong is thrown here, before a file has begun.
      await readAudit(ctx, { ...search, limit: 1 })
      return exportAudit(ctx, search, checkFormat(format))
    },
    verifyAudit: async (by) => verifyAudit((await reader(by, 'audit')).ctx),
    getConfiguration: async (by) => readConfiguration(kernel, (await reader(by, 'configuration')).ctx),
  }
}

async function findUser(
  kernel: Kernel,
  options: ResolvedOptions,
  by: By,
  userId: string,
): Promise<{ actor: Admin; user: AdapterUser | null }> {
  const actor = await findAdmin(kernel, by, 'get')
  const user = isId(userId) ? await (actor.ctx.store as Store).getUser(userId) : null
  await assertAllowed(options, actor, 'get', user)
  return { actor, user }
}
