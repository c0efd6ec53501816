/** Users of groups: one row each, written in batches. */
import { RecordConflict, type Row } from 'authkernel/kernel'
import { readRows } from 'authkernel/kernel/stores'
import { ScimError } from './errors.ts'
import type { Comparison, ScimFilter } from './filter.ts'
import type { PatchOperation } from './patch.ts'
import type { ScimResource } from './resource.ts'
import { applyRules, namesGroup } from './rules.ts'
import type { ScimGroupRow, ScimMemberRow, ScimUserRow } from './tables.ts'
import type { Caller } from './caller.ts'

type Group = Row<ScimGroupRow>

const batch = 500
const maxMembers = 100_000
const maxAsked = 50

/** Ids of the members that a client sent. Throws ScimError 400 for nested groups and for values without an id. */
export function readMemberIds(value: unknown): string[] {
  const values = Array.isArray(value) ? value : value === undefined || value === null ? [] : [value]
  if (values.length > maxMembers) throw new ScimError(413, `More than ${maxMembers} members in one request.`, 'tooMany')
  const ids = new Set<string>()
  for (const one of values) {
    const { value: id, type } = typeof one === 'string' ? ({ value: one } as ScimResource) : (Object(one) as ScimResource)
    if (typeof type === 'string' && type.toLowerCase() === 'group') throw nestedGroup()
    if (!isRowId(id)) throw noMemberId()
    ids.add(id)
  }
  return [...ids]
}

/** Adds users. Those who are in the group already stay. Throws ScimError 400 for an id of no user of this directory; none is added then. */
export async function addMembers(caller: Caller, group: Group, ids: readonly string[]): Promise<void> {
  const users = await findUsers(caller, ids)
  const table = caller.ctx.records('scimMember')
  for (let at = 0; at < users.length; at += batch) {
    const rows = users.slice(at, at + batch).map((user) => toRow(caller, group, user))
    try {
      await table.createMany(rows)
    } catch (error) {
      if (!(error instanceof RecordConflict)) throw error
      for (const row of rows) await createMember(caller, row)
    }
  }
  await applyRulesTo(caller, group, users)
}

/** The members become exactly these. */
export async function replaceMembers(caller: Caller, group: Group, ids: readonly string[]): Promise<void> {
  const wanted = new Set(ids)
  for await (const row of readRows(caller.ctx.records('scimMember'), { where: { groupId: group.id } }))
    if (!wanted.delete(row.scimUserId)) await removeRow(caller, group, row)
  await addMembers(caller, group, [...wanted])
}

/** One change of members that a PATCH asks for. `all`: the group is emptied first. */
export interface MemberChange {
  readonly op: 'add' | 'remove' | 'replace' | 'all'
  readonly ids: readonly string[]
}

/** Reads operations of a PATCH whose path is `members`. Throws ScimError 400 before anything is written, also for users of other directories. */
export async function readMemberChanges(caller: Caller, operations: readonly PatchOperation[]): Promise<MemberChange[]> {
  const changes = operations.map(({ op, filter, value }): MemberChange => {
    const ids = filter ? readFilterIds(filter) : readMemberIds(value)
    if (op === 'replace' && filter) throw new ScimError(400, 'A member cannot be replaced: remove one and add another.', 'mutability')
    // Entra ID removes members by a list of values without a filter. Without either, or with null, all go.
    return op === 'remove' && !filter && (value === undefined || value === null) ? { op: 'all', ids: [] } : { op, ids }
  })
  const joined = joinChanges(changes)
  for (const { op, ids } of joined) if (op === 'add' || op === 'replace') await findUsers(caller, ids)
  return joined
}

/** Some directories send an operation for each member: what follows each other and does the same is one change. */
function joinChanges(changes: readonly MemberChange[]): MemberChange[] {
  const joined: { op: MemberChange['op']; ids: Set<string> }[] = []
  for (const { op, ids } of changes) {
    const last = joined.at(-1)
    if (last?.op === op && (op === 'add' || op === 'remove')) for (const id of ids) last.ids.add(id)
    else joined.push({ op, ids: new Set(ids) })
  }
  return joined.map(({ op, ids }) => ({ op, ids: [...ids] }))
}

/** Whether changes change a member. Of many ids it is not asked: the first one that does ends the search, and most requests have such a one. */
export async function doChange({ ctx }: Caller, { id: groupId }: Group, changes: readonly MemberChange[]): Promise<boolean> {
  const asked = changes.flatMap(({ op, ids }) => ids.map((scimUserId) => ({ op, scimUserId })))
  if (asked.length > maxAsked || changes.some(({ op }) => op === 'replace' || op === 'all')) return true
  for (const { op, scimUserId } of asked)
    if (((await ctx.records('scimMember').get({ groupId, scimUserId })) === null) === (op === 'add')) return true
  return false
}

