/** Creates, lists, changes, rotates, renews, stops, starts and deletes agents. */
import { type AnyContext, HttpError, type StampOfAccess } from 'authkernel/kernel'
import { listRows } from 'authkernel/kernel/stores'
import { hasTypedAddress } from 'authkernel/kernel/users'
import { makeAgentId, makeCredential } from './credential.ts'
import { type AgentBudget, isBudget, type ResolvedOptions } from './options.ts'
import type { AgentRecord } from './tables.ts'

/** An agent, without what opens it. */
export interface Agent {
  id: string
  ownerId: string
  /** For users: 1 to 100 characters. */
  name: string
  scopes: readonly string[]
  /** The last 4 characters of its credential. */
  tail: string
  /** Requests that are left of `requests`, until `until`. */
  left: number
  requests: number
  until: Date
  /** `running`, who stopped it, or `spent`: its requests or days are used up. `access`: the access of the owner ended. */
  state: 'running' | 'spent' | 'stopped by owner' | 'stopped by admin' | 'stopped by access'
  created: Date
  lastUsed: Date | null
}
/** What a new agent is made from. */
export interface NewAgent {
  name: string
  /** Some of the option `scopes`; at least one. */
  scopes: readonly string[]
  /** Default, and at most: the option `budget`. */
  budget?: Partial<AgentBudget> | undefined
}
/** Which page. */
export interface AgentSearch {
  /** `cursor` of the page before. */
  cursor?: string | undefined
  /** 1 to 200; default 50. */
  limit?: number | undefined
}
/** One page. */
export interface AgentPage {
  items: Agent[]
  /** Of the next page; undefined: this was the last one. */
  cursor: string | undefined
}
/** The text is shown once. */
export type CreatedAgent = Agent & { credential: string }
/** Who stops an agent. */
export type Stopper = 'owner' | 'admin' | 'access'

const day = 86_400_000

/** Throws HttpError 400 for a name, scopes or a budget that are wrong, 403 for a right that the owner does not have, 409 beyond `max`. */
export async function createAgent(ctx: AnyContext, options: ResolvedOptions, userId: string, wanted: NewAgent): Promise<CreatedAgent> {
  const { name, scopes } = readWanted(options, wanted)
  const budget = readBudget(options, wanted.budget)
  // A proof of the address moves the user to its holder: an older agent would stay with the attacker who only typed the address.
  if (await hasTypedAddress(ctx, userId)) throw new HttpError(403, 'The email of the owner is not verified: verify it first.')
  const stamp = await stampOwner(ctx, userId)
  const id = makeAgentId(ctx)
  for (const scope of scopes)
    if (!(await hasRight(ctx, options, userId, id, scope)))
      throw new HttpError(403, `The owner does not have the right "${scope}", so an agent cannot have it.`)
  const { text, hash, tail } = await makeCredential(ctx, id)
  const agents = ctx.records('agent')
  const row = { id, userId, name, scopes, hash, formerHash: null, formerUntil: null, tail, ...budgetFields(ctx, budget), stopped: '' }
  const write = (): Promise<AgentRecord> => agents.create({ ...row, created: ctx.now, used: null })
  const written = await ctx.access.grant(stamp, 'apiKey', write, () => agents.delete(id))
  // Written first, then counted: agents that are made at the same moment cannot exceed the limit together.
  if ((await agents.count({ userId }, { max: options.max + 1 })) > options.max) {
    await agents.delete(id)
    throw new HttpError(409, `There are ${options.max} agents already. Delete one first.`)
  }
  await noteChange(ctx, written, 'created', { by: 'owner' })
  return { ...describeAgent(ctx, written), credential: text }
}

/** Oldest first. */
export async function listAgents(ctx: AnyContext, userId: string): Promise<Agent[]> {
  return (await listRows(ctx.records('agent'), { where: { userId } })).map((row) => describeAgent(ctx, row))
}

/** Agents of all users, the newest first, a page at a time. Throws HttpError 400 for another limit than 1 to 200. */
export async function searchAgents(ctx: AnyContext, { cursor, limit = 50 }: AgentSearch = {}): Promise<AgentPage> {
  if (!Number.isInteger(limit) || limit < 1 || limit > 200) throw new HttpError(400, '`limit` must be a whole number from 1 to 200.')
  const newest = { range: { created: { gt: new Date(0) } }, order: 'desc' } as const
  const found = await ctx.records('agent').find({ ...newest, limit, ...(cursor !== undefined && { cursor }) })
  return { items: found.rows.map((row) => describeAgent(ctx, row)), cursor: found.cursor }
}

