/** Groups of a directory. Members are never read as a whole: a group may have fifty thousand. */
import { type AnyContext, RecordConflict, type Row } from 'authkernel/kernel'
import { ScimError } from './errors.ts'
import { emitGroupChange } from './events.ts'
import {
  addMembers,
  applyRulesToGroup,
  changeMembers,
  doChange,
  type MemberChange,
  readMemberChanges,
  readMemberIds,
  removeAllMembers,
} from './members.ts'
import { requireAttribute } from './path.ts'
import { applyPatch, type PatchOperation } from './patch.ts'
import type { ScimResource } from './resource.ts'
import { groupType } from './schemas.ts'
import type { ScimGroupRow } from './tables.ts'
import type { Caller } from './caller.ts'
import { assertVersion } from './versions.ts'

const membersPath = requireAttribute(groupType, 'members')

/** Throws ScimError 400 for members that are no users of this directory, 409 for a name that is taken. Nothing is stored then. */
export async function createGroup(caller: Caller, resource: ScimResource): Promise<Row<ScimGroupRow>> {
  const { ctx, directory } = caller
  const memberIds = readMemberIds(resource['members'])
  const fields = splitGroup(resource)
  const written = await ctx.atomic([
    { record: 'scimGroup', create: { ...fields, directoryId: directory.id, version: 1, created: ctx.now, modified: ctx.now } },
    { record: 'scimDirectory', increment: directory.id, field: 'groups', by: 1 },
  ])
  if (!written) throw nameConflict()
  const row = written[0] as Row<ScimGroupRow>
  try {
    await addMembers(caller, row, memberIds)
  } catch (error) {
    await removeGroup(caller, row)
    throw error
  }
  const members: MemberChange[] = memberIds.length > 0 ? [{ op: 'add', ids: memberIds }] : []
  await emitGroupChange(caller, 'group.created', row, { members })
  return row
}

/** PUT: the members become those of the resource. */
export async function replaceGroup(caller: Caller, id: string, resource: ScimResource): Promise<Row<ScimGroupRow>> {
  const row = await requireGroup(caller, id)
  assertVersion(caller, row)
  const changes = await readMemberChanges(caller, [{ op: 'replace', path: membersPath, filter: undefined, value: resource['members'] }])
  const changed = await updateRow(caller, row, splitGroup(resource))
  await applyRulesToGroup(caller, row, changed)
  await changeMembers(caller, changed, changes)
  await emitGroupChange(caller, 'group.changed', changed, { before: row, members: changes })
  return changed
}

/** PATCH: operations on members are carried out on their rows, the others on the group. */
export async function patchGroup(caller: Caller, id: string, operations: readonly PatchOperation[]): Promise<Row<ScimGroupRow>> {
  const row = await requireGroup(caller, id)
  assertVersion(caller, row)
  const isOfMembers = ({ path }: PatchOperation): boolean => path.attribute.name === 'members'
  const own = operations.filter((operation) => !isOfMembers(operation))
  const resource = applyPatch(
    groupType,
    { displayName: row.displayName, ...(row.externalId !== null && { externalId: row.externalId }) },
    own,
  )
  const changes = await readMemberChanges(caller, operations.filter(isOfMembers))
  const fields = splitGroup(resource)
  const isSame = (Object.keys(fields) as (keyof typeof fields)[]).every((name) => fields[name] === row[name])
  // Time and version stay where nothing changes: RFC 7644 section 3.5.2.1.
  const changed = isSame && !(await doChange(caller, row, changes)) ? row : await updateRow(caller, row, fields)
  await applyRulesToGroup(caller, row, changed)
  await changeMembers(caller, changed, changes)
  await emitGroupChange(caller, own.length > 0 ? 'group.changed' : 'group.members', changed, { before: row, members: changes })
  return changed
}

/** Removes the group. Its users stay, and lose the role that it gave. */
export async function deleteGroup(caller: Caller, id: string): Promise<void> {
  const row = await requireGroup(caller, id)
  assertVersion(caller, row)
  await removeGroup(caller, row)
  await emitGroupChange(caller, 'group.removed', row)
}

/** The group of this directory. Throws ScimError 404 for any other id. */
export async function requireGroup({ ctx, directory }: Pick<Caller, 'ctx' | 'directory'>, id: string): Promise<Row<ScimGroupRow>> {
  const row = /^[\w-]{1,64}$/.test(id) ? await ctx.records('scimGroup').get(id) : null
  if (row?.directoryId !== directory.id) throw new ScimError(404, 'There is no such group.')
  return row
}

async function removeGroup(caller: Caller, row: Row<ScimGroupRow>): Promise<void> {
  const { ctx, directory } = caller
  await removeAllMembers(caller, row)
  await ctx.atomic([
    { record: 'scimGroup', take: row.id },
    { record: 'scimDirectory', increment: directory.id, field: 'groups', by: -1 },
  ])
  // Who joined meanwhile has what a group that is gone gave.
  await removeAllMembers(caller, row)
}

async function updateRow({ ctx }: Caller, row: Row<ScimGroupRow>, fields: ReturnType<typeof splitGroup>): Promise<Row<ScimGroupRow>> {
  const change = { ...fields, version: row.version + 1, modified: ctx.now }
  const changed = await updateUnder(ctx, row, change)
  if (!changed) throw new ScimError(412, 'The group was changed by another request.')
  return changed
}

function splitGroup({ displayName, externalId }: ScimResource): Pick<ScimGroupRow, 'displayName' | 'nameKey' | 'externalId'> {
  const name = String(displayName)
  if (name === '' || name.length > 255) throw new ScimError(400, '"displayName" must be 1 to 255 characters.', 'invalidValue')
  if (typeof externalId === 'string' && externalId.length > 255)
    throw new ScimError(400, '"externalId" is longer than 255 characters.', 'invalidValue')
  return { displayName: name, nameKey: name.toLowerCase(), externalId: (externalId as string | undefined) ?? null }
}

async function updateUnder(
  ctx: AnyContext,
  { id, version }: Row<ScimGroupRow>,
  change: Partial<ScimGroupRow>,
): Promise<Row<ScimGroupRow> | null> {
  try {
    return await ctx.records('scimGroup').update(id, change, { if: { version } })
  } catch (error) {
    if (error instanceof RecordConflict) throw nameConflict()
    throw error
  }
}

function nameConflict(): ScimError {
  return new ScimError(409, 'Another group of this directory has this "displayName".', 'uniqueness')
}
