/** Acts that wait for a second administrator. A request is used up once, in whatever process the last approval comes. */
import { AccessDenied, type AnyContext, HttpError, type Kernel, type Row, type Store, type User } from 'authkernel/kernel'
import { acts, type ActInput, type Target } from './acts.ts'
import { type Admin, assertAllowed, findAdmin } from './administrator.ts'
import { findBan } from './bans.ts'
import type { ApprovableAct, By, ResolvedOptions } from './options.ts'
import type { RequestRow } from './tables.ts'

/** An act that was not done yet. */
export interface PendingApproval {
  /** Id for `approve` and `refuse`. */
  id: string
  act: ApprovableAct
  /** To whom. */
  userId: string
  /** Id of the administrator who asks. */
  by: string
  reason: string
  /** Ids of those who agreed. */
  approvedBy: readonly string[]
  /** Administrators who must still agree. */
  missing: number
  created: Date
  expires: Date
}

/** Stores a request. The same act of the same administrator to the same user waits once. */
export async function requestApproval(
  options: ResolvedOptions,
  { ctx, admin, user, reason }: Target,
  act: ApprovableAct,
  input: ActInput,
): Promise<PendingApproval> {
  const table = ctx.records('adminRequest')
  const { rows } = await table.find({ where: { userId: user.id, act }, limit: 100 })
  for (const row of rows) if (row.by === admin.id) await table.delete(row.id)
  const row = await table.create({
    act,
    userId: user.id,
    by: admin.id,
    reason,
    input,
    approvedBy: [],
    approvals: 0,
    created: ctx.now,
    expires: new Date(ctx.now.getTime() + options.approvalAge),
  })
  await ctx.emit('adminApproval', { admin, what: 'requested', act, user, reason, requestId: row.id })
  return toPending(options, row)
}

/** Requests that wait, the oldest first, at most 200. */
export async function listRequests(options: ResolvedOptions, ctx: AnyContext): Promise<PendingApproval[]> {
  const { rows } = await ctx.records('adminRequest').find({ range: { created: { gte: new Date(0) } }, limit: 200 })
  return rows.map((row) => toPending(options, row))
}

/**
 * One more administrator agrees. Undefined: the act was done. Throws HttpError 404 for a request that is gone. Throws AccessDenied for the one who asked, a second approval of one administrator, and without the right to the act. Throws HttpError 409 when the one who asked lost that right meanwhile: the request is gone then.
 */
export async function approveRequest(kernel: Kernel, options: ResolvedOptions, by: By, id: string): Promise<PendingApproval | undefined> {
  const found = await findRequest(kernel, options, by, id)
  const { actor, row, user } = found
  const { ctx, admin } = actor
  const table = ctx.records('adminRequest')
  if (row.by === admin.id) throw new AccessDenied('admin.approve: an administrator cannot approve the own request.')
  if (row.approvedBy.includes(admin.id)) throw new AccessDenied('admin.approve: this administrator has approved it already.')
  if (!(await isStillAllowed(options, actor, row, user, row.by))) {
    await table.delete(id)
    throw new HttpError(409, 'admin.approve: the administrator who asked may not do this any more. The request was removed.')
  }
  const act = row.act as ApprovableAct
  // Who agreed and lost the right since counts no more.
  const standing = await Promise.all(row.approvedBy.map((userId) => isStillAllowed(options, actor, row, user, userId)))
  const approvedBy = [...row.approvedBy.filter((_, index) => standing[index]), admin.id]
  if (approvedBy.length + 1 < (options.approvals[act] ?? 1)) {
    // `approvals` only grows: it tells one state of the row from the next.
    const change = { approvedBy, approvals: row.approvals + 1 }
    const changed = await table.update(id, change, { if: { approvals: row.approvals } })
    if (!changed) throw new HttpError(409, 'admin.approve: another administrator was faster. Look at the request again.')
    await ctx.emit('adminApproval', { admin, what: 'approved', act, user, reason: row.reason, requestId: id })
    return toPending(options, changed)
  }
  // One process does it, and once.
  if (!(await table.take(id, { if: { approvals: row.approvals } })))
    throw new HttpError(409, 'admin.approve: another administrator was faster. Look at the request again.')
  await ctx.emit('adminApproval', { admin, what: 'approved', act, user, reason: row.reason, requestId: id })
  const requester = (await ctx.store?.getUser(row.by)) as User & { id: string }
  const target: Target = { ctx, admin: requester, store: ctx.store as Store, user, reason: row.reason }
  await acts[act].run(options, target, row.input)
  await ctx.emit('adminAct', { admin: requester, act, user, reason: row.reason })
  return undefined
}

/** The request is gone. Each administrator who has the right to the act may reject it, also the one who asked. */
export async function refuseRequest(kernel: Kernel, options: ResolvedOptions, by: By, id: string): Promise<void> {
  const { actor, row, user } = await findRequest(kernel, options, by, id)
  if (!(await actor.ctx.records('adminRequest').take(id))) throw createNotFound()
  await actor.ctx.emit('adminApproval', {
    admin: actor.admin,
    what: 'refused',
    act: row.act as ApprovableAct,
    user,
    reason: row.reason,
    requestId: id,
  })
}

async function findRequest(
  kernel: Kernel,
  options: ResolvedOptions,
  by: By,
  id: string,
): Promise<{ actor: Admin; row: Row<RequestRow>; user: Target['user'] }> {
  const actor = await findAdmin(kernel, by, 'list')
  await assertAllowed(options, actor, 'list', null)
  const row = typeof id === 'string' && id.length <= 64 ? await actor.ctx.records('adminRequest').get(id) : null
  const user = row && (await (actor.ctx.store as Store).getUser(row.userId))
  if (!row || !user) throw createNotFound()
  await assertAllowed(options, actor, row.act, user)
  return { actor, row, user }
}

async function isStillAllowed(
  options: ResolvedOptions,
  { ctx }: Admin,
  row: RequestRow,
  user: Target['user'],
  administratorId: string,
): Promise<boolean> {
  const admin = await ctx.store?.getUser(administratorId)
  if (!admin || (await findBan(ctx, admin.id))) return false
  try {
    await assertAllowed(options, { ctx, admin }, row.act, user)
    return true
  } catch (error) {
    if (error instanceof AccessDenied) return false
    throw error
  }
}

function toPending(
  options: ResolvedOptions,
  { id, act, userId, by, reason, approvedBy, created, expires }: Row<RequestRow>,
): PendingApproval {
  const missing = Math.max(1, (options.approvals[act] ?? 1) - 1 - approvedBy.length)
  return { id, act: act as ApprovableAct, userId, by, reason, approvedBy, missing, created, expires }
}
function createNotFound(): HttpError {
  return new HttpError(404, 'admin.approve: there is no such request. It may have ended, or another administrator was faster.')
}