/** A new credential. The one before lives on for `overlap` seconds. Null: the owner has no such agent, or it was changed at the same moment. */
export async function rotateAgent(ctx: AnyContext, options: ResolvedOptions, userId: string, id: string): Promise<CreatedAgent | null> {
  const row = await findOwned(ctx, userId, id)
  if (!row) return null
  const { text, hash, tail } = await makeCredential(ctx, id)
  const former = options.overlap > 0 ? { formerHash: row.hash, formerUntil: new Date(ctx.now.getTime() + options.overlap * 1000) } : null
  const change = { hash, tail, ...(former ?? { formerHash: null, formerUntil: null }) }
  const written = await grantChange(ctx, row, change, { hash: row.hash })
  if (!written) return null
  await noteChange(ctx, written, 'rotated', { by: 'owner' })
  return { ...describeAgent(ctx, written), credential: text }
}

/** A new budget, counted from now. Null: the owner has no such agent. Throws HttpError 400 for more than the option `budget`. */
export async function renewAgent(
  ctx: AnyContext,
  options: ResolvedOptions,
  userId: string,
  id: string,
  wanted?: Partial<AgentBudget>,
): Promise<Agent | null> {
  const budget = readBudget(options, wanted)
  const row = await findOwned(ctx, userId, id)
  const written = row && (await grantChange(ctx, row, budgetFields(ctx, budget)))
  if (!written) return null
  await noteChange(ctx, written, 'renewed', { by: 'owner' })
  return describeAgent(ctx, written)
}

/** What to change; what is absent stays. */
export interface AgentChange {
  name?: string | undefined
  /** Some of the option `scopes`; at least one. */
  scopes?: readonly string[] | undefined
}

/** Another name or other scopes. Null: the owner has no such agent. Throws HttpError 400 for a wrong name or scopes, 403 for a right that the owner does not have. */
export async function changeAgent(
  ctx: AnyContext,
  options: ResolvedOptions,
  userId: string,
  id: string,
  change: AgentChange,
): Promise<Agent | null> {
  const row = await findOwned(ctx, userId, id)
  if (!row) return null
  const { name, scopes } = readWanted(options, { name: change.name ?? row.name, scopes: change.scopes ?? row.scopes })
  for (const scope of scopes)
    if (!row.scopes.includes(scope) && !(await hasRight(ctx, options, userId, id, scope)))
      throw new HttpError(403, `The owner does not have the right "${scope}", so an agent cannot have it.`)
  const written = await grantChange(ctx, row, { name, scopes })
  if (!written) return null
  // What waits was asked for with other rights, or under another name.
  await ctx.records('agentApproval').deleteWhere({ where: { agentId: id } })
  await noteChange(ctx, written, 'changed', { by: 'owner' })
  return describeAgent(ctx, written)
}

/** Who stops or starts an agent. */
export interface AgentOrder {
  by: Stopper
  /** Of this owner alone; default: of any. */
  ownerId?: string
  /** Id of the administrator, where it is known. */
  adminId?: string | undefined
  reason?: string
}

/** The kill switch: rejected from the next request on. False: there is no such agent, or it was stopped before. */
export async function stopAgent(ctx: AnyContext, id: string, order: AgentOrder): Promise<boolean> {
  const { by, ownerId } = order
  const agents = ctx.records('agent')
  let row = typeof id === 'string' ? await agents.get(id) : null
  if (!row || (ownerId !== undefined && row.userId !== ownerId)) return false
  let written: AgentRecord | null = null
  // An administrator's stop outlives that of the owner, who could take back only the own one: also when both come at once.
  while (row && !written && row.stopped !== 'admin' && (row.stopped === '' || by === 'admin')) {
    written = await agents.update(id, { stopped: by }, { if: { stopped: row.stopped } })
    if (!written) row = await agents.get(id)
  }
  await ctx.records('agentApproval').deleteWhere({ where: { agentId: id } })
  if (!written) return false
  await noteChange(ctx, written, 'stopped', order)
  return true
}

/** Removes a stop. Null: no such agent. Throws HttpError 403 for one that an administrator stopped, unless an administrator starts it. */
export async function startAgent(ctx: AnyContext, id: string, order: AgentOrder): Promise<Agent | null> {
  const row = typeof id === 'string' ? await ctx.records('agent').get(id) : null
  if (!row || (order.ownerId !== undefined && row.userId !== order.ownerId)) return null
  if (row.stopped === 'admin' && order.by === 'owner') throw new HttpError(403, 'An administrator stopped this agent.')
  const written = row.stopped === '' ? row : await grantChange(ctx, row, { stopped: '' }, { stopped: row.stopped })
  if (!written) return null
  if (row.stopped !== '') await noteChange(ctx, written, 'started', order)
  return describeAgent(ctx, written)
}

