/** Users of a directory: created, replaced, changed and removed. */
import { type AnyContext, type AtomicWrite, randomHex, RecordConflict, type Row } from 'authkernel/kernel'
import { holdAddress } from 'authkernel/kernel/users'
import { endDirectoryAccess } from './access.ts'
import { callWrites } from './calls.ts'
import { indexEmails, listFurtherEmails, pruneEmails } from './emails.ts'
import { ScimError } from './errors.ts'
import { emitChange } from './events.ts'
import { applyPatch, type PatchOperation } from './patch.ts'
import { findEmail, findOrCreateUser, readProfile, updateStoredUser } from './persons.ts'
import { isSameValue, type ScimResource, toTextKey } from './resource.ts'
import { addMembership, removeMembership, restoreMembership } from './membership.ts'
import type { ScimUserRow } from './tables.ts'
import type { Caller, Connection } from './caller.ts'
import { assertVersion } from './versions.ts'

/** Creates the resource, the user where there is none, and the membership. All or nothing. Throws ScimError 400 and 409. */
export async function createUser(caller: Caller, resource: ScimResource): Promise<Row<ScimUserRow>> {
  // One request at a time: a request that fails takes back the user that it created, and another one must not have found that user meanwhile.
  const row = await holdAddress(caller.ctx, readProfile(resource).email, 60, () => createUnderLease(caller, resource))
  if (!row) throw new ScimError(409, 'Another request creates this user.', 'uniqueness')
  return row
}

async function createUnderLease(caller: Caller, resource: ScimResource): Promise<Row<ScimUserRow>> {
  const { ctx, directory } = caller
  const { userName, externalId, email, active, data } = splitResource(resource)
  if (await isNameTaken(caller, userName)) throw conflictOn('userName')
  const { user, isNew } = await findOrCreateUser(caller, resource)
  const undo: (() => Promise<unknown>)[] = isNew ? [async () => ctx.service('store').deleteUser(user.id)] : []
  try {
    const row: Row<ScimUserRow> = {
      id: randomHex(ctx.runtime, 16),
      directoryId: directory.id,
      organizationId: directory.organizationId,
      userId: user.id,
      userName,
      externalId,
      email,
      active,
      data,
      version: 1,
      created: ctx.now,
      modified: ctx.now,
    }
    // One commit where the store has one. All requests of the directory wait for its row: it comes last.
    const before: AtomicWrite[] = [{ record: 'scimUser', create: row }, ...callWrites(caller, 201)]
    const after: AtomicWrite[] = [{ record: 'scimDirectory', increment: directory.id, field: 'users', by: 1 }]
    undo.unshift(() => removeRow(caller, row))
    const membership = await addMembership(caller, user.id, { isNew, before, after })
    if (membership === 'refused') throw conflictOn((await isNameTaken(caller, userName)) ? 'userName' : 'emails')
    if (listFurtherEmails(row).size > 0) {
      undo.unshift(() => removeEmails(ctx, row))
      await indexEmails(ctx, row)
    }
    if (membership === 'added') undo.unshift(() => ctx.service('organizations').removeMember(ctx, row))
    if (!active) await endDirectoryAccess(ctx, row)
    await emitChange(caller, active ? 'user.created' : 'user.suspended', row)
    return row
  } catch (error) {
    for (const step of undo) await step().catch((failure: Error) => ctx.logger.error(failure))
    throw error
  }
}

/** Replaces all attributes: PUT. */
export function replaceUser(caller: Caller, id: string, resource: ScimResource): Promise<Row<ScimUserRow>> {
  return changeUser(caller, id, () => resource)
}

/** Changes some attributes: PATCH. */
export function patchUser(caller: Caller, id: string, operations: readonly PatchOperation[]): Promise<Row<ScimUserRow>> {
  return changeUser(caller, id, (row) => applyPatch(caller.options.userType, joinResource(row), operations))
}

/** Removes the resource and the membership, and ends the access that they gave. */
export async function deleteUser(caller: Caller, id: string, tries = 5): Promise<void> {
  const { ctx } = caller
  const row = await requireUser(caller, id)
  assertVersion(caller, row)
  // Refused from here on, also when the next step fails: the client sends the request again.
  if (row.active) await ctx.records('scimUser').update(row.id, { active: false, version: row.version + 1 })
  await endDirectoryAccess(ctx, row)
  await removeMembership(ctx, row)
  await ctx.records('scimMember').deleteWhere({ where: { scimUserId: row.id } })
  await removeEmails(ctx, row)
  // Another request may have switched the user on since then: what it gave ends too.
  if (!(await removeRow(caller, row, { active: false })) && (await ctx.records('scimUser').get(row.id))) {
    if (tries > 1) return deleteUser({ ...caller, ifMatch: null }, id, tries - 1)
    throw new ScimError(412, 'The user was changed by another request.')
  }
  await emitChange(caller, 'user.removed', row)
}

/** The user of this directory. Throws ScimError 404 for any other id. */
export async function requireUser({ ctx, directory }: Connection, id: string): Promise<Row<ScimUserRow>> {
  const row = /^[\w-]{1,64}$/.test(id) ? await ctx.records('scimUser').get(id) : null
  if (row?.directoryId !== directory.id) throw new ScimError(404, 'There is no such user.')
  return row
}

/** The attributes of a row as one resource, without what the server adds. */
export function joinResource({ data, externalId, active }: ScimUserRow): ScimResource {
  return { ...(data as ScimResource), ...(externalId !== null && { externalId }), active }
}

