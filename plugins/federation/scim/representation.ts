/** Resources as clients get them: with id, meta and the attributes that they asked for (RFC 7644 section 3.9). */
import type { Row } from 'authkernel/kernel'
import { findAttribute, findExtension } from './path.ts'
import type { ScimResource } from './resource.ts'
import { groupSchemaId, type ResourceType, userSchemaId } from './schemas.ts'
import type { ScimGroupRow, ScimUserRow } from './tables.ts'
import type { Caller } from './caller.ts'
import { joinResource } from './users.ts'
import { toEtag } from './versions.ts'

/** Which attributes a client asked for, or asked to leave out, in lower case. */
export interface Projection {
  readonly attributes: ReadonlySet<string> | undefined
  readonly excluded: ReadonlySet<string>
}

/** Reads `attributes` and `excludedAttributes`. Names that no schema has are ignored. */
export function readProjection(type: ResourceType, attributes: unknown, excluded: unknown): Projection {
  const wanted = listNames(type, attributes)
  return { attributes: wanted.length > 0 ? new Set(wanted) : undefined, excluded: new Set(listNames(type, excluded)) }
}

/** Whether the answer has the attribute. */
export function includesAttribute({ attributes, excluded }: Projection, name: string): boolean {
  const lower = name.toLowerCase()
  return attributes ? attributes.has(lower) || [...attributes].some((one) => one.startsWith(`${lower}.`)) : !excluded.has(lower)
}

/** A user of a directory. `groups`: its groups, read only where they are asked for. */
export function toUserBody(
  caller: Caller,
  row: Row<ScimUserRow>,
  projection: Projection,
  groups: readonly Row<ScimGroupRow>[] = [],
): ScimResource {
  const resource = hideAttributes(caller, joinResource(row), projection)
  const base = baseOf(caller)
  const groupValues = groups.map(({ id, displayName }) => ({
    value: id,
    $ref: `${base}/Groups/${id}`,
    display: displayName,
    type: 'direct',
  }))
  const body = { id: row.id, ...resource, ...(groupValues.length > 0 && { groups: groupValues }), meta: toMeta(caller, 'User', row) }
  return { schemas: schemasOf(resource), ...project(body, projection) }
}

/** The schemas of a user: the core, and each extension that it has. */
export function schemasOf(resource: ScimResource): string[] {
  return [userSchemaId, ...Object.keys(resource).filter((name) => name.startsWith('urn:'))]
}

/** A group without its members, which are written page by page. */
export function toGroupBody(caller: Caller, row: Row<ScimGroupRow>, projection: Projection): ScimResource {
  const body = {
    id: row.id,
    displayName: row.displayName,
    ...(row.externalId !== null && { externalId: row.externalId }),
    meta: toMeta(caller, 'Group', row),
  }
  return { schemas: [groupSchemaId], ...project(body, projection) }
}

/** A member as it stands in a group. */
export function toMemberBody(caller: Caller, scimUserId: string): ScimResource {
  return { value: scimUserId, $ref: `${baseOf(caller)}/Users/${scimUserId}`, type: 'User' }
}

/** `https://app.example/auth/scim/v2`. */
export function baseOf({ ctx }: Pick<Caller, 'ctx'>): string {
  return `${ctx.base}/scim/v2`
}

/** Leaves out what a schema of the host never returns, or only on request (RFC 7643 section 7). */
function hideAttributes({ options }: Caller, resource: ScimResource, { attributes: wanted }: Projection): ScimResource {
  const shown = { ...resource }
  for (const { id, attributes } of options.userType.extensions) {
    const held = shown[id] as ScimResource | undefined
    if (!held || attributes.every(({ returned }) => returned === 'default' || returned === 'always')) continue
    const isAsked = (name: string): boolean => wanted?.has(`${id}.${name}`.toLowerCase()) === true
    const kept = attributes.filter(({ name, returned }) => returned !== 'never' && (returned !== 'request' || isAsked(name)))
    const own = Object.fromEntries(kept.flatMap(({ name }) => (held[name] === undefined ? [] : [[name, held[name]]])))
    if (Object.keys(own).length > 0) shown[id] = own
    else delete shown[id]
  }
  return shown
}

function toMeta(
  caller: Caller,
  resourceType: 'User' | 'Group',
  { id, created, modified, version }: Row<ScimUserRow> | Row<ScimGroupRow>,
): ScimResource {
  return {
    resourceType,
    created: created.toISOString(),
    lastModified: modified.toISOString(),
    location: `${baseOf(caller)}/${resourceType}s/${id}`,
    version: toEtag(version),
  }
}

function project(body: ScimResource, projection: Projection): ScimResource {
  const kept: ScimResource = {}
  for (const [name, value] of Object.entries(body)) {
    // `id` is always there (RFC 7643 section 3.1).
    if (name === 'id' || includesAttribute(projection, name)) kept[name] = projectSubs(name, value, projection)
  }
  return kept
}

function projectSubs(name: string, value: unknown, { attributes, excluded }: Projection): unknown {
  const lower = name.toLowerCase()
  const isWanted = (sub: string): boolean =>
    attributes ? attributes.has(lower) || attributes.has(`${lower}.${sub.toLowerCase()}`) : !excluded.has(`${lower}.${sub.toLowerCase()}`)
  const one = (inner: unknown): unknown =>
    typeof inner === 'object' && inner !== null ? Object.fromEntries(Object.entries(inner).filter(([sub]) => isWanted(sub))) : inner
  return Array.isArray(value) ? value.map(one) : one(value)
}

function listNames(type: ResourceType, given: unknown): string[] {
  const names = Array.isArray(given) ? given.map(String) : typeof given === 'string' ? given.split(',') : []
  return names.slice(0, 100).flatMap((text) => {
    const extension = findExtension(type, text.trim())
    if (extension !== undefined) return [extension.toLowerCase()]
    if (text.trim().toLowerCase() === type.core.id.toLowerCase()) return type.core.attributes.map(({ name }) => name.toLowerCase())
    const path = findAttribute(type, text.trim())
    if (!path) return []
    const name = path.sub ? `${path.attribute.name}.${path.sub.name}` : path.attribute.name
    return [(path.schema === undefined ? name : `${path.schema}.${name}`).toLowerCase()]
  })
}