/** Carries out changes that `readMemberChanges` has checked. */
export async function changeMembers(caller: Caller, group: Group, changes: readonly MemberChange[]): Promise<void> {
  for (const { op, ids } of changes) {
    if (op === 'add') await addMembers(caller, group, ids)
    else if (op === 'replace') await replaceMembers(caller, group, ids)
    else if (op === 'remove') await removeMembers(caller, group, ids)
    else await removeAllMembers(caller, group)
  }
}

/** Empties the group. */
export async function removeAllMembers(caller: Caller, group: Group): Promise<void> {
  const table = caller.ctx.records('scimMember')
  if (!namesGroup(caller, group)) {
    await table.deleteWhere({ where: { groupId: group.id } })
    return
  }
  for await (const row of readRows(table, { where: { groupId: group.id } })) await removeRow(caller, group, row)
}

async function removeMembers(caller: Caller, group: Group, ids: readonly string[]): Promise<void> {
  const table = caller.ctx.records('scimMember')
  for (const scimUserId of ids) {
    const row = await table.take({ groupId: group.id, scimUserId })
    if (row) await applyRulesTo(caller, group, [row])
  }
}

/** After the name of the group changed: other rules may name it now. One member at a time, so that a large group needs no memory. */
export async function applyRulesToGroup(caller: Caller, before: Group, group: Group): Promise<void> {
  if (before.nameKey === group.nameKey || !(namesGroup(caller, before) || namesGroup(caller, group))) return
  for await (const { userId } of readRows(caller.ctx.records('scimMember'), { where: { groupId: group.id } }))
    await applyRules(caller, userId)
}

async function removeRow(caller: Caller, group: Group, row: Row<ScimMemberRow>): Promise<void> {
  await caller.ctx.records('scimMember').delete(row.id)
  await applyRulesTo(caller, group, [row])
}

async function findUsers({ ctx, directory }: Caller, ids: readonly string[]): Promise<Row<ScimUserRow>[]> {
  const users: Row<ScimUserRow>[] = []
  for (let at = 0; at < ids.length; at += batch) {
    const rows = await ctx.records('scimUser').getMany(ids.slice(at, at + batch))
    users.push(...rows.filter(({ directoryId }) => directoryId === directory.id))
  }
  if (users.length === ids.length) return users
  const known = new Set(users.map(({ id }) => id))
  const unknown = ids.find((id) => !known.has(id)) ?? ''
  const inner = await ctx.records('scimGroup').get(unknown)
  if (inner?.directoryId === directory.id) throw nestedGroup()
  throw new ScimError(400, `"members": there is no user ${unknown}.`, 'invalidValue')
}

async function applyRulesTo(caller: Caller, group: Group, users: readonly Pick<ScimMemberRow, 'userId'>[]): Promise<void> {
  if (namesGroup(caller, group)) for (const { userId } of users) await applyRules(caller, userId)
}

async function createMember({ ctx }: Caller, row: Omit<Row<ScimMemberRow>, 'id'>): Promise<void> {
  try {
    await ctx.records('scimMember').create(row)
  } catch (error) {
    if (!(error instanceof RecordConflict)) throw error
  }
}

function toRow({ directory }: Caller, group: Group, { id, userId }: Row<ScimUserRow>): Omit<Row<ScimMemberRow>, 'id'> {
  return { groupId: group.id, directoryId: directory.id, scimUserId: id, userId }
}

/** `members[value eq "…" or value eq "…"]`: the only filters that directories send. */
function readFilterIds(filter: ScimFilter): string[] {
  const all = filter.op === 'or' ? filter.filters : [filter]
  return all.map((one) => {
    const { op, path, value } = one as Comparison
    if (op !== 'eq' || path.attribute.name !== 'value' || typeof value !== 'string')
      throw new ScimError(400, 'Members are named by members[value eq "id"].', 'invalidFilter')
    if (!isRowId(value)) throw noMemberId()
    return value
  })
}

function isRowId(id: unknown): id is string {
  return typeof id === 'string' && /^[\w-]{1,64}$/.test(id)
}

function noMemberId(): ScimError {
  return new ScimError(400, 'Each of "members" needs a "value": the id of a user.', 'invalidValue')
}

function nestedGroup(): ScimError {
  return new ScimError(400, 'Groups in groups are not supported. Send the users of the inner group as members.', 'invalidValue')
}