async function changeUser(
  caller: Caller,
  id: string,
  change: (row: Row<ScimUserRow>) => ScimResource,
  tries = 5,
): Promise<Row<ScimUserRow>> {
  const { ctx } = caller
  const row = await requireUser(caller, id)
  assertVersion(caller, row)
  // What a client leaves out, or removes, does not switch a user on.
  const resource: ScimResource = { active: row.active, ...change(row) }
  assertSize(caller, resource)
  const next = splitResource(resource)
  readProfile(resource)
  const isMoved = !isSameSet(listFurtherEmails(row), listFurtherEmails(next))
  if (isMoved) await indexEmails(ctx, { ...row, ...next })
  // Switched off first and on last: whatever fails in between, the user is refused, and the client sends the request again.
  const changed = isUnchanged(row, next) ? row : await updateRow(caller, row, { ...next, active: next.active && row.active })
  if (!changed) {
    if (tries > 1 && caller.ifMatch === null) return changeUser(caller, id, change, tries - 1)
    throw new ScimError(412, 'The user was changed by another request.')
  }
  if (!next.active) await endDirectoryAccess(ctx, changed)
  try {
    await updateStoredUser(caller, row.userId, resource)
  } catch (error) {
    const { id: _id, version: _version, active: _active, ...former } = row
    if (error instanceof ScimError) await ctx.records('scimUser').update(row.id, former, { if: { version: changed.version } })
    throw error
  }
  if (isMoved) await pruneEmails(ctx, row, changed)
  const last = next.active && !row.active ? await switchOn(caller, changed) : changed
  await emitChange(caller, kindOfChange(row, last), last, row)
  return last
}

// Until the last write the user is refused, although the membership is there again.
async function switchOn(caller: Caller, row: Row<ScimUserRow>): Promise<Row<ScimUserRow>> {
  await restoreMembership(caller, row.userId)
  const active = await caller.ctx.records('scimUser').update(row.id, { active: true }, { if: { version: row.version } })
  if (active) return active
  // Another request came in between. It read a user who is switched off, and what it left counts.
  await endDirectoryAccess(caller.ctx, row)
  if (!(await caller.ctx.records('scimUser').get(row.id))) await removeMembership(caller.ctx, row)
  throw new ScimError(412, 'The user was changed by another request.')
}

async function updateRow({ ctx }: Caller, row: Row<ScimUserRow>, next: ReturnType<typeof splitResource>): Promise<Row<ScimUserRow> | null> {
  try {
    const change = { ...next, version: row.version + 1, modified: ctx.now }
    return await ctx.records('scimUser').update(row.id, change, { if: { version: row.version } })
  } catch (error) {
    if (error instanceof RecordConflict) throw conflictOn('userName')
    throw error
  }
}

function kindOfChange(before: ScimUserRow, after: ScimUserRow): 'user.suspended' | 'user.restored' | 'user.changed' {
  if (before.active === after.active) return 'user.changed'
  return after.active ? 'user.restored' : 'user.suspended'
}

async function isNameTaken({ ctx, directory }: Caller, userName: string): Promise<boolean> {
  return (await ctx.records('scimUser').get({ directoryId: directory.id, userName })) !== null
}

/** False: there is no such row, or `as` does not hold. */
async function removeRow({ ctx, directory }: Caller, row: Row<ScimUserRow>, as: Partial<ScimUserRow> = {}): Promise<boolean> {
  const written = await ctx.atomic([
    { record: 'scimUser', take: row.id, if: as },
    { record: 'scimDirectory', increment: directory.id, field: 'users', by: -1 },
  ])
  return Boolean(written)
}

async function removeEmails(ctx: AnyContext, { id }: Row<ScimUserRow>): Promise<void> {
  await ctx.records('scimEmail').deleteWhere({ where: { scimUserId: id } })
}

// Time and version stay then: RFC 7644 section 3.5.2.1. What rests on the row is done again, because an earlier request may have failed in between.
function isUnchanged(row: Row<ScimUserRow>, next: ReturnType<typeof splitResource>): boolean {
  const { data, ...rest } = next
  return (Object.keys(rest) as (keyof typeof rest)[]).every((name) => rest[name] === row[name]) && isSameValue(data, row.data)
}

function isSameSet(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && [...one].every((value) => other.has(value))
}

// Each PATCH is as large as a body may be. What they add up to is not larger.
function assertSize({ options }: Caller, resource: ScimResource): void {
  if (JSON.stringify(resource).length > options.maxBody)
    throw new ScimError(413, `The user would have more than ${options.maxBody} characters.`, 'tooMany')
}

/** The fields of a row. Throws ScimError 400 for a name or an id that is too long. */
export function splitResource(resource: ScimResource): Pick<ScimUserRow, 'userName' | 'externalId' | 'email' | 'active' | 'data'> {
  const { externalId, active, ...data } = resource
  const userName = toTextKey(String(data['userName']))
  if (userName === '' || userName.length > 255) throw new ScimError(400, '"userName" must be 1 to 255 characters.', 'invalidValue')
  if (typeof externalId === 'string' && externalId.length > 255)
    throw new ScimError(400, '"externalId" is longer than 255 characters.', 'invalidValue')
  const email = findEmail(resource)?.slice(0, 255) ?? null
  return { userName, externalId: (externalId as string | undefined) ?? null, email, active: active !== false, data }
}

function conflictOn(attribute: string): ScimError {
  return new ScimError(409, `Another user of this directory has this "${attribute}".`, 'uniqueness')
}
