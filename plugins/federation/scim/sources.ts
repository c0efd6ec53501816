/** What can be searched, and which attributes have an index. */
import { readRows } from 'authkernel/kernel/stores'
import { findByEmail } from './emails.ts'
import type { ScimFilter } from './filter.ts'
import { type ScimResource, toTextKey } from './resource.ts'
import type { Source } from './search.ts'
import type { ScimGroupRow, ScimUserRow } from './tables.ts'
import { groupSchemaId } from './schemas.ts'
import type { Caller } from './caller.ts'
import { schemasOf } from './representation.ts'
import { joinResource } from './users.ts'

/** Users of a directory. */
export function userSource({ ctx, directory }: Caller): Source<ScimUserRow> {
  return {
    table: ctx.records('scimUser'),
    directoryId: directory.id,
    total: directory.users,
    keys: {
      id: (id) => id,
      userName: (userName) => ({ userName: toTextKey(userName) }),
      externalId: (externalId) => ({ externalId }),
    },
    finders: { 'emails.value': (email) => findByEmail(ctx, directory.id, email) },
    times: { 'meta.lastModified': 'modified', 'meta.created': 'created' },
    toResource: (row) => {
      const resource = joinResource(row)
      return { schemas: schemasOf(resource), id: row.id, ...resource, meta: toMeta('User', row) }
    },
  }
}

/** Groups of a directory. Of members a filter sees those that it names: `members eq "id"`. */
export async function groupSource({ ctx, directory }: Caller, filter: ScimFilter | undefined): Promise<Source<ScimGroupRow>> {
  const members = new Map<string, ScimResource[]>()
  for (const scimUserId of filter ? listMemberIds(filter) : [])
    for await (const { groupId } of readRows(ctx.records('scimMember'), { where: { scimUserId } }))
      members.set(groupId, [...(members.get(groupId) ?? []), { value: scimUserId }])
  return {
    table: ctx.records('scimGroup'),
    directoryId: directory.id,
    total: directory.groups,
    keys: {
      id: (id) => id,
      displayName: (displayName) => ({ nameKey: displayName.toLowerCase() }),
      externalId: (externalId) => ({ externalId }),
    },
    finders: {},
    times: { 'meta.lastModified': 'modified', 'meta.created': 'created' },
    toResource: (row) => ({
      schemas: [groupSchemaId],
      id: row.id,
      displayName: row.displayName,
      ...(row.externalId !== null && { externalId: row.externalId }),
      ...(members.has(row.id) && { members: members.get(row.id) }),
      meta: toMeta('Group', row),
    }),
  }
}

function listMemberIds(filter: ScimFilter, isOfMembers = false): string[] {
  if ('filters' in filter) return filter.filters.flatMap((one) => listMemberIds(one, isOfMembers))
  if (filter.op === 'not') return listMemberIds(filter.filter, isOfMembers)
  if (filter.op === 'some') return listMemberIds(filter.filter, filter.path.attribute.name === 'members')
  const isMember = isOfMembers || filter.path.attribute.name === 'members'
  return isMember && filter.op === 'eq' && typeof filter.value === 'string' && /^[\w-]{1,64}$/.test(filter.value) ? [filter.value] : []
}

function toMeta(resourceType: string, { created, modified }: { created: Date; modified: Date }): ScimResource {
  return { resourceType, created: created.toISOString(), lastModified: modified.toISOString() }
}