/** False: the owner has no such agent. */
export async function deleteAgent(ctx: AnyContext, userId: string, id: string): Promise<boolean> {
  const row = await findOwned(ctx, userId, id)
  if (!row || !(await ctx.records('agent').delete(id))) return false
  await ctx.records('agentApproval').deleteWhere({ where: { agentId: id } })
  await noteChange(ctx, row, 'deleted', { by: 'owner' })
  return true
}

/** As owners and administrators see it. */
export function describeAgent(ctx: AnyContext, row: AgentRecord): Agent {
  const { id, userId, name, scopes, tail, left, requests, until, stopped, created, used } = row
  const state = stopped !== '' ? (`stopped by ${stopped}` as Agent['state']) : left <= 0 || until <= ctx.now ? 'spent' : 'running'
  return { id, ownerId: userId, name, scopes, tail, left: Math.max(left, 0), requests, until, state, created, lastUsed: used }
}

/** Whether the owner has a right now. */
export async function hasRight(
  ctx: AnyContext,
  { can }: Pick<ResolvedOptions, 'can'>,
  userId: string,
  agentId: string,
  scope: string,
): Promise<boolean> {
  if (!can) return true
  const user = ctx.store?.supports('getUser') ? await ctx.store.getUser(userId) : { id: userId }
  return user !== null && user !== undefined && (await can({ user, agentId, scope, ctx })) === true
}

async function findOwned(ctx: AnyContext, userId: string, id: string): Promise<AgentRecord | null> {
  const row = typeof id === 'string' ? await ctx.records('agent').get(id) : null
  return row?.userId === userId ? row : null
}

/** What gives an agent more access rests on that of the owner: taken back when it ended meanwhile. */
async function grantChange(
  ctx: AnyContext,
  { id, userId }: AgentRecord,
  change: Partial<AgentRecord>,
  condition: Partial<AgentRecord> = {},
): Promise<AgentRecord | null> {
  const stamp = await stampOwner(ctx, userId)
  const agents = ctx.records('agent')
  return ctx.access.grant(
    stamp,
    'apiKey',
    () => agents.update(id, change, { if: condition }),
    (written) => agents.update(id, { stopped: 'access' }, { if: { stopped: written?.stopped ?? '' } }),
  )
}

async function stampOwner(ctx: AnyContext, userId: string): Promise<StampOfAccess> {
  const ofSession = ctx.request ? await ctx.access.stampSession() : null
  return ofSession?.subject === `user:${userId}` ? ofSession : ctx.access.stamp(`user:${userId}`)
}

function readWanted({ scopes: known }: ResolvedOptions, { name, scopes }: NewAgent): { name: string; scopes: string[] } {
  // No line breaks and no marks that turn text around: the name is drawn beside a question.
  if (typeof name !== 'string' || name.trim() === '' || name.length > 100 || /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(name))
    throw new HttpError(400, 'Agent: `name` must be 1 to 100 visible characters.')
  if (!Array.isArray(scopes) || scopes.length === 0 || scopes.some((scope) => !known.includes(scope)))
    throw new HttpError(400, `Agent: \`scopes\` must be some of ${known.join(', ')}.`)
  return { name: name.trim(), scopes: [...new Set(scopes)] }
}

function readBudget({ budget }: ResolvedOptions, wanted: Partial<AgentBudget> = {}): AgentBudget {
  const read = { requests: wanted.requests ?? budget.requests, days: wanted.days ?? budget.days }
  if (!isBudget(read) || read.requests > budget.requests || read.days > budget.days)
    throw new HttpError(400, `Agent: \`budget\` must be at most ${budget.requests} requests and ${budget.days} days, each at least 1.`)
  return read
}

function budgetFields(ctx: AnyContext, { requests, days }: AgentBudget): Pick<AgentRecord, 'left' | 'requests' | 'until'> {
  return { left: requests, requests, until: new Date(ctx.now.getTime() + days * day) }
}

async function noteChange(
  ctx: AnyContext,
  { id, userId }: AgentRecord,
  act: 'created' | 'changed' | 'rotated' | 'renewed' | 'stopped' | 'started' | 'deleted',
  { by, adminId, reason = '' }: AgentOrder,
): Promise<void> {
  const admin = adminId === undefined ? null : { id: adminId }
  await ctx.emit('agentChanged', { user: { id: userId }, agentId: id, act, by, admin, reason })
}
